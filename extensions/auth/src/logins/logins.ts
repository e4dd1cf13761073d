/**
 * Browsers that have shown a key once and are known by a cookie since.
 *
 * L1  The cookie holds 256 random bits; kept is only their hash.
 * L2  A login is worth what its key is worth now: its role is that of the key, and without the key it is nothing.
 * L3  One that was ended, or is over, opens nothing any more, in any process, and what it holds open is validated again.
 * L4  A person has 20 at most; the one that was not seen for the longest goes first.
 */
import { createHash } from 'node:crypto';
import { type Actor, AuthChanged, type Clock, type Events, type Ids, cacheRows, type Logger } from '@svc/api';
import type { Keyring } from '../keyring.js';
import type { LoginRow, LoginStore } from './login-store.js';

const HOUR_MS = 3_600_000;
/** Of one that is remembered: counted anew each time it is seen. */
const REMEMBERED_MS = 30 * 24 * HOUR_MS;
/** Of any other: counted once, a working day with its breaks. */
const UNREMEMBERED_MS = 12 * HOUR_MS;
/** Written down that it was seen, no more often than this. */
const SEEN_EVERY_MS = HOUR_MS;
const ID_BYTES = 32;
const MAX_PER_PERSON = 20;

export interface Login {
  readonly actor: Actor;
  /** In milliseconds of the clock. */
  readonly expiresAt: number;
  readonly isRemembered: boolean;
}

export interface Logins {
  /** Undefined for a key that nobody has. `instead` is the login of the same browser that goes for it. */
  create(
    key: string,
    options: { readonly isRemembered: boolean; readonly instead?: string | undefined; readonly forMs?: number | undefined },
  ): Promise<{ readonly id: string; readonly login: Login } | undefined>;
  /** Of a page that is open while the daemon has no key (U3). Undefined where it has one. */
  createOpen(options: { readonly instead?: string | undefined }): Promise<{ readonly id: string; readonly login: Login } | undefined>;
  /** Answers at once for one that was read a moment ago. */
  find(id: string): Login | undefined | Promise<Login | undefined>;
  /** Does nothing where there is none. */
  end(id: string): Promise<void>;
  /** Removes those that are over. */
  sweep(): Promise<void>;
  /** Keys or logins have changed, here or in another process: all are read anew. */
  forget(): void;
}

export interface LoginDeps {
  readonly store: LoginStore;
  readonly keyring: () => Keyring;
  readonly clock: Clock;
  readonly ids: Pick<Ids, 'bytes'>;
  readonly events: Pick<Events, 'event'>;
  readonly log: Logger;
}

/** A login as it is kept in memory. */
interface Kept extends Login {
  readonly idHash: string;
  seenAt: number;
}

export const createLogins = (deps: LoginDeps): Logins => {
  const { store, clock, events } = deps;
  const kept = cacheRows<Kept | undefined>(clock);
  const remove = async (idHashes: readonly string[]): Promise<void> => {
    if (idHashes.length > 0) await store.commit([store.remove(idHashes), events.event(AuthChanged, {})]);
  };
  const validated = (login: Kept | undefined): Login | undefined | Promise<Login> => {
    const now = clock.now();
    if (!login || login.expiresAt <= now) return undefined;
    return now - login.seenAt < SEEN_EVERY_MS ? login : noteSeen(deps, login, now).finally(() => kept.changed(login.idHash));
  };
  return {
    create: (key, { isRemembered, instead, forMs }) => make(deps, (id) => deps.keyring().bind(key, id), { isRemembered, instead, forMs }),
    createOpen: ({ instead }) => make(deps, (id) => deps.keyring().bindOpen(id), { isRemembered: true, instead }),
    find: (id) => {
      const idHash = hashOf(id);
      const found = kept.get(idHash);
      return found ? validated(found) : kept.load(idHash, () => read(deps, id, idHash)).then(validated);
    },
    end: async (id) => {
      const idHash = hashOf(id);
      if (!(await store.get(idHash))) return;
      kept.willChange(idHash);
      await remove([idHash]);
      kept.changed(idHash);
    },
    sweep: async () => remove(await store.over(clock.iso())),
    forget: () => kept.clear(),
  };
};

type Bind = (id: string) => ReturnType<Keyring['bindOpen']>;

type MakeOptions = Parameters<Logins['create']>[1];

async function make({ clock, events, ids, store }: LoginDeps, bind: Bind, { isRemembered, instead, forMs }: MakeOptions): ReturnType<Logins['create']> {
  const id = Buffer.from(ids.bytes(ID_BYTES)).toString('base64url');
  const bound = bind(id);
  if (!bound) return undefined;
  const { actor, binding } = bound;
  const expiresAt = clock.now() + (isRemembered ? REMEMBERED_MS : (forMs ?? UNREMEMBERED_MS));
  const now = clock.iso();
  const row: LoginRow = {
    id_hash: hashOf(id),
    owner_id: actor.ownerId,
    actor_id: actor.id,
    binding,
    remembered: isRemembered ? 1 : 0,
    created_at: now,
    seen_at: now,
    expires_at: new Date(expiresAt).toISOString(),
  };
  const old = await store.beyond(actor.id, MAX_PER_PERSON - 1);
  if (instead !== undefined && (await store.get(hashOf(instead)))) old.push(hashOf(instead));
  await store.commit([store.insert(row), ...(old.length === 0 ? [] : [store.remove(old), events.event(AuthChanged, {})])]);
  return { id, login: { actor, expiresAt, isRemembered } };
}

/** Undefined too where the key that it rests on opens nothing any more (L2). */
async function read({ store, keyring }: LoginDeps, id: string, idHash: string): Promise<Kept | undefined> {
  const row = await store.get(idHash);
  const actor = row && keyring().findBound(row.actor_id, row.binding, id);
  return actor && { idHash, actor, expiresAt: Date.parse(row.expires_at), isRemembered: row.remembered === 1, seenAt: Date.parse(row.seen_at) };
}

/** Nobody is turned away because this could not be written. */
async function noteSeen({ store, clock, log }: LoginDeps, login: Kept, now: number): Promise<Login> {
  // Whoever asks meanwhile need not write it too.
  login.seenAt = now;
  const expiresAt = login.isRemembered ? now + REMEMBERED_MS : login.expiresAt;
  try {
    await store.commit([store.seen({ id_hash: login.idHash, seen_at: clock.iso(), expires_at: new Date(expiresAt).toISOString() })]);
    return { ...login, expiresAt };
  } catch (cause) {
    log.warn('that a login was seen could not be written down', { actor: login.actor.id, cause });
    return login;
  }
}

const hashOf = (id: string): string => createHash('sha256').update(id).digest('hex');
