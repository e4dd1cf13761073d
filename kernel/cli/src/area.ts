/** @svc/cli/area: what the commands of areas, in extensions/<id>/cli, have of the command line. */
export { TomlProblem, loadToml } from '@svc/platform/config/file/toml-parse';
export type { Command } from 'commander';
export type { Cli, Outcome } from './cli.js';
export type { Action } from './command.js';
export { ensureRunning } from './commands/daemon/start.js';
export { type DaemonClient, failureOf } from './daemon/daemon-client.js';
export { readStatus } from './daemon/daemon-status.js';
export { restoreHere, verifyHere } from './local-backups.js';
export { readLocalRows } from './local-rows.js';
export { EXIT, type ExitCode } from './exit-codes.js';
export { Failure, usageFailure } from './failure.js';
export { agreesAtTerminal, askSecret, askText, choose, confirm, pipedSecret } from './terminal/asking.js';
export { runEditor } from './terminal/editor.js';
export { agoText, bytesText, duration, facts, table, wrap } from './terminal/layout.js';
export { watched } from './terminal/progress.js';
export { readStdin, readStdinBytes } from './terminal/stdin.js';
export { type Terminal, oneLine, printable } from './terminal/terminal.js';
export { typed } from './typed-command.js';
