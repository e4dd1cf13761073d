/** Rows of links. */
import { type Actor, type Db, ownedRows, type Row, type Write } from '@svc/api';
import { sessionsErrors } from '../errors.js';
import { ShareRows, type ShareRow } from '../tables.js';

export interface ShareStore {
  /** Those that the actor may see, of one session or of all, the newest first. */
  list(actor: Actor, sessionId?: string): Promise<ShareRow[]>;
  /** Throws `sessions_no_such_share`. */
  get(actor: Actor, id: string): Promise<ShareRow>;
  /** By whom ever it is read, while its conversation is there. */
  byHash(tokenHash: string): Promise<ShareRow | undefined>;
  /** How many the person has. */
  countOf(ownerId: string): Promise<number>;
  insert(row: ShareRow): Write;
  update(row: ShareRow): Write;
  remove(row: ShareRow): Write;
  /** Of one person, those over at this time. */
  removeOver(ownerId: string, at: string): Write;
}

export const MAX_LISTED_SHARES = 500;
/** Why rows are read with no actor. */
const SHARED = 'a conversation that its person shared by a link';

export const createShareStore = (db: Db): ShareStore => {
  const [shares, sessions, closed] = [db.table('shares'), db.table('sessions'), db.table('closed')];
  const newestFirst = [{ column: 'created_at', descending: true }] as const;
  const rows = ownedRows(db, ShareRows, { order: newestFirst, missing: () => sessionsErrors.no_such_share() });
  return {
    list: async (actor, sessionId) => (await rows.page(actor, { limit: MAX_LISTED_SHARES }, sessionId === undefined ? {} : { session_id: sessionId })).rows,
    get: rows.get,
    byHash: (tokenHash) =>
      db
        .system(SHARED)
        .readOne<ShareRow & Row>(
          `SELECT h.* FROM ${shares} h JOIN ${sessions} s ON s.id = h.session_id WHERE h.token_hash = ? AND s.aside IS NULL AND NOT EXISTS (SELECT 1 FROM ${closed} c WHERE c.id = h.session_id)`,
          [tokenHash],
        ),
    countOf: (ownerId) => db.system('links of one person').count('shares', { owner_id: ownerId }),
    insert: rows.insert,
    update: rows.update,
    remove: rows.remove,
    removeOver: (ownerId, at) => db.remove('shares', { owner_id: ownerId, expires_at: { lt: at } }),
  };
};
