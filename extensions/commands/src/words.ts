/** Words of areas beside the commands: those that come and go while the daemon runs. */
import { type HookHandle, type Logger, nearest, type Plain } from '@svc/api';
import { bareName, type CommandList } from './commands.js';
import type { SlashWord, SlashWords } from './contract.js';

type Asked = Plain<(typeof SlashWords)['subject']>;

export interface Words {
  /** By name. */
  of(asked: Asked): Promise<readonly SlashWord[]>;
  find(name: string, asked: Asked): Promise<SlashWord | undefined>;
  /** Names of commands and words that look like it. */
  like(name: string, asked: Asked): Promise<string[]>;
}

export const createWords = (hook: HookHandle<typeof SlashWords>, commands: CommandList, log: Logger): Words => {
  const of = async (asked: Asked): Promise<readonly SlashWord[]> => {
    if (hook.isEmpty()) return [];
    const byName = new Map<string, SlashWord>();
    for (const { owner, value = [], error } of await hook.call(asked)) {
      if (error !== undefined) log.warn('the words of an extension are missing from the list of commands', { extension: owner, error });
      for (const word of value) if (!byName.has(word.name) && !commands.find(word.name)) byName.set(word.name, word);
    }
    return [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  };
  return {
    of,
    find: async (name, asked) => {
      const wanted = bareName(name);
      return (await of(asked)).find((word) => word.name === wanted);
    },
    like: async (name, asked) => nearest(name.toLowerCase(), [...commands.names(), ...(await of(asked)).map((word) => word.name)]),
  };
};
