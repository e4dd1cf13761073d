/** `svc stop`: asks the daemon to stop in order, and waits until its process is gone. */
import type { Command } from 'commander';
import type { Cli, Outcome } from '../../cli.js';
import type { Action } from '../../command.js';
import { EXIT } from '../../exit-codes.js';
import { Failure } from '../../failure.js';
import { progress } from '../../terminal/progress.js';
import { isAlive } from '../../settings.js';

/** Running tools get their time; the daemon's own limits are shorter. */
const STOP_WAIT_MS = 90_000;
const POLL_MS = 50;

export const define = (program: Command, action: Action): void => {
  program
    .command('stop')
    .description('Stop the daemon; active runs are saved and continue at the next start')
    .action(action((cli) => stop(cli)));
};

export const stop = async (cli: Cli): Outcome => {
  const { status, pid, text } = await stopInOrder(cli);
  return answer(cli, { status, pid }, text);
};

export interface Stopped {
  readonly status: 'stopped' | 'not_running';
  readonly pid: number | null;
  readonly text: string;
}

/** Prints nothing but how it goes on. */
export const stopInOrder = async (cli: Cli): Promise<Stopped> => {
  const daemon = await cli.daemon();
  const pid = cli.settings.daemonFile()?.pid;
  try {
    await daemon.call('shutDownDaemon');
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    if (error.code === 'cli_daemon_not_running' && pid === undefined) {
      return { status: 'not_running', pid: null, text: `The daemon is not running (nothing answers at ${daemon.url}).` };
    }
    if (pid === undefined || !endProcess(pid)) throw error;
  }
  const steps = progress(cli.out, 'Stopping');
  const deadline = Date.now() + STOP_WAIT_MS;
  while (pid !== undefined && isAlive(pid)) {
    if (Date.now() > deadline) {
      steps.end();
      throw new Failure(`The daemon has not stopped within ${STOP_WAIT_MS / 1000} s.`, { code: 'cli_stop_slow', why: `process ${pid} is still finishing its work`, fix: 'svc logs --lines 20' });
    }
    steps.tick();
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  steps.end();
  return { status: 'stopped', pid: pid ?? null, text: 'The daemon has stopped.' };
};

/** Whoever owns the process may end it, with or without a key, and whatever state it is in. */
const endProcess = (pid: number): boolean => {
  try {
    process.kill(pid, 'SIGTERM');
    return true;
  } catch {
    return false; // another person's: then the daemon's own answer stands
  }
};

const answer = (cli: Cli, value: Record<string, unknown>, text: string): typeof EXIT.ok => {
  if (cli.json) cli.out.json(value);
  else cli.out.line(text);
  return EXIT.ok;
};
