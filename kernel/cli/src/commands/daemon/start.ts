/** `svc start`: in the background by default, and back only when the daemon is ready or has said why not; in the foreground this process becomes the daemon. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { isTable } from '@svc/api';
import { handOver } from '@svc/platform/config/environment/own-environment';
import { exposedPaths } from '@svc/platform/config/privacy';
import { hasPlainKey } from '@svc/platform/config/file/stored-key';
import type { Command } from 'commander';
import type { Cli, Outcome } from '../../cli.js';
import type { Action } from '../../command.js';
import { createDaemonClient } from '../../daemon/daemon-client.js';
import { lookAtDaemon } from '../../daemon/daemon-status.js';
import { EXIT } from '../../exit-codes.js';
import { Failure } from '../../failure.js';
import { type Progress, progress } from '../../terminal/progress.js';
import { stayWithoutReader } from '../../terminal/reader.js';
import { isAlive } from '../../settings.js';
import { exitOf, statusFacts } from './status.js';

/** Of dist/daemon/main.js: resolves when the daemon is ready, and ends the process when it cannot be. */
interface DaemonProgram {
  main(argv: readonly string[]): Promise<void>;
}

const READY_WAIT_MS = 60_000;
const POLL_MS = 5;
const SHOWN_ERROR_LINES = 8;

export const define = (program: Command, action: Action): void => {
  program
    .command('start')
    .description('Start the daemon in the background and wait until it is ready')
    .option('--foreground', 'stay in the foreground and print the log; Ctrl-C stops the daemon')
    .action(action((cli, flags: { foreground?: boolean }) => start(cli, flags.foreground === true)));
};

export const start = async (cli: Cli, isForeground: boolean): Outcome => {
  const running = await runningUrl(cli);
  if (running !== undefined) return report(cli, running, 'svc is already running');
  return isForeground ? foreground(cli, entryOf(cli)) : report(cli, await background(cli, entryOf(cli)), 'svc is running');
};

/** For commands that need the daemon: starts it in the background where none answers for this home. Prints nothing. */
export const ensureRunning = async (cli: Cli): Promise<{ readonly isStarted: boolean }> => {
  if (cli.settings.isElsewhere || (await runningUrl(cli)) !== undefined) return { isStarted: false };
  await background(cli, entryOf(cli));
  return { isStarted: true };
};

const entryOf = ({ distDir }: Cli): string => {
  const entry = path.join(distDir, 'daemon', 'main.js');
  if (!existsSync(entry)) throw new Failure('The daemon is not built.', { code: 'cli_not_built', why: `${entry} is missing`, fix: 'npm run build' });
  return entry;
};

/** The address of a daemon that answers for this home, if there is one. */
const runningUrl = async (cli: Cli): Promise<string | undefined> => {
  const url = cli.settings.daemonFile()?.url;
  return url !== undefined && (await isReady(url)) ? url : undefined;
};

const isReady = async (url: string): Promise<boolean> => {
  // Public, so no key is needed to know that it is up.
  const probe = createDaemonClient({ url, apiKey: async () => undefined });
  try {
    await probe.call('getReadiness', {}, { timeoutMs: 2_000 });
    return true;
  } catch (error) {
    if (error instanceof Failure) return false; // nobody answers yet, or it is not ready
    throw error;
  }
};

/** Nothing of the command stays but how its exit codes read: environment, signals, streams and errors are the daemon's from here on. */
const foreground = async (cli: Cli, entry: string): Outcome => {
  // What the flags say, where the daemon looks for it. The rest stands there already, and its secrets are taken out by the daemon.
  for (const name of ['SVC_HOME', 'SVC_PORT'] as const) if (cli.settings.env[name] !== undefined) process.env[name] = cli.settings.env[name];
  stayWithoutReader();
  process.on('exit', (code) => {
    if (code !== EXIT.ok && code !== EXIT.interrupted) process.exitCode = EXIT.failed;
  });
  const daemon: DaemonProgram = await import(pathToFileURL(entry).href);
  await daemon.main(['--foreground']);
  return EXIT.ok; // it is ready; its end is its own
};

/** Resolves with its address when it is ready. */
const background = async (cli: Cli, entry: string): Promise<string> => {
  mkdirSync(cli.settings.logDir, { recursive: true, mode: 0o700 });
  // What the daemon says before its log is open, or while it crashes, must not be lost.
  const errorFile = path.join(cli.settings.logDir, 'start-errors.log');
  const errors = openSync(errorFile, 'w', 0o600);
  const given = handOver(cli.settings.env);
  const child = spawn(process.execPath, [...process.execArgv, entry], { env: given.env, detached: true, stdio: ['ignore', 'ignore', errors, ...given.pipes] });
  given.send(child);
  closeSync(errors);
  const steps = progress(cli.out, 'Starting');
  try {
    const url = await ready(cli, child, errorFile, steps);
    child.unref();
    return url;
  } finally {
    steps.end();
  }
};

const ready = async (cli: Cli, child: ChildProcess, errorFile: string, steps: Progress): Promise<string> => {
  let ended: string | undefined;
  child.on('error', (error) => {
    ended = error.message;
  });
  child.on('exit', (code, signal) => {
    ended = `it ended with ${signal ?? `exit code ${code}`}`;
  });
  const deadline = Date.now() + READY_WAIT_MS;
  while (Date.now() < deadline) {
    const url = await runningUrl(cli);
    if (url !== undefined) return url;
    // When another `svc start` was faster, ours has left; the one that holds the home is about to answer.
    if (ended !== undefined && !isHomeHeld(cli.settings.home)) throw new Failure('The daemon did not start.', { code: 'cli_start_failed', why: lastWords(errorFile) ?? ended, fix: 'svc doctor' });
    steps.tick();
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  throw new Failure(`The daemon was not ready within ${READY_WAIT_MS / 1000} s.`, { code: 'cli_start_slow', why: 'it is still starting, or hangs', fix: 'svc logs --lines 20' });
};

const isHomeHeld = (home: string): boolean => {
  try {
    const lock: unknown = JSON.parse(readFileSync(path.join(home, 'daemon.lock'), 'utf8'));
    return isTable(lock) && typeof lock.pid === 'number' && isAlive(lock.pid);
  } catch {
    return false; // no lock, or one being written: nobody to wait for
  }
};

const lastWords = (errorFile: string): string | undefined => {
  const lines = readFileSync(errorFile, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '');
  return lines.length === 0 ? undefined : lines.slice(0, SHOWN_ERROR_LINES).join('\n        ');
};

const report = async (cli: Cli, url: string, headline: string): Outcome => {
  const daemon = createDaemonClient({ url, apiKey: cli.settings.apiKey });
  const found = await lookAtDaemon(cli, daemon);
  const pid = cli.settings.daemonFile()?.pid;
  // It has started: a setting that keeps its last good value, or that only those with a key may ask, is no fault of the start.
  const exit = found.status === 'closed' ? EXIT.degraded : EXIT.ok;
  if (cli.json) {
    cli.out.json({ ...found, url, pid: pid ?? null, already_running: headline.includes('already') });
    return exit;
  }
  const isClosed = found.status === 'closed';
  cli.out.line(`${exitOf(found) === EXIT.ok ? cli.out.green('●') : cli.out.yellow('●')} ${headline}${isClosed ? ', but closed to everyone' : ''}`);
  const next: Array<[string, string]> = isClosed ? [] : [['try', `svc chat, or open ${url}/ in a browser`]];
  // Unless the reason given above says so already.
  if (found.default_model_stand_in === true && found.default_model_why?.includes('set-key') !== true) next.push(['', 'svc init, for a real model instead of the built-in mock provider']);
  if (!headline.includes('already')) next.push(...(await careNotes(cli)));
  for (const line of statusFacts(found, url, pid, cli.out, next)) cli.out.line(line);
  return exit;
};

/** What of the setup a person should know once, when the daemon has started. */
const careNotes = async ({ settings }: Cli): Promise<Array<[string, string]>> => {
  const notes = (await exposedPaths(settings)).map(({ what }): [string, string] => ['care', `${what}; svc doctor --fix`]);
  if (await hasPlainKey(settings.configFile)) notes.push(['key', 'config.toml contains the plain API key; svc key hash --write replaces it with its hash']);
  return notes;
};
