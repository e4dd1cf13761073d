/** The command line's own commands by their names; areas add theirs. Only the module of the one that was called is loaded. */
import type { CliWord } from '@svc/installer/commands';
import type { CommandModule } from './command.js';

export interface CommandEntry {
  readonly usage: string;
  readonly summary: string;
  /** The group of the help; default: the daemon's own. */
  readonly hub?: string;
  /** Has subcommands, so that `help` may stand for one. */
  readonly isGroup?: boolean;
  load(): Promise<CommandModule>;
}

export const COMMANDS: Readonly<Record<CliWord, CommandEntry>> = {
  start: { usage: 'start [--foreground]', summary: 'start the daemon in the background', load: () => import('./commands/daemon/start.js') },
  stop: { usage: 'stop', summary: 'stop the daemon gracefully', load: () => import('./commands/daemon/stop.js') },
  restart: { usage: 'restart', summary: 'restart the daemon gracefully', load: () => import('./commands/daemon/restart.js') },
  status: { usage: 'status', summary: 'show whether the daemon runs, its address and default model', load: () => import('./commands/daemon/status.js') },
  key: { isGroup: true, usage: 'key hash|new|show', summary: "this daemon's API key", hub: 'system', load: () => import('./commands/key.js') },
  ext: { isGroup: true, usage: 'ext list|info|enable|create|…', summary: 'list, switch and install extensions', hub: 'system', load: () => import('./commands/ext.js') },
  dev: { usage: 'dev [FOLDER]', summary: 'develop an extension with live reload', hub: 'system', load: () => import('./commands/dev.js') },
  config: { isGroup: true, usage: 'config show|get|set|edit|check|…', summary: 'the settings and their sources', hub: 'system', load: () => import('./commands/config.js') },
  storage: { isGroup: true, usage: 'storage status|migrate|reopen', summary: 'the database and moving it', hub: 'system', load: () => import('./commands/storage.js') },
  open: { usage: 'open', summary: 'open the web page in a browser', load: () => import('./commands/daemon/open.js') },
  doctor: { usage: 'doctor', summary: 'find problems and fixes', load: () => import('./commands/daemon/doctor.js') },
  logs: { usage: 'logs [-f] [--request ID]', summary: "show the daemon's log", load: () => import('./commands/daemon/logs.js') },
  service: { isGroup: true, usage: 'service install|uninstall|status', summary: 'start the daemon with this machine', hub: 'system', load: () => import('./commands/service.js') },
  update: { usage: 'update [--check] [--dry-run]', summary: 'look for a newer version and install it', hub: 'system', load: () => import('./commands/update.js') },
  reset: { isGroup: true, usage: 'reset config|data|all', summary: 'delete settings, data, or both', hub: 'system', load: () => import('./commands/reset.js') },
  uninstall: { usage: 'uninstall [--data] [--purge]', summary: 'remove the service and tab completion', hub: 'system', load: () => import('./commands/uninstall.js') },
  completion: { usage: 'completion bash|zsh|fish|powershell', summary: 'set up tab completion for your shell', hub: 'system', load: () => import('./commands/completion.js') },
};
