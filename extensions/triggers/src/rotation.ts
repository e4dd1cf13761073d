/**
 * Secrets that were changed.
 *
 * S1  The secret before a change holds for 24 hours more, so that the other side may change its own at any time of them. One that is taken away holds no more.
 */
import { type Clock, type Db, isSvcError, type Secrets } from '@svc/api';

export interface RotationRow {
  readonly id: string;
  readonly owner_id: string;
  /** Of the secret in the vault. */
  readonly name: string;
  readonly until: string;
}

export interface RotationDeps {
  readonly db: Db;
  readonly secrets: Pick<Secrets, 'login' | 'put' | 'delete'>;
  readonly clock: Pick<Clock, 'now'>;
}

export interface Rotations {
  /** To be called before the new value is stored; null and an empty text take the secret away. */
  changing(row: { readonly id: string; readonly owner_id: string }, name: string, next: string | null): Promise<void>;
  /** Names of the secrets that hold now, the newest first. */
  standing(id: string, name: string): Promise<readonly string[]>;
  /** Deletes those whose time is over. */
  prune(): Promise<void>;
}

const HOLDS_MS = 24 * 3_600_000;
const MAX_AT_ONCE = 1_000;
const beforeOf = (name: string): string => `${name}_before`;

/** `table`: with the columns of a row. */
export const createRotations = ({ db, secrets, clock }: RotationDeps, table: string): Rotations => {
  const drop = async (id: string, name: string): Promise<void> => {
    await secrets.delete(beforeOf(name));
    await db.commit([db.remove(table, { id }, { expect: 'any' })]);
  };
  return {
    changing: async ({ id, owner_id }, name, next) => {
      if (next === null || next === '') return drop(id, name);
      const before = await secrets.login({ secret: name });
      // A change that is tried again has stored it already.
      if (before === undefined || before === next) return;
      await secrets.put(beforeOf(name), before);
      const row = { id, owner_id, name, until: new Date(clock.now() + HOLDS_MS).toISOString() };
      await db.commit([db.remove(table, { id }, { expect: 'any' }), db.insert(table, [row])]).catch((error: unknown) => {
        // Two changes at once: one row says the same as the other.
        if (!(isSvcError(error) && error.code === 'storage_conflict')) throw error;
      });
    },
    standing: async (id, name) => {
      const row = await db.system('a secret that was changed').first<RotationRow>({ from: table, where: { id } });
      return row && Date.parse(row.until) > clock.now() ? [name, beforeOf(name)] : [name];
    },
    prune: async () => {
      const over = await db.system('secrets that hold no more').select<RotationRow>({ from: table, where: { until: { lt: new Date(clock.now()).toISOString() } }, limit: MAX_AT_ONCE });
      for (const { id, name } of over) await drop(id, name);
    },
  };
};
