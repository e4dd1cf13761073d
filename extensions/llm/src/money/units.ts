/**
 * Money for what is not tokens: images, seconds of sound or video, characters that are read aloud.
 *
 * N1  It is reserved before and settled after, under the limits of calls and in their rows.
 * N2  What nobody settles counts as used at its most, once it has lasted as long as it can. Any process can settle it until then.
 */
import type { Clock, Events, Ids, Write } from '@svc/api';
import { type CallContext, LlmUsed, type Units } from '../contract.js';
import type { UsageStore } from '../store.js';
import type { Hold, Quota } from './quota.js';
import type { Reservations } from './reservations.js';

export interface UnitsDeps {
  readonly quota: Pick<Quota, 'hold'>;
  readonly reservations: Pick<Reservations, 'settleUnits'>;
  readonly events: Pick<Events, 'event'>;
  readonly store: Pick<UsageStore, 'insert'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly ids: Pick<Ids, 'uuid'>;
  /** An agent's spending in memory is about to change. */
  willSpend(agentId: string): void;
}

export interface UnitMoney {
  reserve(context: CallContext, units: Units): Promise<{ reservation: string; ceilingMicros: number }>;
  settle(reservation: string, quantity: number): Promise<readonly Write[]>;
}

interface Reserved {
  readonly context: CallContext;
  readonly units: Units;
  readonly hold: Hold;
  readonly overAt: number;
}

const NEVER = new AbortController().signal;

export const createUnitMoney = (deps: UnitsDeps): UnitMoney => {
  /** As many as are reserved and not over: those that are go when the next one comes. */
  const reserved = new Map<string, Reserved>();
  return {
    reserve: async (context, units) => {
      const now = deps.clock.now();
      for (const [id, { overAt, hold, units: old }] of reserved) {
        if (overAt > now) continue;
        // Its row becomes usage by the sweep; here it is only counted no more as on its way.
        hold.settle({ tokens: 0, costMicros: costOf(old, old.quantity) }, now);
        reserved.delete(id);
      }
      const costMicros = costOf(units, units.quantity);
      const ceiling = { provider: units.provider, model: units.model, inputTokens: 0, outputTokens: 0, costMicros, lastsMs: units.lastsMs, units };
      const hold = await deps.quota.hold(context, async () => ceiling, NEVER);
      const reservation = hold.id;
      reserved.set(reservation, { context, units, hold, overAt: now + units.lastsMs });
      return { reservation, ceilingMicros: costMicros };
    },
    settle: async (reservation, quantity) => {
      const one = reserved.get(reservation);
      if (!one) return settleLeft(deps, reservation, quantity);
      reserved.delete(reservation);
      const { context, units, hold } = one;
      deps.willSpend(context.agentId);
      const now = deps.clock.now();
      const costMicros = costOf(units, quantity);
      const usage = { inputTokens: 0, outputTokens: 0, costMicros, estimated: false };
      const { provider, model, unit } = units;
      const record = { id: deps.ids.uuid(), context, provider, model, usage, attempts: [], at: new Date(now).toISOString(), units: { unit, quantity } };
      return [...(quantity === 0 ? [] : deps.store.insert([record])), ...hold.settle({ tokens: 0, costMicros }, now)];
    },
  };
};

/** Reserved by an earlier generation or another process. */
const settleLeft = async (deps: UnitsDeps, reservation: string, quantity: number): Promise<readonly Write[]> => {
  const left = await deps.reservations.settleUnits(reservation, quantity);
  if (!left) return [];
  deps.willSpend(left.agentId);
  // Nobody's own call: each process reads it anew.
  return [...left.writes, deps.events.event(LlmUsed, { agentId: left.agentId, by: '' })];
};

const costOf = ({ priceMicros }: Units, quantity: number): number => Math.ceil(priceMicros * quantity);
