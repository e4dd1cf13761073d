/** The command line's own commands by their names; areas add theirs. Only the module of the one that was called is loaded. */
import type { CliWord } from '@svc/installer/commands';
import type { CommandModule } from './command.js';

export interface CommandEntry {
  readonly usage: string;
  readonly summary: string;
  /** Has subcommands, so that `help` may stand for one. */
  readonly isGroup?: boolean;
  load(): Promise<CommandModule>;
}

export const COMMANDS: Readonly<Record<CliWord, CommandEntry>> = {
  start: { usage: 'start [--foreground]', summary: 'start the daemon in the background', load: () => import('./commands/daemon/start.js') },
  stop: { usage: 'stop', summary: 'stop the daemon in order', load: () => import('./commands/daemon/stop.js') },
  restart: { usage: 'restart', summary: 'stop the daemon in order and start it again', load: () => import('./commands/daemon/restart.js') },
  status: { usage: 'status', summary: 'is it running, where, with which model', load: () => import('./commands/daemon/status.js') },
  chat: { usage: 'chat [AGENT]', summary: 'talk with an agent', load: () => import('./commands/chat.js') },
  message: { usage: 'message AGENT TEXT…', summary: 'send one message, print the answer', load: () => import('./commands/message.js') },
  agent: { isGroup: true, usage: 'agent list|new|show|edit|apply|set|…', summary: 'the agents', load: () => import('./commands/agent.js') },
  sessions: { isGroup: true, usage: 'sessions list|show|search|…', summary: 'what was said', load: () => import('./commands/sessions.js') },
  files: { isGroup: true, usage: 'files list|get|put|rm|upload', summary: 'the workspace of an agent', load: () => import('./commands/files.js') },
  tool: { isGroup: true, usage: 'tool list|call', summary: 'what agents can call', load: () => import('./commands/tool.js') },
  models: { isGroup: true, usage: 'models list|show|use|alias|update', summary: 'the catalog of models', load: () => import('./commands/models.js') },
  providers: { isGroup: true, usage: 'providers list|set-key|test|…', summary: 'model providers and their keys', load: () => import('./commands/providers.js') },
  vault: { isGroup: true, usage: 'vault status|reset', summary: 'the secrets that are kept, by name', load: () => import('./commands/vault.js') },
  key: { isGroup: true, usage: 'key hash|new|show', summary: 'the key of this daemon, kept as its hash', load: () => import('./commands/key.js') },
  ext: { isGroup: true, usage: 'ext list|info|enable|create|…', summary: 'the extensions: every area of the daemon is one', load: () => import('./commands/ext.js') },
  dev: { usage: 'dev [FOLDER]', summary: 'an extension that you write, reloaded with each change', load: () => import('./commands/dev.js') },
  config: { isGroup: true, usage: 'config show|get|set|edit|check|…', summary: 'the settings, and where each comes from', load: () => import('./commands/config.js') },
  open: { usage: 'open', summary: 'the page of the daemon in a browser', load: () => import('./commands/daemon/open.js') },
  doctor: { usage: 'doctor', summary: 'what is wrong here, and what mends it', load: () => import('./commands/daemon/doctor.js') },
  logs: { usage: 'logs [-f] [--request ID]', summary: 'what the daemon wrote down', load: () => import('./commands/daemon/logs.js') },
  completion: { usage: 'completion bash|zsh|fish', summary: 'what Tab offers in your shell', load: () => import('./commands/completion.js') },
};
