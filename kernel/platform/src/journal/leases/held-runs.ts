/**
 * The runs that this process holds a lease on, each with the signal of its interruption.
 * A released run keeps its signal for whoever claims it next here, so that an
 * interruption in the moment of a reload is not lost.
 *
 * Whoever held a run before may still speak of it: only the newest token counts.
 */
import type { LeasedRun } from '@svc/api';
import { journalErrors } from '../errors.js';

/** Beyond this the oldest released runs are forgotten: somebody else has claimed them. */
const MAX_RELEASED = 1_000;

export type HeldRun = Pick<LeasedRun, 'id' | 'token'>;

export interface HeldRuns {
  /** A lease was gained. */
  hold(run: HeldRun): AbortSignal;
  /** The run ended or sleeps: there is nothing left to interrupt. */
  drop(run: HeldRun): void;
  /** The lease was given back. */
  release(run: HeldRun): void;
  /** The lease is somebody else's: whoever still works on it should stop. */
  lose(run: HeldRun): void;
  interrupt(runId: string, reason: Error): boolean;
  /** The time that the newest commit under this lease left in the row. */
  stampOf(run: HeldRun): string | undefined;
  stamp(run: HeldRun, at: string): void;
  all(): HeldRun[];
}

export const createHeldRuns = (): HeldRuns => {
  const held = new Map<string, HeldRun & { readonly controller: AbortController; stamp?: string }>();
  const released = new Map<string, AbortController>();
  /** Undefined for a holder of before, whose run somebody else holds by now. */
  const takeOut = ({ id, token }: HeldRun): AbortController | undefined => {
    const found = held.get(id);
    if (found?.token !== token) return undefined;
    held.delete(id);
    return found.controller;
  };
  return {
    hold({ id, token }) {
      const controller = released.get(id) ?? new AbortController();
      released.delete(id);
      held.set(id, { id, token, controller });
      return controller.signal;
    },
    drop(run) {
      takeOut(run);
      if (!held.has(run.id)) released.delete(run.id);
    },
    release(run) {
      const controller = takeOut(run);
      if (!controller) return;
      released.set(run.id, controller);
      const [oldest] = released.keys();
      if (released.size > MAX_RELEASED && oldest !== undefined) released.delete(oldest);
    },
    lose: (run) => takeOut(run)?.abort(journalErrors.lease_lost(run.id)),
    interrupt(runId, reason) {
      const controller = held.get(runId)?.controller ?? released.get(runId);
      controller?.abort(reason);
      return controller !== undefined;
    },
    stampOf: ({ id, token }) => {
      const found = held.get(id);
      return found?.token === token ? found.stamp : undefined;
    },
    stamp: ({ id, token }, at) => {
      const found = held.get(id);
      if (found?.token === token) found.stamp = at;
    },
    all: () => [...held.values()].map(({ id, token }) => ({ id, token })),
  };
};
