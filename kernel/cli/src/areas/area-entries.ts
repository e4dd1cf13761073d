/** The words of areas as entries of the table of commands. */
import type { AreaWord } from '@svc/installer/commands';
import type { CommandEntry } from '../command-table.js';
import type { Settings } from '../settings.js';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { CommandModule } from '../command.js';
import { oneLine } from '../terminal/terminal.js';
import { byWord, type Synonyms } from '../words/synonyms.js';
import { areaWords } from './area-words.js';

const SHOWN_VERBS = 3;
const MAX_SUMMARY_CHARS = 100;

export interface AreaCommands {
  readonly entries: Readonly<Record<string, CommandEntry>>;
  readonly synonyms: Synonyms;
}

export const areaCommands = async (settings: Settings, distDir: string, wanted: string | undefined): Promise<AreaCommands> => {
  const words = [...(await areaWords(settings, distDir, wanted)).values()];
  return {
    entries: Object.fromEntries(words.map((word) => [word.word, entryOf(word, distDir)])),
    synonyms: byWord(words.flatMap(({ synonyms = [] }) => synonyms)),
  };
};

const entryOf = (word: AreaWord, distDir: string): CommandEntry => {
  const verbs = word.commands.map(({ command }) => command.split(' ')[1] ?? '');
  const shown = verbs.length > SHOWN_VERBS + 1 ? [...verbs.slice(0, SHOWN_VERBS), '…'] : verbs;
  const summary = oneLine(word.summary, MAX_SUMMARY_CHARS);
  return {
    // `chat [AGENT]` is one command, `agent list|new` a group of them.
    isGroup: verbs.length > 0 || /^\S+ [^\s|]+\|/.test(word.usage ?? ''),
    usage: word.usage ?? `${word.word} ${shown.join('|')}`,
    summary,
    hub: word.hub,
    load: async () => {
      // Built with the command line, and loaded when its word is typed.
      const byHand: CommandModule | undefined = word.module === undefined ? undefined : await import(pathToFileURL(path.join(distDir, 'cli/areas', `${word.module}.js`)).href);
      if (byHand !== undefined && verbs.length === 0) return byHand;
      const { defineDeclared } = await import('./declared-command.js');
      return {
        define: (program, action, whole) => {
          byHand?.define(program, action, whole);
          const group = program.commands.find((one) => one.name() === word.word) ?? program.command(word.word).description(summary).helpCommand(false);
          for (const command of word.commands) defineDeclared(group, command, word.area, action);
        },
      };
    },
  };
};
