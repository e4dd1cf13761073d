/** Facts for the audit trail as they are stored: events of the kernel, which the audit area enters in the trail and does not delete. */
import { type AuditFact, AuditRecorded, type Db } from '@svc/api';

const AT_ONCE = 500;
const LISTENER = 'audit';

export interface FactCount {
  /** Stored and not entered yet. */
  readonly waiting: number;
  /** Deleted before they could be entered. */
  readonly lost: number;
}

export const countFacts = async (db: Db): Promise<FactCount> => {
  const events = db.table('events');
  const entered = `COALESCE((SELECT seq FROM ${db.table('offsets')} WHERE listener = ?), 0)`;
  const found = await db
    .system('facts that wait for the audit trail')
    .readOne<Record<'waiting' | 'first' | 'entered', number | string | null>>(
      `SELECT (SELECT COUNT(*) FROM ${events} WHERE name = ? AND (seq IS NULL OR seq > ${entered})) AS waiting, (SELECT MIN(seq) FROM ${events}) AS first, ${entered} AS entered`,
      [AuditRecorded.name, LISTENER, LISTENER],
    );
  const [first, last] = [Number(found?.first ?? 0), Number(found?.entered ?? 0)];
  return { waiting: Number(found?.waiting ?? 0), lost: last === 0 ? 0 : Math.max(0, first - last - 1) };
};

/** Takes a person out of facts, whether they were entered or wait. Resolves with how many facts were theirs. What is left of each is entered without an owner and without personal details. */
export const eraseFacts = async (db: Db, ownerId: string): Promise<number> => {
  let erased = 0;
  for (let after = 0; ; ) {
    const rows = await db
      .system('erasing a person from facts for the audit trail')
      .read<{ id: number; data: string }>(`SELECT id, data FROM ${db.table('events')} WHERE id > ? AND name = ? AND data LIKE ? ORDER BY id LIMIT ${AT_ONCE}`, [
        after,
        AuditRecorded.name,
        patternOf(ownerId),
      ]);
    const theirs = rows.flatMap(({ id, data }) => {
      const fact = JSON.parse(data) as AuditFact; // the kernel wrote it by this schema
      return fact.ownerId === ownerId ? [{ id, data: JSON.stringify({ ...fact, ownerId: '', personal: {} }) }] : [];
    });
    if (theirs.length > 0) await db.commit([db.update('events', ['id'], theirs)]);
    erased += theirs.length;
    const last = rows.at(-1);
    if (!last || rows.length < AT_ONCE) return erased;
    after = last.id;
  }
};

/** Finds a few too many: what LIKE or its escapes would read otherwise is any character. */
const patternOf = (ownerId: string): string => `%"ownerId":${JSON.stringify(ownerId).replaceAll(/[\\%_]/g, '_')}%`;
