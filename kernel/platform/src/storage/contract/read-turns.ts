/**
 * Whose turn it is to read. What is shipped has the readers of the daemon in the order of asking; third-party extensions
 * have readers of their own, one each at a time, and take turns.
 */
import { storageErrors } from './errors.js';
import type { StatementOwner } from './statement-limits.js';

const MAX_WAITING = 10_000;
const MAX_WAITING_OF_ONE = 100;

export interface ReadTurns<R> {
  /** Rejects with `storage_reads_waiting` where too many wait already. */
  use<T>(owner: StatementOwner, work: (reader: R) => Promise<T>): Promise<T>;
}

interface Lane<R> {
  readonly free: R[];
  /** Whoever waits, by owner; the owner who was served last stands last. */
  readonly waiting: Map<string, Array<(reader: R) => void>>;
  readonly running: Map<string, number>;
  readonly atOnce: number;
  readonly maxWaiting: number;
}

const lane = <R>(readers: readonly R[], atOnce: number, maxWaiting: number): Lane<R> => ({ free: [...readers], waiting: new Map(), running: new Map(), atOnce, maxWaiting });

export const createReadTurns = <R>(own: readonly R[], thirdParty: readonly R[]): ReadTurns<R> => {
  const ownLane = lane(own, own.length, MAX_WAITING);
  const thirdPartyLane = lane(thirdParty, 1, MAX_WAITING_OF_ONE);
  return {
    async use({ id, isThirdParty }, work) {
      const used = isThirdParty ? thirdPartyLane : ownLane;
      // All that is shipped stands in one line.
      const name = isThirdParty ? id : '';
      const reader = take(used, name) ?? (await wait(used, name, id));
      try {
        return await work(reader);
      } finally {
        giveBack(used, name, reader);
      }
    },
  };
};

const take = <R>({ free, running, atOnce }: Lane<R>, name: string): R | undefined => {
  const now = running.get(name) ?? 0;
  if (now >= atOnce) return undefined;
  const reader = free.pop();
  if (reader !== undefined) running.set(name, now + 1);
  return reader;
};

const wait = <R>({ waiting, maxWaiting }: Lane<R>, name: string, ownerId: string): Promise<R> => {
  const line = waiting.get(name) ?? [];
  if (line.length >= maxWaiting) return Promise.reject(storageErrors.reads_waiting(ownerId, line.length));
  waiting.set(name, line);
  return new Promise((resolve) => void line.push(resolve));
};

const giveBack = <R>(used: Lane<R>, name: string, reader: R): void => {
  const now = (used.running.get(name) ?? 1) - 1;
  if (now === 0) used.running.delete(name);
  else used.running.set(name, now);
  used.free.push(reader);
  for (const [next, line] of used.waiting) {
    const given = take(used, next);
    if (given === undefined) continue;
    const begin = line.shift();
    used.waiting.delete(next);
    if (line.length > 0) used.waiting.set(next, line);
    begin?.(given);
    return;
  }
};
