/**
 * Keys that areas issue for people, such as those of paired devices and of sign-ins, and the people whom areas brought.
 *
 * D1  A key has 256 random bits and is shown once; only its SHA-256 is stored.
 * D2  It is issued, changed and revoked in the commit of the area that asked for it, with the news for every daemon.
 * D3  After that news no daemon lets a caller in by what it knew before.
 * D4  A key is taken from the commit that issued it on, also where that news has not come yet.
 */
import { createHash } from 'node:crypto';
import { AuthChanged, type Clock, type Db, type Events, type Ids, type Logger, type Role, type Write } from '@svc/api';
import type { CredentialRow } from './credential-rows.js';
import type { PersonRow } from './people/people-rows.js';

export interface Credential {
  /** Who acts by it: `device:<id>`. */
  readonly id: string;
  readonly ownerId: string;
  readonly role: Role;
  /** SHA-256 in hexadecimal digits. */
  readonly keyHash: string;
  readonly createdAt: string;
  readonly seenAt: string | null;
  /** Who acts by it, where that is not its id. */
  readonly actorId: string | null;
  readonly expiresAt: string | null;
}

/** What areas issued, and whom they know. */
export interface Issued {
  readonly credentials: readonly Credential[];
  readonly people: readonly PersonRow[];
}

export interface CredentialDeps {
  readonly db: Db;
  readonly clock: Pick<Clock, 'iso' | 'now'>;
  readonly ids: Pick<Ids, 'hex'>;
  readonly events: Pick<Events, 'event'>;
  readonly log: Logger;
  /** Other credentials open this daemon than before. */
  changed(): void;
}

const KEY_BYTES = 32;
const ISSUED_KEY = /^[0-9a-f]{64}$/;
const hashOf = (key: string): string => createHash('sha256').update(key).digest('hex');
const MAX_ROWS = 10_000;
/** Written no more often than this. */
const SEEN_EVERY_MS = 60_000;

export interface NewCredential {
  readonly name: string;
  readonly personId: string;
  readonly role: Role;
  readonly actorId?: string | undefined;
  readonly expiresAt?: string | undefined;
}

export const createCredentials = ({ changed, clock, db, events, ids, log }: CredentialDeps) => {
  let known: Issued = { credentials: [], people: [] };
  let hasRead = false;
  let names: ReadonlySet<string> = new Set();
  let isRead = false;
  let reading: Promise<void> | undefined;
  let version = 0;
  const seen = new Map<string, number>();
  const read = async (): Promise<void> => {
    for (;;) {
      const asked = version;
      const [rows, people] = await Promise.all([
        db.system('credentials that areas issued').select<CredentialRow>({ from: 'credentials', order: [{ column: 'id' }], limit: MAX_ROWS }),
        db.system('people whom areas brought').select<PersonRow>({ from: 'people', order: [{ column: 'id' }], limit: MAX_ROWS }),
      ]);
      if (asked !== version) continue; // there was news meanwhile
      const before = known;
      names = new Set(rows.map(({ id }) => id));
      for (const id of seen.keys()) if (!names.has(id)) seen.delete(id);
      known = { credentials: rows.map(credentialOf), people };
      isRead = true;
      hasRead = true;
      if (nameOf(before) !== nameOf(known)) changed();
      return;
    }
  };
  const look = (): Promise<void> => {
    reading ??= read().finally(() => {
      reading = undefined;
    });
    return reading;
  };
  const news = (): Write => events.event(AuthChanged, {});
  return {
    all: () => known,
    /** Whether the rows were read since the start of this generation, however long ago. */
    wasRead: () => hasRead,
    /** Undefined once the rows have been read. */
    reading: (): Promise<void> | undefined => (isRead ? undefined : look()),
    look,
    /** What is known is over. */
    forget: (): void => {
      isRead = false;
      version += 1;
    },
    /** Reads the rows again where they hold this key and it was not known. */
    learn: async (key: string): Promise<void> => {
      if (!ISSUED_KEY.test(key)) return;
      const keyHash = hashOf(key);
      const row = await db.system('whether a key was issued').first<CredentialRow>({ from: 'credentials', where: { key_hash: keyHash } });
      if (!row || known.credentials.some((one) => one.keyHash === keyHash)) return;
      version += 1;
      await look();
    },
    issue: ({ name, personId, role, actorId, expiresAt }: NewCredential): { key: string; writes: Write[] } => {
      const key = ids.hex(KEY_BYTES);
      const row: CredentialRow = {
        ...{ id: name, owner_id: personId, role, key_hash: hashOf(key), created_at: clock.iso(), seen_at: null },
        ...{ actor_id: actorId ?? null, expires_at: expiresAt ?? null },
      };
      return { key, writes: [db.insert('credentials', [row]), news()] };
    },
    setRole: (id: string, role: Role): Write[] => [db.update('credentials', ['id'], [{ id, role }], { expect: 'each' }), news()],
    revoke: (gone: readonly string[]): Write[] => [db.remove('credentials', { id: [...gone] }, { expect: 'any' }), news()],
    /** The request of a caller by a credential: nobody waits for this to be written. */
    sawIfIssued: (id: string): void => {
      if (!names.has(id)) return;
      const now = clock.now();
      if (now - (seen.get(id) ?? 0) < SEEN_EVERY_MS) return;
      seen.set(id, now);
      void db.commit([db.update('credentials', ['id'], [{ id, seen_at: clock.iso() }])]).catch((cause: unknown) => log.warn('that a device was seen could not be written down', { id, cause }));
    },
    /** As stored, by id. */
    of: async (wanted: readonly string[]): Promise<Record<string, { role: Role; seenAt: string | null }>> => {
      if (wanted.length === 0) return {};
      const rows = await db.system('when devices were seen').select<CredentialRow>({ from: 'credentials', where: { id: [...wanted] }, limit: wanted.length });
      return Object.fromEntries(rows.map(({ id, role, seen_at: seenAt }) => [id, { role: role as Role, seenAt }])); // `issue` writes roles
    },
  };
};
export type Credentials = ReturnType<typeof createCredentials>;

const credentialOf = (row: CredentialRow): Credential => ({
  ...{ id: row.id, ownerId: row.owner_id, keyHash: row.key_hash, createdAt: row.created_at, seenAt: row.seen_at, actorId: row.actor_id, expiresAt: row.expires_at },
  role: row.role as Role, // `issue` writes roles
});

/** When somebody was seen changes nothing of who may come in, nor does a row of somebody whom the settings name. */
const nameOf = ({ credentials, people }: Issued): string =>
  JSON.stringify([
    credentials.map((one) => ({ ...one, seenAt: undefined })),
    people.flatMap(({ id, role, set_role, disabled, name }) => (role === null && set_role === null && disabled === 0 ? [] : [[id, role, set_role, disabled, name]])),
  ]);
