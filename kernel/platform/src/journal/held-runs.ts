/**
 * The runs that this process holds a lease on, each with the signal of its interruption.
 * A released run keeps its signal for whoever claims it next here, so that an
 * interruption in the moment of a reload is not lost.
 */
import { journalErrors } from './errors.js';

/** Beyond this the oldest released runs are forgotten: somebody else has claimed them. */
const MAX_RELEASED = 1_000;

export interface HeldRuns {
  /** A lease was gained. */
  hold(runId: string): AbortSignal;
  /** The run ended or sleeps: there is nothing left to interrupt. */
  drop(runId: string): void;
  /** The lease was given back. */
  release(runId: string): void;
  /** The lease is somebody else's: whoever still works on it should stop. */
  lose(runId: string): void;
  interrupt(runId: string, reason: string): boolean;
  ids(): string[];
}

export const createHeldRuns = (): HeldRuns => {
  const held = new Map<string, AbortController>();
  const released = new Map<string, AbortController>();
  return {
    hold(runId) {
      const controller = released.get(runId) ?? new AbortController();
      released.delete(runId);
      held.set(runId, controller);
      return controller.signal;
    },
    drop: (runId) => void held.delete(runId),
    release(runId) {
      const controller = held.get(runId);
      if (!controller) return;
      held.delete(runId);
      released.set(runId, controller);
      const [oldest] = released.keys();
      if (released.size > MAX_RELEASED && oldest !== undefined) released.delete(oldest);
    },
    lose(runId) {
      const controller = held.get(runId);
      held.delete(runId);
      controller?.abort(journalErrors.lease_lost(runId));
    },
    interrupt(runId, reason) {
      const controller = held.get(runId) ?? released.get(runId);
      controller?.abort(journalErrors.interrupted(reason));
      return controller !== undefined;
    },
    ids: () => [...held.keys()],
  };
};
