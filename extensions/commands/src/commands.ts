/** The commands of all areas that are on, and those of this one: the help, and what a client does itself. */
import { defineSlashCommand, namesOfSlashCommand, type SlashAnswer, type SlashCall, type SlashCommand, type SlashCommandFacts } from '@svc/api';
import type { SlashWord } from './contract.js';
import { commandErrors } from './errors.js';

const DEFAULT_ORDER = 50;
/** In the help; GET /api/commands lists them all. */
const MAX_WORDS = 50;
const SUMMARY_CHARS = 100;

export interface CommandList {
  /** In the order of the help. */
  all(): readonly SlashCommand[];
  /** By name or alias, with or without the slash, whatever the case. */
  find(name: string): SlashCommand | undefined;
  /** With the aliases. */
  names(): string[];
}

/** Without the slash, in lower case. */
export const bareName = (typed: string): string => typed.replace(/^\//, '').toLowerCase();

/** Read anew with each question: an area that is switched off takes its commands away. */
export const createCommandList = (active: () => readonly SlashCommand[]): CommandList => ({
  all: () => active().toSorted((a, b) => (a.order ?? DEFAULT_ORDER) - (b.order ?? DEFAULT_ORDER) || (a.name < b.name ? -1 : 1)),
  find: (name) => {
    const wanted = bareName(name);
    return active().find((command) => namesOfSlashCommand(command).includes(wanted));
  },
  names: () => active().flatMap(namesOfSlashCommand),
});

/** Throws `command_bad_argument`. */
export const checkArgs = ({ name, takes }: SlashCommandFacts, args: string): void => {
  if (takes === 'text' || args === '') return;
  if (takes === undefined) throw commandErrors.bad_argument(name, args, 'nothing behind its name');
  if (!takes.words.includes(args.toLowerCase())) throw commandErrors.bad_argument(name, args, `${takes.words.join(', ')} or nothing`);
};

export const helpCommand = (commands: CommandList, wordsFor: (call: SlashCall) => Promise<readonly SlashWord[]>): SlashCommand =>
  defineSlashCommand({
    name: 'help',
    usage: '/help [COMMAND]',
    summary: 'List the commands, or explain one',
    permission: 'sessions.read',
    takes: 'text',
    order: 0,
    run: async (call) => help(commands, call.args, await wordsFor(call)),
  });

const help = (commands: CommandList, name: string, words: readonly SlashWord[]): SlashAnswer => {
  const wanted = bareName(name);
  const command = name === '' ? undefined : commands.find(name);
  if (command) return { message: `${command.usage}\n${command.summary}.${command.aliases ? ` Also /${command.aliases.join(', /')}.` : ''}` };
  const word = words.find((one) => one.name === wanted);
  if (word) return { message: `${word.usage}\n${word.summary}` };
  const shown = words.slice(0, MAX_WORDS).map(({ usage, summary }) => ({ usage, summary: summary.length > SUMMARY_CHARS ? `${summary.slice(0, SUMMARY_CHARS - 1)}…` : summary }));
  const all = [...commands.all(), ...shown];
  const width = Math.max(...all.map(({ usage }) => usage.length));
  const more = words.length > MAX_WORDS ? [`… and ${words.length - MAX_WORDS} more.`] : [];
  return { message: [...all.map(({ usage, summary }) => `${usage.padEnd(width)}  ${summary}`), ...more].join('\n') };
};

/** The daemon keeps nothing of them: they name what a client should do, for clients that leave commands to the daemon. */
const ofClient = (facts: Pick<SlashCommandFacts, 'name' | 'usage' | 'summary' | 'order' | 'aliases' | 'takes'>, message: string): SlashCommand =>
  defineSlashCommand({
    ...facts,
    permission: 'sessions.read',
    run: async ({ args }) => ({ message, data: { action: facts.name, ...(args === '' ? {} : { level: args.toLowerCase() }) } }),
  });

export const CLIENT_COMMANDS: readonly SlashCommand[] = [
  ofClient(
    { name: 'clear', usage: '/clear', summary: 'Clear the screen; the conversation stays', order: 91 },
    'That is up to your client: the conversation is as it was. /new begins a fresh one, /reset deletes this one.',
  ),
  ofClient(
    { name: 'verbose', usage: '/verbose [off|on|full]', summary: 'How much of the work of tools the client shows', takes: { words: ['off', 'on', 'full'] }, order: 92 },
    'That is up to your client: the daemon sends it everything.',
  ),
  ofClient({ name: 'exit', aliases: ['quit'], usage: '/exit', summary: 'Leave the chat', order: 93 }, 'Close the connection to leave; active runs continue. /stop ends them.'),
];
