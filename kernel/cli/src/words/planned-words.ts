/** Words of the planned interface whose part is missing from svc. A command with one of these names, of svc or of an installed extension, comes first. */
import { EXIT } from '../exit-codes.js';
import { Failure } from '../failure.js';

/** By what they stand for, in the words of the README's list of what is missing. */
const PLANNED: Readonly<Record<string, readonly string[]>> = {
  'A new skill': ['new skill'],
  'A new MCP server': ['new mcp'],
  'The Agent Client Protocol': ['acp'],
  'Sign-in with a subscription': ['auth chatgpt'],
  'Changing the id of an agent': ['agent reset-uuid', 'agent merge-history'],
};

const namedBy = (command: string): string | undefined => Object.entries(PLANNED).find(([, words]) => words.includes(command))?.[0];
const featureOf = (words: readonly string[]): string | undefined => namedBy(words.slice(0, 2).join(' ')) ?? namedBy(words[0] ?? '');

/** Just these words. */
export const isPlanned = (words: readonly string[]): boolean => namedBy(words.join(' ')) !== undefined;

/** Undefined where the words name nothing that is planned. */
export const plannedFailure = (words: readonly string[]): Failure | undefined => {
  const feature = featureOf(words);
  if (feature === undefined) return undefined;
  return new Failure(`${feature}: not part of svc yet.`, { code: 'cli_not_served', exit: EXIT.usage, why: 'this version of svc has no operations for it', fix: 'svc --help lists the commands' });
};
