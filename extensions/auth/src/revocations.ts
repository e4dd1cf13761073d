/**
 * Keys that somebody took out of the settings of one daemon open none of the daemons on its database.
 *
 * R1  Settings name keys for each daemon; a key that is revoked anywhere is refused everywhere, whatever the settings say.
 * R2  What counts is the change of a daemon that runs. A daemon that starts with other keys than another revokes none of those.
 * R3  Whoever puts the key back, where it was missing, makes it valid again.
 * R4  Only the SHA-256 of a key is stored.
 */
import { AuthChanged, type Clock, type Db, defineTable, type Events, type Logger, type RowOf } from '@svc/api';

export const RevokedKeys = defineTable('revoked_keys', '1.0.0', { columns: { key_hash: { kind: 'text', primaryKey: true }, revoked_at: { kind: 'text', notNull: true } } });

export interface Revocations {
  /** SHA-256 in hexadecimal digits of keys that open nothing. */
  all(): ReadonlySet<string>;
  /** Undefined once the rows have been read. */
  reading(): Promise<void> | undefined;
  /** Reads what other daemons did, and makes up for what could not be written. Rejects when the database does not answer. */
  look(): Promise<void>;
  /** The settings of this daemon name these keys now. The first call names those of its start. */
  name(keys: ReadonlySet<string>): void;
}

export interface RevocationDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly events: Pick<Events, 'event'>;
  readonly log: Logger;
  /** Other keys open this daemon than before. */
  changed(): void;
}

/** So many keys were never taken out of one file. */
const MAX_ROWS = 10_000;

export const createRevocations = ({ changed, clock, db, events, log }: RevocationDeps): Revocations => {
  let revoked: ReadonlySet<string> = new Set();
  let named: ReadonlySet<string> | undefined;
  /** What has to be written: true for a key that was taken out. */
  const unwritten = new Map<string, boolean>();
  let isRead = false;
  let queue: Promise<void> = Promise.resolve();
  const write = async (): Promise<void> => {
    if (unwritten.size === 0) return;
    const now = clock.iso();
    const keys = [...unwritten];
    const out = keys.flatMap(([key_hash, isOut]) => (isOut ? [{ key_hash, revoked_at: now }] : []));
    await db.commit([db.remove('revoked_keys', { key_hash: keys.map(([key]) => key) }), ...(out.length > 0 ? [db.insert('revoked_keys', out)] : []), events.event(AuthChanged, {})]);
    for (const [key, isOut] of keys) if (unwritten.get(key) === isOut) unwritten.delete(key);
  };
  const read = async (): Promise<void> => {
    const rows = await db.system('keys that are revoked').select<RowOf<typeof RevokedKeys>>({ from: 'revoked_keys', limit: MAX_ROWS });
    const before = revoked;
    // What was put back here counts from then on, and not from when that is written.
    revoked = new Set(rows.map(({ key_hash: key }) => key).filter((key) => unwritten.get(key) !== false));
    const isSame = before.size === revoked.size && [...before].every((key) => revoked.has(key));
    isRead = true;
    if (!isSame) changed();
  };
  const look = (): Promise<void> => {
    const work = queue.then(write).then(read);
    queue = work.catch(() => undefined); // whoever asked hears of it
    return work;
  };
  return {
    all: () => revoked,
    reading: () => (isRead ? undefined : look()),
    look,
    name: (keys) => {
      const before = named;
      named = keys;
      if (!before) return;
      for (const key of before) if (!keys.has(key)) unwritten.set(key, true);
      for (const key of keys) if (!before.has(key)) unwritten.set(key, false);
      const stillRevoked = new Set([...revoked].filter((key) => unwritten.get(key) !== false));
      if (stillRevoked.size < revoked.size) {
        revoked = stillRevoked;
        changed();
      }
      if (unwritten.size > 0) void look().catch((cause: unknown) => log.warn('Keys that were taken out of the settings could not be revoked at the other daemons; svc tries again.', { cause }));
    },
  };
};
