/** Repeated and delayed work. The wiring wraps these per extension, so that a stopped generation has no timer left. */
import type { Disposable } from '@svc/api';
import type { TimerClock } from './clock.js';

export interface Timers {
  /** Calls `fn` every `ms`. A call that takes longer than `ms` is never overlapped: the beats it misses are skipped. */
  every(ms: number, fn: () => void | Promise<void>): Disposable;
  after(ms: number, fn: () => void | Promise<void>): Disposable;
}

export interface TimersDeps {
  clock: TimerClock;
  /** Hears what a call threw; the timer goes on. */
  onError: (error: unknown) => void;
}

export const createTimers = ({ clock, onError }: TimersDeps): Timers => ({
  every: (ms, fn) => every(clock, onError, Math.max(1, ms), fn),
  after: (ms, fn) => ({ dispose: clock.schedule(ms, () => void guarded(fn, onError)) }),
});

const every = (clock: TimerClock, onError: TimersDeps['onError'], ms: number, fn: () => void | Promise<void>): Disposable => {
  let stopped = false;
  let isRunning = false;
  let cancel: () => void;
  let dueMs = clock.mono() + ms;
  const arm = (): void => {
    cancel = clock.schedule(dueMs - clock.mono(), () => {
      // Beats keep to the grid of the first one, so that a slow call shifts none of those after it; one that came a fraction early was a beat too.
      // One division, not a step per beat: a machine that slept for weeks has missed millions.
      dueMs += ms * Math.max(1, Math.floor((clock.mono() - dueMs) / ms) + 1);
      arm();
      if (isRunning) return;
      isRunning = true;
      void guarded(fn, onError).finally(() => {
        isRunning = false;
      });
    });
  };
  arm();
  return {
    dispose: () => {
      if (stopped) return;
      stopped = true;
      cancel();
    },
  };
};

const guarded = async (fn: () => void | Promise<void>, onError: TimersDeps['onError']): Promise<void> => {
  try {
    await fn();
  } catch (error) {
    onError(error);
  }
};
