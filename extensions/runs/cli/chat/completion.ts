/** What Tab offers: commands after a slash, agents and models after those that take one, files after an `@`. */
import { readdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import type { AutocompleteItem, AutocompleteProvider, AutocompleteSuggestions } from '@mariozechner/pi-tui';
import type { ChatDaemon, SlashWord } from './chat-daemon.js';
import { LOCAL_COMMANDS } from './conversation.js';

const MAX_OFFERED = 50;

export interface CompletionDeps {
  readonly daemon: Pick<ChatDaemon, 'agents' | 'commands' | 'models'>;
  readonly cwd: string;
  /** Whose words are offered. */
  agentId(): string;
}

interface Offered {
  readonly prefix: string;
  readonly items: readonly AutocompleteItem[];
}

export interface Completion extends AutocompleteProvider {
  /** The text before the cursor that the last offer was made for. */
  readonly offeredFor: string | undefined;
}

/** What is offered is for the text of its moment: keys can come faster, and what was typed since then is never overwritten by it. */
export const createCompletion = (deps: CompletionDeps): Completion => {
  const madeFor = new WeakMap<AutocompleteItem, string>();
  let last: string | undefined;
  return {
    get offeredFor() {
      return last;
    },
    getSuggestions: async (lines, cursorLine, cursorCol, { force = false }) => {
      const before = (lines[cursorLine] ?? '').slice(0, cursorCol);
      const offered = (cursorLine === 0 ? await commandOffer(deps, before) : undefined) ?? (await fileOffer(deps.cwd, before, force));
      if (!offered || offered.items.length === 0) return null;
      last = before;
      for (const item of offered.items) madeFor.set(item, before);
      return shown(offered);
    },
    applyCompletion: (lines, cursorLine, cursorCol, item, prefix) => {
      const line = lines[cursorLine] ?? '';
      return madeFor.get(item) === line.slice(0, cursorCol) ? completed(lines, cursorLine, cursorCol, item, prefix) : { lines, cursorLine, cursorCol };
    },
  };
};

const completed = (lines: string[], cursorLine: number, cursorCol: number, item: AutocompleteItem, prefix: string): ReturnType<AutocompleteProvider['applyCompletion']> => {
  const line = lines[cursorLine] ?? '';
  const start = cursorCol - prefix.length;
  // A folder is gone on with; all else is a word that is done.
  const text = item.value.endsWith('/') ? item.value : `${item.value} `;
  return { lines: lines.with(cursorLine, line.slice(0, start) + text + line.slice(cursorCol).trimStart()), cursorLine, cursorCol: start + text.length };
};

const shown = ({ prefix, items }: Offered): AutocompleteSuggestions => ({ prefix, items: items.slice(0, MAX_OFFERED) });

const commandOffer = async ({ daemon, agentId }: CompletionDeps, before: string): Promise<Offered | undefined> => {
  const [, word, gap, args = ''] = /^\/(\S*)(\s+)?(.*)$/.exec(before) ?? [];
  if (word === undefined) return undefined;
  if (gap === undefined) {
    const known = await quietly(daemon.commands(agentId()));
    const words = [...LOCAL_COMMANDS, ...known.filter(({ name }) => !LOCAL_COMMANDS.some((local) => local.name === name))];
    return { prefix: before, items: matching(words, word, ({ name }) => name).map(commandItem) };
  }
  if (word === 'agent')
    return { prefix: args, items: matching(await quietly(daemon.agents()), args, ({ name }) => name).map(({ name, model_name }) => ({ value: name, label: name, description: model_name })) };
  if (word === 'model') return { prefix: args, items: matching(await quietly(daemon.models()), args, (id) => id).map((id) => ({ value: id, label: id })) };
  return undefined;
};

const commandItem = ({ name, summary }: SlashWord): AutocompleteItem => ({ value: `/${name}`, label: `/${name}`, description: summary });

/** Those that begin so first, then those that have it anywhere. */
const matching = <T>(all: readonly T[], typed: string, nameOf: (one: T) => string): T[] => {
  const wanted = typed.toLowerCase();
  const place = (one: T): number => nameOf(one).toLowerCase().indexOf(wanted);
  return all.filter((one) => place(one) >= 0).sort((a, b) => Math.min(place(a), 1) - Math.min(place(b), 1));
};

/** Nothing is offered where the daemon does not answer: a message would say why. */
const quietly = async <T>(asked: Promise<readonly T[]>): Promise<readonly T[]> => asked.catch(() => []);

const fileOffer = async (cwd: string, before: string, force: boolean): Promise<Offered | undefined> => {
  const [, mark, typed = ''] = /(?:^|\s)(@?)([^\s@]*)$/.exec(before) ?? [];
  if (mark === undefined || (mark === '' && !force)) return undefined;
  const slash = typed.lastIndexOf('/') + 1;
  const folder = typed.slice(0, slash);
  const entries = await readdir(path.resolve(cwd, folder.startsWith('~/') ? path.join(homedir(), folder.slice(2)) : folder), { withFileTypes: true }).catch(() => []);
  const part = typed.slice(slash);
  const visible = entries.filter(({ name }) => part.startsWith('.') || !name.startsWith('.')).sort((a, b) => (a.name < b.name ? -1 : 1));
  return {
    prefix: `${mark}${typed}`,
    items: matching(visible, part, ({ name }) => name).map((entry) => {
      const name = entry.isDirectory() ? `${entry.name}/` : entry.name;
      return { value: `${mark}${folder}${name}`, label: name };
    }),
  };
};
