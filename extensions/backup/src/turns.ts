/** One row that all daemons on a database share: when the last scheduled backup was made, and who makes the next one. */
import { type Db, defineTable, isSvcError, type RowOf } from '@svc/api';

const ID = 'scheduled';

/** Times in milliseconds since the epoch. Until `busy_until` nobody else begins. */
export const Turns = defineTable('turns', '1.0.0', {
  columns: { id: { kind: 'text', primaryKey: true }, done_at: { kind: 'integer', notNull: true }, busy_until: { kind: 'integer', notNull: true } },
});

export type Turn = Pick<RowOf<typeof Turns>, 'done_at' | 'busy_until'>;

export interface ScheduleTurns {
  /** Undefined before the first backup of a schedule. */
  read(): Promise<Turn | undefined>;
  /** Compare and set: false where another daemon was faster. */
  change(seen: Turn | undefined, next: Turn): Promise<boolean>;
}

export const scheduleTurns = (db: Db): ScheduleTurns => ({
  read: () => db.system('the schedule of backups').first<Turn>({ from: Turns.name, columns: ['done_at', 'busy_until'], where: { id: ID } }),
  change: async (seen, next) => {
    // Of two that take the same row away, one finds none.
    const taken = seen ? [db.remove(Turns.name, { id: ID, ...seen }, { expect: 1 })] : [];
    try {
      await db.commit([...taken, db.insert(Turns.name, [{ id: ID, ...next }])]);
      return true;
    } catch (error) {
      if (isSvcError(error) && error.code === 'storage_conflict') return false;
      throw error;
    }
  },
});
