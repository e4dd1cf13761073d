/** All slash commands, as a chat over the WebSocket understands them. Each answers before anything is queued, so `/stop` never waits behind what it stops. */
import { nearest } from '@svc/api';
import { AGENT_COMMANDS } from './agent-commands.js';
import type { Answered, Command } from './command.js';
import { MODEL_COMMANDS } from './model-commands.js';
import { SESSION_COMMANDS } from './session-commands.js';

/** The daemon keeps nothing of them: they name what a client should do, for clients that leave commands to the daemon. */
const ofClient = (name: string, usage: string, summary: string, message: string, more: Partial<Command> = {}): Command => ({
  name,
  usage,
  summary,
  permission: 'sessions.read',
  isOfClient: true,
  ...more,
  run: async (_deps, { args }): Promise<Answered> => ({ message, data: { action: name, ...(args === '' ? {} : { level: args.toLowerCase() }) } }),
});

const CLIENT_COMMANDS: readonly Command[] = [
  ofClient('clear', '/clear', 'Clear the screen; the conversation stays', 'Your client handles this; the conversation did not change. /new starts a new one, /reset deletes this one.'),
  ofClient('verbose', '/verbose [off|on|full]', 'How much of the work of tools the client shows', 'That is up to your client: the daemon sends it everything.', {
    takes: { words: ['off', 'on', 'full'] },
  }),
  ofClient('exit', '/exit', 'Leave the chat', 'Close the connection to leave; active runs continue. /stop ends them.', { aliases: ['quit'] }),
];

const HELP: Command = { name: 'help', usage: '/help [COMMAND]', summary: 'List the commands, or explain one', permission: 'sessions.read', takes: 'text', run: async (_deps, { args }) => help(args) };

export const COMMANDS: readonly Command[] = [HELP, ...SESSION_COMMANDS, ...MODEL_COMMANDS, ...AGENT_COMMANDS, ...CLIENT_COMMANDS];

const BY_NAME: ReadonlyMap<string, Command> = new Map(COMMANDS.flatMap((command) => [command.name, ...(command.aliases ?? [])].map((name) => [name, command] as const)));

/** By name or alias, with or without the slash, whatever the case. */
export const commandOf = (name: string): Command | undefined => BY_NAME.get(name.replace(/^\//, '').toLowerCase());

/** Names that look like it, the likeliest first. */
export const namesLike = (name: string): string[] => nearest(name.toLowerCase(), [...BY_NAME.keys()]);

const help = (name: string): Answered => {
  const command = name === '' ? undefined : commandOf(name);
  if (command) return { message: `${command.usage}\n${command.summary}.${command.aliases ? ` Also /${command.aliases.join(', /')}.` : ''}` };
  const width = Math.max(...COMMANDS.map(({ usage }) => usage.length));
  return { message: COMMANDS.map(({ usage, summary }) => `${usage.padEnd(width)}  ${summary}`).join('\n') };
};
