/** The first words of one extension, each with what stands below it. */
import type { CommandSynonym } from '@svc/api';
import { type DeclaredCommands, wordOf, wordsOf } from './declared-commands.js';
import { type ResolvedCommand, resolveCommand } from './resolved-command.js';

export interface AreaWord {
  readonly word: string;
  readonly summary: string;
  /** The id of the extension. */
  readonly area: string;
  readonly commands: readonly ResolvedCommand[];
  readonly usage?: string;
  readonly order?: number;
  readonly hub: string;
  /** The file that defines commands by hand, relative to the folder `areas` of the built command line. */
  readonly module?: string;
  readonly synonyms?: readonly CommandSynonym[];
}

/** What the command line needs of an extension. `description` is that of its package.json, `panels` stand in its manifest. */
export const areaWordsOf = (id: string, description: string, contributions: DeclaredCommands, panels: ReadonlyArray<{ readonly hub?: string }> = []): AreaWord[] =>
  wordsOf(contributions).map((word) => {
    const { module, summary = shortened(description), ...declared } = contributions.commandWords?.find((one) => one.word === word) ?? {};
    const commands = (contributions.commands ?? []).filter(({ command }) => wordOf(command) === word).map((command) => resolveCommand(command, contributions.routes));
    return { hub: panels[0]?.hub ?? 'more', ...declared, word, summary, area: id, commands, ...(module === undefined ? {} : { module: `${id}/${module}` }) };
  });

/** As a line of the help: the first sentence, or what stands before its colon. It begins as the others do; names stay as they are. */
const shortened = (description: string): string => (/^.*?(?=[.:;](?:\s|$))/.exec(description)?.[0] ?? description).trim().replace(/^[A-Z](?=[a-z]*\b)(?![a-z]*\d)/, (letter) => letter.toLowerCase());
