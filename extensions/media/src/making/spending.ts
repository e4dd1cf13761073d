/**
 * What is made costs money.
 *
 * S1  The most that it can cost is reserved before a provider is asked, and what it cost is settled after, whatever happens.
 * S2  A provider that refused took nothing. Where nobody knows what became of a request, it counts as used.
 */
import type { Actor, Db, Write } from '@svc/api';
import type { LlmService } from '@svc/ext-llm/contract';
import { wasRefused } from '../drivers/wire.js';
import { priceMicros, type Priced, UNIT_OF } from '../prices.js';

/** On whose behalf. `agentId` is empty for a person without an agent. */
export interface Who {
  readonly actor: Actor;
  readonly agentId: string;
  readonly runId: string;
  readonly signal?: AbortSignal;
}

export interface SpendingDeps {
  readonly llm: Pick<LlmService, 'reserveUnits' | 'settleUnits'>;
  readonly db: Pick<Db, 'commit'>;
  prices(): Readonly<Record<string, number>>;
}

export interface Money {
  readonly reservation: string;
  readonly priceMicros: number;
  readonly quantity: number;
}

export const reserve = async ({ llm, prices }: SpendingDeps, { actor, agentId, runId }: Who, priced: Priced, quantity: number, lastsMs: number): Promise<Money> => {
  const price = priceMicros(priced, prices());
  const units = { provider: priced.provider, model: priced.model, unit: UNIT_OF[priced.kind], quantity, priceMicros: price, lastsMs: Math.max(1_000, lastsMs) };
  const { reservation } = await llm.reserveUnits({ actor, agentId, runId, purpose: 'media' }, units);
  return { reservation, priceMicros: price, quantity };
};

export const usd = ({ priceMicros: price }: Money, used: number): number => Math.ceil(price * used) / 1_000_000;

/** Makes it, and commits what it cost with what `made` gives. */
export const spend = async <T, A>(
  deps: SpendingDeps,
  money: Money,
  make: () => Promise<T>,
  made: (result: T) => Promise<{ readonly used: number; readonly answer: A; readonly writes: readonly Write[] }>,
): Promise<A> => {
  let result: T;
  try {
    result = await make();
  } catch (error) {
    await settle(deps, money, wasRefused(error) ? 0 : money.quantity);
    throw error;
  }
  try {
    const { used, answer, writes } = await made(result);
    await settle(deps, money, used, writes);
    return answer;
  } catch (error) {
    // It was made, and could not be stored. A second settlement of one reservation does nothing.
    await settle(deps, money, money.quantity);
    throw error;
  }
};

const settle = async ({ llm, db }: SpendingDeps, { reservation }: Money, used: number, writes: readonly Write[] = []): Promise<void> => {
  const all = [...(await llm.settleUnits(reservation, used)), ...writes];
  if (all.length > 0) await db.commit(all);
};
