/** Keys of calls from outside: a call that comes again with its id within 24 hours has the same one, on every daemon. */
import { createHash } from 'node:crypto';
import { type Clock, type Db, isSvcError } from '@svc/api';

export const CALLS_KEPT_MS = 24 * 3_600_000;

interface CallRow {
  readonly id: string;
  readonly created_at: string;
}

/** `table`: with the columns id, owner_id and created_at. */
export const createCallKeys =
  ({ db, clock }: { readonly db: Db; readonly clock: Pick<Clock, 'now' | 'iso'> }, table: string) =>
  async (ownerId: string, said: string): Promise<string> => {
    const id = createHash('sha256').update(`${ownerId}\n${said}`).digest('hex');
    const known = (): Promise<CallRow | undefined> => db.system('calls of hooks').first<CallRow>({ from: table, where: { id } });
    const isKept = (row: CallRow): boolean => clock.now() - Date.parse(row.created_at) < CALLS_KEPT_MS;
    const before = await known();
    let row = before;
    if (!before || !isKept(before)) {
      const now = { id, owner_id: ownerId, created_at: clock.iso() };
      const claim = before ? [db.remove(table, { id, created_at: before.created_at }, { expect: 1 })] : [];
      row = await db.commit([...claim, db.insert(table, [now])]).then(
        () => now,
        (error: unknown) => {
          // The same call came twice at once.
          if (isSvcError(error) && error.code === 'storage_conflict') return known();
          throw error;
        },
      );
    }
    return `hook:${id}:${row?.created_at ?? ''}`;
  };
