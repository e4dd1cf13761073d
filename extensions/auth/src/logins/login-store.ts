/** The rows of logins. The id that a browser holds is never among them: whoever reads the table can log in nowhere. */
import { type Db, defineTable, type RowOf, type Write } from '@svc/api';

/** `binding` ties the row to one key: see keyring.ts. */
export const Logins = defineTable('logins', '1.0.0', {
  columns: {
    id_hash: { kind: 'text', primaryKey: true },
    owner_id: { kind: 'text', notNull: true },
    actor_id: { kind: 'text', notNull: true },
    binding: { kind: 'text', notNull: true },
    remembered: { kind: 'boolean', notNull: true },
    created_at: { kind: 'text', notNull: true },
    seen_at: { kind: 'text', notNull: true },
    expires_at: { kind: 'text', notNull: true },
  },
  owner: 'owner_id',
  indexes: [['actor_id', 'seen_at'], ['expires_at']],
});

export type LoginRow = RowOf<typeof Logins>;

export interface LoginStore {
  get(idHash: string): Promise<LoginRow | undefined>;
  /** Those of one person beyond the newest `keep`, by when they were last seen. */
  beyond(actorId: string, keep: number): Promise<string[]>;
  /** Some that are over at this moment. */
  over(at: string): Promise<string[]>;
  insert(row: LoginRow): Write;
  /** Changes nothing where it was ended meanwhile. */
  seen(row: Pick<LoginRow, 'id_hash' | 'seen_at' | 'expires_at'>): Write;
  remove(idHashes: readonly string[]): Write;
  commit(writes: readonly Write[]): Promise<void>;
}

const MAX_AT_ONCE = 500;

export const createLoginStore = (db: Db): LoginStore => ({
  get: (idHash) => db.system('who calls').first<LoginRow>({ from: 'logins', where: { id_hash: idHash } }),
  beyond: async (actorId, keep) => {
    const rows = await db
      .system('logins of one person')
      .select<LoginRow>({ from: 'logins', where: { actor_id: actorId }, order: [{ column: 'seen_at', descending: true }, { column: 'id_hash' }], limit: MAX_AT_ONCE });
    return rows.slice(keep).map(({ id_hash }) => id_hash);
  },
  over: async (at) => (await db.system('logins that ended').select<LoginRow>({ from: 'logins', where: { expires_at: { lte: at } }, limit: MAX_AT_ONCE })).map(({ id_hash }) => id_hash),
  insert: (row) => db.insert('logins', [row]),
  seen: (row) => db.update('logins', ['id_hash'], [row]),
  remove: (idHashes) => db.remove('logins', { id_hash: idHashes }),
  commit: async (writes) => void (await db.commit(writes)),
});
