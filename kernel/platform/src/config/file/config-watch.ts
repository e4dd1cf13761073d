/**
 * Reads config.toml again when somebody saved it.
 *
 * Looks at the file's state instead of listening for events: editors that save by rename, network
 * disks and containers' mounts all change it, and none of them tells a watcher reliably.
 */
import { errnoOf } from '../errno.js';
import { stat } from 'node:fs/promises';
import type { Disposable, Logger } from '@svc/api';
import type { TimerClock } from '../../clock/clock.js';
import { createTimers } from '../../clock/timers.js';

const POLL_EVERY_MS = 1_000;

export interface ConfigWatchDeps {
  readonly file: string;
  readonly clock: TimerClock;
  readonly log: Logger;
  /** Applies a good save and reports a bad one; called once a change has stood still for one look. */
  reload(): Promise<void>;
}

/** Resolves when it has seen the file as it is now. */
export const watchConfig = async ({ clock, file, log, reload }: ConfigWatchDeps): Promise<Disposable> => {
  let applied = await stateOf(file);
  let seen = applied;
  const timers = createTimers({ clock, onError: (cause) => log.error('the settings could not be reloaded', { file, cause }) });
  return timers.every(POLL_EVERY_MS, async () => {
    const now = await stateOf(file);
    // Half-written files change again: only what two looks saw alike is read.
    const isSettled = now !== applied && now === seen;
    seen = now;
    if (!isSettled) return;
    applied = now;
    await reload();
  });
};

/** Changes with every save: another file, another size or another time. */
const stateOf = async (file: string): Promise<string> => {
  try {
    const { mtimeMs, ctimeMs, size, ino, mode } = await stat(file);
    return [mtimeMs, ctimeMs, size, ino, mode].join(':');
  } catch (error) {
    return errnoOf(error) ?? 'unknown';
  }
};
