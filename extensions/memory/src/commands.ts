/** `svc memory`: what is data. The others are in cli/memory.ts. */
import type { CommandWordDecl } from '@svc/api';

export const commandWords: readonly CommandWordDecl[] = [
  {
    word: 'memory',
    summary: 'what agents remember: keys and values, facts, relations',
    usage: 'memory list|get|set|delete|search|add|show|…',
    order: 34,
    module: 'memory',
    synonyms: [{ word: 'memories', means: 'memory' }],
  },
];
