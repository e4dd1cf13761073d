/**
 * Skills that people call by `/name`.
 *
 * C1  A skill that is on, that the agent has and that says nothing else (`user-invocable: false`) is a word after a slash. The message goes to the agent, with the instructions of the skill in its prompt.
 * C2  Of a skill with findings, and of one that is very long, the agent is asked to read it: then its text has the label of text from outside.
 */
import type { ExtensionContext } from '@svc/api';
import { SlashSaid, SlashWords } from '@svc/ext-commands/contract';
import { type Assigned, isTainted, READ_TOOL } from './assigned.js';
import type { Entry, Library } from './library.js';
import { instructionsOf } from './tool.js';

/** As a command begins; a number would be no word. */
const WORD = /^\p{L}[^\s/]*$/u;
const MAX_PROMPT_CHARS = 40_000;

export interface SlashDeps {
  readonly library: Library;
  readonly assigned: Assigned;
}

const isWord = ({ name, skill }: Entry): boolean => skill?.isUserInvocable === true && WORD.test(name);

export const tapSlashWords = (hooks: ExtensionContext['hooks'], { library, assigned }: SlashDeps): void => {
  hooks.tap(SlashWords, ({ agent }) =>
    (agent ? assigned.of(agent.manifest) : library.list().filter((entry) => assigned.isOn(entry))).filter(isWord).map(({ name, skill }) => ({
      name: name.toLowerCase(),
      usage: `/${name} ${skill?.argumentHint === undefined || skill.argumentHint === '' ? '[TEXT]' : skill.argumentHint}`.slice(0, 300),
      summary: (skill?.description ?? '').replace(/\s+/g, ' ').trim().slice(0, 2_000),
      source: 'skill',
    })),
  );
  hooks.tap(SlashSaid, ({ agent, name }) => {
    const entry = assigned.has(agent.manifest, name) ?? assigned.of(agent.manifest).find((one) => one.name.toLowerCase() === name);
    if (!entry || !isWord(entry)) return undefined;
    return { prompt: promptOf(library, entry) };
  });
};

const promptOf = (library: Library, entry: Entry): string => {
  const asked = `The message begins with /${entry.name}: its sender calls the skill ${entry.name}, and what follows the word is for it.`;
  const text = isTainted(entry) ? '' : instructionsOf(library, entry);
  if (text === '' || text.length > MAX_PROMPT_CHARS) return `${asked} First read it with ${READ_TOOL}, then follow it.`;
  library.used(entry.name);
  return `${asked} Follow it:\n\n${text}`;
};
