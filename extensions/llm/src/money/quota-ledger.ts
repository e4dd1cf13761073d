/**
 * What each scope (an agent, or all agents together) has used, kept in memory beside the usage rows: read from them once, then
 * counted along, and read again when another process says that it wrote some, and now and then, because what it says can be lost.
 *
 * T1  A clock that is set back begins no window anew: what its former days and hours used is read again, and what was used
 *     later than now counts as well.
 */
import type { Clock } from '@svc/api';
import type { Scope, UsageStore } from '../store.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const MAX_LEDGERS = 1_000;
/** Another process's calls that were not heard of are seen after this long. */
const REREAD_MS = 15_000;
/** Rows are committed long before this after the time that they carry: what is older is read once. */
const LATE_MS = 5 * MINUTE_MS;

/** What one call may use at most, or has used. */
export interface Need {
  readonly tokens: number;
  readonly costMicros: number;
}

export interface Ledgers {
  of(scope: Scope): Promise<Ledger>;
  /** As of now: with every row that was committed before the question. */
  fresh(scope: Scope): Promise<Ledger>;
  /** Somebody else wrote rows of this scope: they are read before the next answer. */
  stale(scope: Scope): void;
  size(): number;
}

export interface Ledger {
  /** Calls on their way, of this process and of others. */
  onTheirWay(): Need;
  /** Those of other processes alone. */
  elsewhere(): Need;
  /** `freeAt(limit)`: when less than `limit` will be left in the window. */
  lastHour(now: number, unit: keyof Need): { used: number; freeAt(limit: number): number };
  thisMinute(now: number): { used: number; endsAt: number };
  thisDay(now: number): { used: number; endsAt: number };
  thisMonth(now: number): { used: number; endsAt: number };
  open(need: Need): void;
  /** `at`: the time that the row of the call carries. */
  close(need: Need, used: Need, at: number): void;
  /** Resolves when a call has ended, after `ms`, or when the signal says so; with the milliseconds that this took. */
  changed(clock: Clock, ms: number, signal: AbortSignal): Promise<number>;
}

interface State {
  readAt: number;
  /** Wall time up to which all rows were read; undefined before the first reading. */
  readTo: number | undefined;
  /** How often somebody else wrote rows. */
  news: number;
  reading: Promise<void> | undefined;
  /** By minute since the epoch: the last hour, and today. */
  readonly minutes: Map<number, Need>;
  /** Micro-dollars by `2026-01-31`: what of this month is older than the minutes. */
  readonly days: Map<string, number>;
  elsewhere: Need;
  tokens: number;
  costMicros: number;
  calls: number;
  waiting: Array<() => void>;
}

export interface LedgerDeps {
  readonly store: Pick<UsageStore, 'spent' | 'spentByDay'>;
  readonly clock: Clock;
}

export const createLedgers = (deps: LedgerDeps): Ledgers => {
  const states = new Map<Scope, State>();
  const of = async (scope: Scope): Promise<Ledger> => {
    const state = states.get(scope) ?? newState();
    states.delete(scope);
    states.set(scope, state);
    dropOldest(states);
    if (isSetBack(state, deps.clock.now())) state.readTo = undefined;
    if (state.readTo === undefined || deps.clock.mono() - state.readAt >= REREAD_MS) {
      state.reading ??= read(deps, scope, state).finally(() => {
        state.reading = undefined;
      });
      await state.reading;
    }
    return ledgerOf(state);
  };
  const stale = (scope: Scope): void => {
    const state = states.get(scope);
    if (!state) return;
    state.news += 1;
    state.readAt = Number.NEGATIVE_INFINITY;
  };
  return {
    of,
    stale,
    fresh: async (scope) => {
      stale(scope);
      await of(scope);
      // One that was being read has missed what is asked about, and knows it: the next reading does not.
      return of(scope);
    },
    size: () => states.size,
  };
};

const newState = (): State => ({
  readAt: Number.NEGATIVE_INFINITY,
  readTo: undefined,
  news: 0,
  reading: undefined,
  minutes: new Map(),
  days: new Map(),
  elsewhere: { tokens: 0, costMicros: 0 },
  tokens: 0,
  costMicros: 0,
  calls: 0,
  waiting: [],
});

/** One with calls on their way holds what no row has yet. */
const dropOldest = (states: Map<Scope, State>): void => {
  if (states.size <= MAX_LEDGERS) return;
  for (const [scope, state] of states) {
    if (state.calls > 0 || state.waiting.length > 0 || state.reading) continue;
    states.delete(scope);
    return;
  }
};

/** Since the last reading: what it had no need of may count again. */
const isSetBack = ({ readTo }: State, now: number): boolean => readTo !== undefined && now < readTo;

const read = async ({ store, clock }: LedgerDeps, scope: Scope, state: State): Promise<void> => {
  const now = clock.now();
  const { news } = state;
  const since = Math.max(firstSlotRead(now) * MINUTE_MS, (state.readTo ?? 0) - LATE_MS);
  const [{ minutes, elsewhere }, days] = await Promise.all([store.spent(scope, isoOf(since)), state.readTo === undefined ? store.spentByDay(scope, monthOf(now), isoOf(since)) : []]);
  if (state.readTo === undefined) state.days.clear();
  for (const { day, costMicros } of days) state.days.set(day, costMicros);
  merge(state, minutes);
  state.elsewhere = elsewhere;
  state.readTo = now;
  fold(state, now);
  // What was written while it was read is read with the next question.
  if (news === state.news) state.readAt = clock.mono();
};

/** What is counted here and stands in no row yet must not be lost: the larger number is the truth. */
const merge = (state: State, minutes: ReadonlyArray<Need & { readonly minute: string }>): void => {
  for (const { minute, tokens, costMicros } of minutes) {
    const slot = Date.parse(`${minute}:00Z`) / MINUTE_MS;
    const known = state.minutes.get(slot);
    state.minutes.set(slot, { tokens: Math.max(tokens, known?.tokens ?? 0), costMicros: Math.max(costMicros, known?.costMicros ?? 0) });
  }
};

/** Minutes that no reading asks about again become part of their day. */
const fold = (state: State, now: number): void => {
  const first = firstSlotRead(now);
  for (const [slot, { costMicros }] of state.minutes) {
    if (slot >= first) continue;
    const day = isoOf(slot * MINUTE_MS).slice(0, 10);
    state.days.set(day, (state.days.get(day) ?? 0) + costMicros);
    state.minutes.delete(slot);
  }
  for (const day of state.days.keys()) if (!day.startsWith(monthOf(now))) state.days.delete(day);
};

/** A minute counts until all of it is more than an hour old. */
const firstSlot = (now: number): number => Math.floor((now - HOUR_MS) / MINUTE_MS);
const firstSlotRead = (now: number): number => Math.min(firstSlot(now), dayOf(now) / MINUTE_MS);

const ledgerOf = (state: State): Ledger => ({
  onTheirWay: () => ({ tokens: state.tokens + state.elsewhere.tokens, costMicros: state.costMicros + state.elsewhere.costMicros }),
  elsewhere: () => state.elsewhere,
  lastHour: (now, unit) => lastHour(state, now, unit),
  thisMinute: (now) => {
    const slot = Math.floor(now / MINUTE_MS);
    return { used: state.minutes.get(slot)?.tokens ?? 0, endsAt: (slot + 1) * MINUTE_MS };
  },
  thisDay: (now) => ({ used: costSince(state, dayOf(now)), endsAt: dayOf(now) + 24 * HOUR_MS }),
  thisMonth: (now) => {
    const month = monthOf(now);
    const earlier = [...state.days].reduce((sum, [day, cost]) => sum + (day.startsWith(month) ? cost : 0), 0);
    return { used: earlier + costSince(state, Date.parse(`${month}-01T00:00:00Z`)), endsAt: nextMonth(now) };
  },
  open: (need) => {
    state.calls += 1;
    state.tokens += need.tokens;
    state.costMicros += need.costMicros;
  },
  close: (need, used, at) => close(state, need, used, at),
  changed: (clock, ms, signal) => changed(state, clock, ms, signal),
});

const costSince = (state: State, since: number): number => {
  let sum = 0;
  for (const [slot, { costMicros }] of state.minutes) if (slot * MINUTE_MS >= since) sum += costMicros;
  return sum;
};

const lastHour = (state: State, now: number, unit: keyof Need): ReturnType<Ledger['lastHour']> => {
  const slots = [...state.minutes].filter(([slot]) => slot >= firstSlot(now)).sort(([a], [b]) => a - b);
  const used = slots.reduce((sum, [, spent]) => sum + spent[unit], 0);
  return {
    used,
    freeAt: (limit) => {
      let left = used;
      for (const [slot, spent] of slots) {
        left -= spent[unit];
        if (left < limit) return (slot + 1) * MINUTE_MS + HOUR_MS;
      }
      return now + HOUR_MS;
    },
  };
};

const close = (state: State, need: Need, used: Need, at: number): void => {
  state.calls -= 1;
  state.tokens -= need.tokens;
  state.costMicros -= need.costMicros;
  const slot = Math.floor(at / MINUTE_MS);
  const known = state.minutes.get(slot) ?? { tokens: 0, costMicros: 0 };
  state.minutes.set(slot, { tokens: known.tokens + used.tokens, costMicros: known.costMicros + used.costMicros });
  for (const wake of state.waiting.splice(0)) wake();
};

const changed = async (state: State, clock: Clock, ms: number, signal: AbortSignal): Promise<number> => {
  const begun = clock.mono();
  const done = new AbortController();
  const until = AbortSignal.any([signal, done.signal]);
  let wake = (): void => undefined;
  const ended = new Promise<number>((resolve) => {
    wake = () => resolve(clock.mono() - begun);
  });
  state.waiting.push(wake);
  // An aborted sleep rejects: then the wait is over as well.
  const slept = clock.sleep(ms, until).then(
    () => ms,
    () => ms,
  );
  const took = await Promise.race([ended, slept]);
  done.abort();
  state.waiting = state.waiting.filter((one) => one !== wake);
  return took;
};

const isoOf = (ms: number): string => new Date(ms).toISOString();
const dayOf = (now: number): number => Date.parse(`${isoOf(now).slice(0, 10)}T00:00:00Z`);
const monthOf = (now: number): string => isoOf(now).slice(0, 7);
const nextMonth = (now: number): number => {
  const date = new Date(now);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
};
