/**
 * Rows of authenticators.
 *
 * C1  A code works once: its step is set only where it is above the last one, in one statement.
 * C2  An attempt is counted before the code is looked at, so that many at once are no more than five.
 */
import type { Clock, Db, Write } from '@svc/api';
import { AttemptRows, type AttemptRow, RecoveryRows, type RecoveryRow, TotpRows, type TotpRow } from '../contract.js';

export type Purpose = 'setup' | 'approve' | 'revoke';

export const MAX_FAILURES = 5;
const LOCK_MS = 5 * 60_000;
const WHY = 'the authenticator of the caller';

export type TotpStore = ReturnType<typeof createTotpStore>;

export const createTotpStore = (db: Db, clock: Pick<Clock, 'now' | 'iso'>) => {
  const attempts = db.table(AttemptRows.name);
  const totp = db.table(TotpRows.name);
  return {
    find: (ownerId: string): Promise<TotpRow | undefined> => db.system(WHY).first<TotpRow>({ from: TotpRows.name, where: { owner_id: ownerId } }),
    /** When codes are checked again; undefined where they are. */
    lockedUntil: async (ownerId: string, purpose: Purpose): Promise<string | undefined> => {
      const row = await db.system(WHY).first<AttemptRow>({ from: AttemptRows.name, where: { owner_id: ownerId, purpose } });
      return row?.locked_until && row.locked_until > clock.iso() ? row.locked_until : undefined;
    },
    /** Counts one (C2). A conflict while codes are not checked. */
    attempt: async (ownerId: string, purpose: Purpose): Promise<void> => {
      const now = clock.iso();
      const until = new Date(clock.now() + LOCK_MS).toISOString();
      await db.commit([
        db.insert(AttemptRows.name, [{ owner_id: ownerId, purpose, failures: 0, locked_until: null }], { ifAbsent: true }),
        db.sql(
          `UPDATE ${attempts} SET failures = CASE WHEN locked_until IS NULL THEN failures + 1 ELSE 1 END,
             locked_until = CASE WHEN locked_until IS NULL AND failures + 1 >= ? THEN ? ELSE NULL END
           WHERE owner_id = ? AND purpose = ? AND (locked_until IS NULL OR locked_until <= ?)`,
          [MAX_FAILURES, until, ownerId, purpose, now],
          { expect: 1 },
        ),
      ]);
    },
    succeeded: (ownerId: string, purpose: Purpose): Write => db.upsert(AttemptRows.name, ['owner_id', 'purpose'], [{ owner_id: ownerId, purpose, failures: 0, locked_until: null }]),
    useStep: (ownerId: string, keyId: string, step: number, verifiedAt: string | null): Write =>
      db.sql(
        `UPDATE ${totp} SET last_step = ?, verified_at = COALESCE(?, verified_at) WHERE owner_id = ? AND last_step < ? AND (active_key = ? OR pending_key = ?)`,
        [step, verifiedAt, ownerId, step, keyId, keyId],
        { expect: 1 },
      ),
    verified: (ownerId: string, at: string): Write => db.update(TotpRows.name, ['owner_id'], [{ owner_id: ownerId, verified_at: at }]),
    /** `from`: what the row was; undefined where there was none. */
    setPending: (ownerId: string, from: TotpRow | undefined, keyId: string): Write =>
      from
        ? db.sql(
            `UPDATE ${totp} SET pending_key = ? WHERE owner_id = ? AND COALESCE(pending_key, '') = ? AND COALESCE(active_key, '') = ?`,
            [keyId, ownerId, from.pending_key ?? '', from.active_key ?? ''],
            {
              expect: 1,
            },
          )
        : db.insert(TotpRows.name, [{ owner_id: ownerId, active_key: null, pending_key: keyId, last_step: 0, verified_at: null }]),
    activate: (ownerId: string, keyId: string, step: number): Write =>
      db.sql(`UPDATE ${totp} SET active_key = ?, pending_key = NULL, last_step = ?, verified_at = NULL WHERE owner_id = ? AND pending_key = ? AND last_step < ?`, [keyId, step, ownerId, keyId, step], {
        expect: 1,
      }),
    remove: (ownerId: string): Write => db.remove(TotpRows.name, { owner_id: ownerId }, { expect: 1 }),

    recovery: (ownerId: string, keyId: string): Promise<number> => db.system(WHY).count(RecoveryRows.name, { owner_id: ownerId, key_id: keyId }),
    addRecovery: (rows: readonly RecoveryRow[]): Write => db.insert(RecoveryRows.name, rows),
    hasRecovery: async (ownerId: string, hash: string): Promise<boolean> => (await db.system(WHY).count(RecoveryRows.name, { owner_id: ownerId, hash })) === 1,
    /** Works once: a second use is a conflict. */
    useRecovery: (ownerId: string, hash: string): Write => db.remove(RecoveryRows.name, { owner_id: ownerId, hash }, { expect: 1 }),
    dropRecovery: (ownerId: string, keyIds: readonly string[]): Write => db.remove(RecoveryRows.name, { owner_id: ownerId, key_id: keyIds }),
  };
};
