/** What happens to the process from outside and by accident: signals, errors nobody caught, a loop that stands still. */
import { closeSync, openSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Logger } from '@svc/api';
import type { Daemon } from './boot.js';
import { exitSurely } from '@svc/platform/process/last-resort';
import { watchMemory } from '@svc/platform/process/memory-rest';

export type StopProcess = (reason: string, code: number) => void;

const EXIT_BROKEN = 70;
const TERMINAL_CLOSED = 'its terminal was closed';
const STOP_SIGNALS = ['SIGINT', 'SIGTERM'] as const;
const STALL_MS = 250;
const POLL_EVERY_MS = 5_000;
const NANOS_PER_MS = 1_000_000;

/**
 * Signals to a daemon that is still starting: one that asks it to stop is obeyed in order once it stands, and a SIGHUP has the
 * settings read again then. A second request to stop ends the process at once.
 */
export function noteSignals(received: () => void): EarlySignals {
  let asked: string | undefined;
  let isReloadAsked = false;
  const abort = new AbortController();
  const note = (reason: string): void => {
    if (asked !== undefined) exitSurely(EXIT_BROKEN);
    asked = reason;
    received();
    abort.abort();
  };
  const hangUp = (): void => {
    if (isTerminalClosed()) note(TERMINAL_CLOSED);
    else isReloadAsked = true;
  };
  for (const signal of STOP_SIGNALS) process.on(signal, note);
  process.on('SIGHUP', hangUp);
  return {
    asked: () => asked,
    isReloadAsked: () => isReloadAsked,
    signal: abort.signal,
    forget: () => {
      for (const signal of STOP_SIGNALS) process.off(signal, note);
      process.off('SIGHUP', hangUp);
    },
  };
}

export interface EarlySignals {
  /** Why the daemon should stop, undefined where nobody asked. */
  asked(): string | undefined;
  isReloadAsked(): boolean;
  /** Aborts once somebody asks the daemon to stop. */
  readonly signal: AbortSignal;
  forget(): void;
}

/**
 * SIGHUP reloads the settings, or ends the daemon when it comes because its terminal was closed; a second SIGINT or SIGTERM
 * ends the process at once. `daemon` is the one of now: a restore puts another in its place.
 */
export function guardProcess(daemon: () => Daemon, stop: StopProcess): void {
  let asked = 0;
  for (const signal of STOP_SIGNALS) {
    process.on(signal, () => {
      asked += 1;
      if (asked > 1) exitSurely(EXIT_BROKEN);
      stop(signal, 0);
    });
  }
  process.on('SIGHUP', () => (isTerminalClosed() ? stop(TERMINAL_CLOSED, 0) : reloadBySignal(daemon())));
  // A terminal that was closed refuses every write; the daily file has the lines.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  const caught = (error: unknown): void => {
    if (daemon().caught(error)) return;
    daemon().log.logger('kernel').error('an error that cannot be attributed ends the daemon', { cause: error });
    stop('internal error', EXIT_BROKEN);
  };
  process.on('uncaughtException', caught);
  process.on('unhandledRejection', caught);
  watchLoop(daemon);
  const log = (): Logger => daemon().log.logger('kernel');
  watchMemory({ debug: (message, fields) => log().debug(message, fields), warn: (message, fields) => log().warn(message, fields) });
}

/** The settings are read again, as SIGHUP asks. */
export const reloadBySignal = (daemon: Daemon): void =>
  void daemon.reloadConfig('SIGHUP').catch((cause: unknown) => daemon.log.logger('kernel').error('the settings could not be reloaded', { cause }));

/** Whether this process was started at a terminal that is gone. */
const isTerminalClosed = (): boolean => (process.stdin.isTTY === true || process.stdout.isTTY === true) && !hasTerminal();

/** Whether the terminal that this process was started at is still there. */
function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'));
    return true;
  } catch {
    return false; // ENXIO: the session has lost it
  }
}

/** A stand-still of the event loop is everybody's wait: it is logged with the extension whose code ran last. */
function watchLoop(daemon: () => Daemon): void {
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();
  const timer = setInterval(() => {
    const worstMs = Math.round(delay.max / NANOS_PER_MS);
    delay.reset();
    if (worstMs >= STALL_MS) daemon().log.logger('kernel').warn('the event loop was blocked', { ms: worstMs, last_entered: daemon().lastEntered() });
  }, POLL_EVERY_MS);
  timer.unref();
}
