/** The first words of one extension, each with what stands below it. */
import { type DeclaredCommands, wordOf, wordsOf } from './declared-commands.js';
import { type ResolvedCommand, resolveCommand } from './resolved-command.js';

export interface AreaWord {
  readonly word: string;
  readonly summary: string;
  /** The id of the extension. */
  readonly area: string;
  readonly commands: readonly ResolvedCommand[];
}

/** What the command line needs of an extension. `description` is that of its package.json. */
export const areaWordsOf = (id: string, description: string, contributions: DeclaredCommands): AreaWord[] =>
  wordsOf(contributions).map((word) => ({
    word,
    summary: contributions.commandWords?.find((one) => one.word === word)?.summary ?? shortened(description),
    area: id,
    commands: (contributions.commands ?? []).filter(({ command }) => wordOf(command) === word).map((command) => resolveCommand(command, contributions.routes)),
  }));

/** As a line of the help: one sentence, without its full stop. */
const shortened = (description: string): string => (/^.*?(?=\.(?:\s|$))/.exec(description)?.[0] ?? description).trim();
