/** Every command by its name. Only the module of the one that was called is loaded. */
import type { CommandModule } from './command.js';

export interface CommandEntry {
  readonly usage: string;
  readonly summary: string;
  /** Has subcommands, so that `help` may stand for one. */
  readonly isGroup?: boolean;
  load(): Promise<CommandModule>;
}

export const COMMANDS: Readonly<Record<string, CommandEntry>> = {
  start: { usage: 'start [--foreground]', summary: 'start the daemon in the background', load: () => import('./commands/start.js') },
  stop: { usage: 'stop', summary: 'stop the daemon in order', load: () => import('./commands/stop.js') },
  status: { usage: 'status', summary: 'is it running, where, with which model', load: () => import('./commands/status.js') },
  chat: { usage: 'chat [AGENT]', summary: 'talk with an agent', load: () => import('./commands/chat.js') },
  message: { usage: 'message AGENT TEXT…', summary: 'send one message, print the answer', load: () => import('./commands/message.js') },
  agent: { isGroup: true, usage: 'agent list|spawn|kill', summary: 'the agents', load: () => import('./commands/agent.js') },
  providers: { isGroup: true, usage: 'providers list|set-key|default', summary: 'model providers and their keys', load: () => import('./commands/providers.js') },
  vault: { isGroup: true, usage: 'vault status|reset', summary: 'the secrets that are kept, by name', load: () => import('./commands/vault.js') },
  key: { isGroup: true, usage: 'key hash|new [--write]', summary: 'the key of this daemon, kept as its hash', load: () => import('./commands/key.js') },
  ext: { isGroup: true, usage: 'ext list|info|enable|disable|…', summary: 'the extensions: every area of the daemon is one', load: () => import('./commands/ext.js') },
  config: { isGroup: true, usage: 'config show|get|set|edit|check|…', summary: 'the settings, and where each comes from', load: () => import('./commands/config.js') },
  doctor: { usage: 'doctor', summary: 'what is wrong here, and what mends it', load: () => import('./commands/doctor.js') },
  logs: { usage: 'logs [-f] [--request ID]', summary: 'what the daemon wrote down', load: () => import('./commands/logs.js') },
};
