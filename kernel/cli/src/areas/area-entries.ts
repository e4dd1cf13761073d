/** The words of areas as entries of the table of commands. */
import type { AreaWord } from '@svc/installer/commands';
import type { CommandEntry } from '../command-table.js';
import type { Settings } from '../settings.js';
import { oneLine } from '../terminal/terminal.js';
import { areaWords } from './area-words.js';

const SHOWN_VERBS = 3;
const MAX_SUMMARY_CHARS = 100;

export const areaEntries = async (settings: Settings, distDir: string): Promise<Record<string, CommandEntry>> => {
  const words = await areaWords(settings, distDir);
  return Object.fromEntries([...words].map(([name, word]) => [name, entryOf(word)]));
};

const entryOf = (word: AreaWord): CommandEntry => {
  const verbs = word.commands.map(({ command }) => command.split(' ')[1] ?? '');
  const shown = verbs.length > SHOWN_VERBS + 1 ? [...verbs.slice(0, SHOWN_VERBS), '…'] : verbs;
  const summary = oneLine(word.summary, MAX_SUMMARY_CHARS);
  return {
    isGroup: true,
    usage: `${word.word} ${shown.join('|')}`,
    summary,
    load: async () => {
      const { defineDeclared } = await import('./declared-command.js');
      return {
        define: (program, action) => {
          const group = program.command(word.word).description(summary).helpCommand(false);
          for (const command of word.commands) defineDeclared(group, command, word.area, action);
        },
      };
    },
  };
};
