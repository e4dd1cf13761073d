/**
 * What other daemons on the database admitted counts here, too, so that a limit is one for all of them together.
 *
 * X1  Each tells once a second what it admitted. So a caller gets more than the limit by no more than what the other daemons
 *     admit within that second. While messages are lost, each daemon limits by itself.
 * X2  What is told is a sum: a message that was lost is made up for by the next.
 * X3  It never costs a commit, and nothing is told while nothing was admitted.
 */
import type { Plain } from '@svc/api';
import type { RateSpent } from './contract.js';
import type { Gcra, GcraOptions } from './gcra.js';

type Message = Plain<(typeof RateSpent)['data']>;

interface Sum {
  total: number;
  /** Of it, what was not told yet. */
  fresh: number;
  at: number;
}

export interface Exchange {
  /** This daemon admitted it. */
  spent(caller: string, cost: number, nowMs: number): void;
  /** What is to be told now; undefined where there is nothing. */
  message(): Message | undefined;
  received(message: Message, nowMs: number): void;
  sweep(nowMs: number): void;
}

/** In one message; who spent most comes first, the rest comes with the next. */
const MAX_CALLERS = 1_000;

export const createExchange = (name: string, gcra: Pick<Gcra, 'charge'>, options: () => GcraOptions): Exchange => {
  const own = new Map<string, Sum>();
  /** By daemon and caller. */
  const others = new Map<string, Sum>();
  const bounded = (sums: Map<string, Sum>): void => {
    const [oldest] = sums.keys();
    if (sums.size > options().maxCallers && oldest !== undefined) sums.delete(oldest);
  };
  return {
    spent: (caller, cost, nowMs) => {
      const sum = own.get(caller) ?? { total: 0, fresh: 0, at: nowMs };
      sum.total += cost;
      sum.fresh += cost;
      sum.at = nowMs;
      // The longest idle stand first.
      own.delete(caller);
      own.set(caller, sum);
      bounded(own);
    },
    message: () => {
      const due = [...own].filter(([, { fresh }]) => fresh > 0);
      if (due.length === 0) return undefined;
      const chosen = due.sort(([, a], [, b]) => b.fresh - a.fresh).slice(0, MAX_CALLERS);
      const spent = Object.fromEntries(chosen.map(([caller, { fresh, total }]) => [caller, { total, fresh }]));
      for (const [, sum] of chosen) sum.fresh = 0;
      return { by: name, spent };
    },
    received: ({ by, spent }, nowMs) => {
      if (by === name) return;
      for (const [caller, { total, fresh }] of Object.entries(spent)) {
        const key = `${by} ${caller}`;
        const known = others.get(key)?.total;
        others.delete(key);
        others.set(key, { total, fresh: 0, at: nowMs });
        bounded(others);
        // Heard of for the first time, or begun anew there: what was admitted before is over.
        gcra.charge(caller, known === undefined || known > total ? fresh : total - known, nowMs);
      }
    },
    sweep: (nowMs) => {
      const before = nowMs - 2 * options().windowMs;
      for (const sums of [own, others]) for (const [key, { at }] of sums) if (at < before) sums.delete(key);
    },
  };
};
