/** `svc hands`: what comes with the resources, and what is in cli/hands.ts. */
import type { CommandWordDecl } from '@svc/api';

export const commandWords: readonly CommandWordDecl[] = [
  {
    word: 'hands',
    summary: 'agents with a purpose and a schedule: install, activate, pause, figures',
    usage: 'hands list|info|install|activate|active|pause|resume|…',
    order: 36,
    module: 'hands',
    synonyms: [
      { word: 'hand', means: 'hands list', runs: true },
      { word: 'hand list', means: 'hands list', runs: true, takesArguments: true },
      { word: 'hand install', means: 'hands install', runs: true, takesArguments: true },
      { word: 'hand activate', means: 'hands activate', runs: true, takesArguments: true },
    ],
  },
];
