/**
 * What each agent has used, kept in memory beside the usage rows: read from them once, then counted along,
 * and read again when another replica says that it wrote some, and now and then, because what it says can be lost.
 */
import type { Clock } from '@svc/api';
import type { Spent, UsageStore } from '../store.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const MAX_LEDGERS = 1_000;
/** Another replica's calls that were not heard of are seen after this long. */
const REREAD_MS = 15_000;

/** What one call may use at most, or has used. */
export interface Need {
  readonly tokens: number;
  readonly costMicros: number;
}

export interface Ledgers {
  of(agentId: string): Promise<Ledger>;
  /** Somebody else wrote rows of this agent: they are read before the next answer. */
  stale(agentId: string): void;
  size(): number;
}

export interface Ledger {
  onTheirWay(): Need;
  /** `freeAt(limit)`: when less than `limit` will be left in the window. */
  lastHour(now: number, unit: keyof Need): { used: number; freeAt(limit: number): number };
  thisMinute(now: number): { used: number; endsAt: number };
  thisDay(now: number): { used: number; endsAt: number };
  thisMonth(now: number): { used: number; endsAt: number };
  open(need: Need): void;
  close(need: Need, used: Need, now: number): void;
  /** Resolves when a call has ended, after `ms`, or when the signal says so; with the milliseconds that this took. */
  changed(clock: Clock, ms: number, signal: AbortSignal): Promise<number>;
}

interface State {
  readAt: number;
  /** How often somebody else wrote rows. */
  news: number;
  reading: Promise<void> | undefined;
  /** By minute since the epoch; the last 61 count. */
  readonly minutes: Map<number, Need>;
  /** Micro-dollars by `2026-01-31`; those of this month count. */
  readonly days: Map<string, number>;
  tokens: number;
  costMicros: number;
  calls: number;
  waiting: Array<() => void>;
}

export const createLedgers = (deps: { store: Pick<UsageStore, 'spent'>; clock: Clock }): Ledgers => {
  const states = new Map<string, State>();
  return {
    of: async (agentId) => {
      const state = states.get(agentId) ?? { readAt: Number.NEGATIVE_INFINITY, news: 0, reading: undefined, minutes: new Map(), days: new Map(), tokens: 0, costMicros: 0, calls: 0, waiting: [] };
      states.delete(agentId);
      states.set(agentId, state);
      dropOldest(states);
      if (deps.clock.mono() - state.readAt >= REREAD_MS) {
        state.reading ??= read(deps, agentId, state).finally(() => {
          state.reading = undefined;
        });
        await state.reading;
      }
      return ledgerOf(state);
    },
    stale: (agentId) => {
      const state = states.get(agentId);
      if (!state) return;
      state.news += 1;
      state.readAt = Number.NEGATIVE_INFINITY;
    },
    size: () => states.size,
  };
};

/** One with calls on their way holds what no row has yet. */
const dropOldest = (states: Map<string, State>): void => {
  if (states.size <= MAX_LEDGERS) return;
  for (const [id, state] of states) {
    if (state.calls > 0 || state.waiting.length > 0 || state.reading) continue;
    states.delete(id);
    return;
  }
};

const read = async ({ store, clock }: { store: Pick<UsageStore, 'spent'>; clock: Clock }, agentId: string, state: State): Promise<void> => {
  const now = clock.now();
  const { news } = state;
  const { minutes, days } = await store.spent(agentId, { minutesSince: isoOf(now - HOUR_MS), daysSince: `${isoOf(now).slice(0, 7)}-01` });
  merge(state, minutes, days);
  forget(state, now);
  // What was written while it was read is read with the next question.
  if (news === state.news) state.readAt = clock.mono();
};

/** What is counted here and stands in no row yet must not be lost: the larger number is the truth. */
const merge = (state: State, minutes: Spent['minutes'], days: Spent['days']): void => {
  for (const { minute, tokens, costMicros } of minutes) {
    const slot = Date.parse(`${minute}:00Z`) / MINUTE_MS;
    const known = state.minutes.get(slot);
    state.minutes.set(slot, { tokens: Math.max(tokens, known?.tokens ?? 0), costMicros: Math.max(costMicros, known?.costMicros ?? 0) });
  }
  for (const { day, costMicros } of days) state.days.set(day, Math.max(costMicros, state.days.get(day) ?? 0));
};

const forget = (state: State, now: number): void => {
  for (const slot of state.minutes.keys()) if (slot < firstSlot(now)) state.minutes.delete(slot);
  const month = isoOf(now).slice(0, 7);
  for (const day of state.days.keys()) if (!day.startsWith(month)) state.days.delete(day);
};

/** A minute counts until all of it is more than an hour old. */
const firstSlot = (now: number): number => Math.floor((now - HOUR_MS) / MINUTE_MS);

const ledgerOf = (state: State): Ledger => ({
  onTheirWay: () => ({ tokens: state.tokens, costMicros: state.costMicros }),
  lastHour: (now, unit) => lastHour(state, now, unit),
  thisMinute: (now) => {
    const slot = Math.floor(now / MINUTE_MS);
    return { used: state.minutes.get(slot)?.tokens ?? 0, endsAt: (slot + 1) * MINUTE_MS };
  },
  thisDay: (now) => ({ used: state.days.get(isoOf(now).slice(0, 10)) ?? 0, endsAt: nextDay(now) }),
  thisMonth: (now) => {
    const month = isoOf(now).slice(0, 7);
    return { used: [...state.days].reduce((sum, [day, cost]) => sum + (day.startsWith(month) ? cost : 0), 0), endsAt: nextMonth(now) };
  },
  open: (need) => {
    state.calls += 1;
    state.tokens += need.tokens;
    state.costMicros += need.costMicros;
  },
  close: (need, used, now) => close(state, need, used, now),
  changed: (clock, ms, signal) => changed(state, clock, ms, signal),
});

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

const close = (state: State, need: Need, used: Need, now: number): void => {
  state.calls -= 1;
  state.tokens -= need.tokens;
  state.costMicros -= need.costMicros;
  const slot = Math.floor(now / MINUTE_MS);
  const known = state.minutes.get(slot) ?? { tokens: 0, costMicros: 0 };
  state.minutes.set(slot, { tokens: known.tokens + used.tokens, costMicros: known.costMicros + used.costMicros });
  const day = isoOf(now).slice(0, 10);
  state.days.set(day, (state.days.get(day) ?? 0) + used.costMicros);
  forget(state, now);
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
const nextDay = (now: number): number => Date.parse(`${isoOf(now).slice(0, 10)}T00:00:00Z`) + 24 * HOUR_MS;
const nextMonth = (now: number): number => {
  const date = new Date(now);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
};
