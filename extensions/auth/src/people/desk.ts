/**
 * What owners and admins see and change of people.
 *
 * M1  An admin changes no owner and makes nobody one; a device changes nobody.
 * M2  Nobody changes themselves, and one owner stays, whichever daemons take them away at once.
 * M3  A change holds on this daemon before it is answered, and on every other one with its news.
 */
import { type Actor, AuthChanged, type Clock, createTurns, type Db, type Events, isSvcError, type OwnHook, type Write } from '@svc/api';
import type { AuthDeviceNames, AuthLogout } from '../contract.js';
import type { Credential, Credentials } from '../credentials.js';
import { authErrors } from '../errors.js';
import { type Keyring, leastOf, type RoleOfPerson } from '../keyring.js';
import type { User } from '../known-keys.js';
import type { LoginRow } from '../logins/login-store.js';
import type { PersonRow } from './people-rows.js';
import type { Access, Person, PersonDetail } from './resource.js';
import { rowOf } from './seen.js';

export interface DeskDeps {
  readonly db: Db;
  readonly clock: Pick<Clock, 'iso'>;
  readonly events: Pick<Events, 'event'>;
  readonly keyring: () => Keyring;
  readonly credentials: Credentials;
  readonly users: () => readonly User[];
  readonly deviceNames: OwnHook<typeof AuthDeviceNames>;
  readonly logOut: OwnHook<typeof AuthLogout>;
}

export interface Change {
  readonly role?: RoleOfPerson | null;
  readonly disabled?: boolean;
}

type Known = Omit<Person, 'logins' | 'devices' | 'last_seen'> & { readonly seenAt: string | null };

const MAX_LOGINS = 10_000;
const OWNER_ID = 'owner';
const SETTINGS = 'settings';

export const createDesk = (deps: DeskDeps) => {
  const { clock, credentials, db, events, keyring, logOut } = deps;
  /** One change after the other, so that two owners cannot disable each other at once. */
  const inTurn = createTurns();
  const commit = async (writes: readonly Write[]): Promise<void> => {
    await db.commit([...writes, events.event(AuthChanged, {})]);
    credentials.forget();
    await credentials.look();
  };
  const named = async (id: string): Promise<Known> => {
    await credentials.look();
    const everybody = knownOf(deps);
    const found = everybody.find((one) => one.id === id) ?? everybody.find((one) => one.id === `user:${id}`);
    if (!found) throw authErrors.person_not_found(id);
    return found;
  };
  const detailed = async (id: string): Promise<PersonDetail> => {
    const [person] = await shownOf(deps, [await named(id)]);
    if (!person) throw authErrors.person_not_found(id);
    return person;
  };
  const mayChange = (actor: Actor, { id, role }: Known): void => {
    if (keyring().isDevice(actor)) throw authErrors.person_by_device();
    if (role === 'owner' && actor.role !== 'owner' && keyring().personOf(actor) !== id) throw authErrors.person_above();
  };
  /** Only while another owner stays. Two daemons can ask at once, so the database decides. */
  const ownerTaken = (id: string, { disabled, set_role: role }: { disabled?: number; set_role?: RoleOfPerson | null }): Write => {
    const named = knownOf(deps).filter((one) => one.id !== OWNER_ID && one.id !== id && one.source === SETTINGS && one.role === 'owner');
    const table = db.table('people');
    const off = named.length === 0 ? '0' : `(SELECT COUNT(*) FROM ${table} WHERE (disabled = 1 OR COALESCE(set_role, 'owner') <> 'owner') AND id IN (${named.map(() => '?').join(', ')}))`;
    const brought = `(SELECT COUNT(*) FROM ${table} WHERE source <> '${SETTINGS}' AND disabled = 0 AND COALESCE(set_role, role) = 'owner' AND id <> ?)`;
    const sets = [...(disabled === undefined ? [] : ['disabled = ?']), ...(role === undefined ? [] : ['set_role = ?'])].join(', ');
    return db.sql(
      `UPDATE ${table} SET ${sets} WHERE id = ? AND ${named.length} - ${off} + ${brought} > 0`,
      [...(disabled === undefined ? [] : [disabled]), ...(role === undefined ? [] : [role]), id, ...named.map((one) => one.id), id],
      { expect: 1 },
    );
  };
  const needsOwner = (): boolean => !keyring().hasOwnerKey && !keyring().isOpen;
  return {
    list: async (): Promise<Person[]> => {
      await credentials.look();
      return (await shownOf(deps, knownOf(deps))).map(({ access: _, ...person }) => person);
    },
    get: async (id: string): Promise<PersonDetail | undefined> => detailed(id),
    change: (actor: Actor, key: string, { disabled, role }: Change): Promise<PersonDetail> =>
      inTurn('people', async () => {
        const person = await named(key);
        mayChange(actor, person);
        if (person.id === keyring().personOf(actor)) throw authErrors.person_yourself();
        if (person.id === OWNER_ID) throw authErrors.person_has_key();
        if (role !== undefined && person.source === SETTINGS) throw authErrors.person_in_settings(person.name);
        if (role === 'owner' && actor.role !== 'owner') throw authErrors.person_above();
        const row = credentials.all().people.find(({ id }) => id === person.id);
        const next = role === undefined ? person.role : (role ?? row?.role ?? null);
        const takesOwner = person.role === 'owner' && person.state === 'active' && (disabled === true || next !== 'owner') && needsOwner();
        const changes = { ...(disabled === undefined ? {} : { disabled: disabled ? 1 : 0 }), ...(role === undefined ? {} : { set_role: role }) };
        if (Object.keys(changes).length > 0)
          await commit([
            ...(row ? [] : [db.insert('people', [rowOf(person.id, clock.iso())], { ifAbsent: true })]),
            takesOwner ? ownerTaken(person.id, changes) : db.update('people', ['id'], [{ id: person.id, ...changes }]),
          ]).catch((error: unknown) => {
            throw takesOwner && isSvcError(error) && error.code === 'storage_conflict' ? authErrors.last_owner() : error;
          });
        return detailed(person.id);
      }),
    /** Logins and sign-ins end at once; what their areas stored of them goes after that. */
    signOut: async (actor: Actor, key: string): Promise<number> => {
      const person = await named(key);
      mayChange(actor, person);
      const own = credentialsOf(deps, person.id);
      const signIns = own.filter(({ expiresAt }) => expiresAt !== null).map(({ id }) => id);
      const logins = await loginsOf(deps, [person.id]);
      const hashes = logins.map(({ id_hash }) => id_hash);
      const writes = [...(hashes.length === 0 ? [] : [db.remove('logins', { id_hash: hashes }, { expect: 'any' })]), ...(signIns.length === 0 ? [] : credentials.revoke(signIns))];
      if (writes.length > 0) await commit(writes);
      for (const credential of signIns) void logOut.call({ credential, origin: 'http://localhost' }).catch(() => undefined); // it is over already
      return signIns.length + logins.filter(isByKey).length;
    },
  };
};
export type Desk = ReturnType<typeof createDesk>;

const isByKey = ({ actor_id: id }: LoginRow): boolean => !id.startsWith('oidc:');

/** Everybody whom the settings name or an area brought. */
const knownOf = ({ credentials, users }: Pick<DeskDeps, 'credentials' | 'users'>): Known[] => {
  const rows = new Map(credentials.all().people.map((row) => [row.id, row]));
  const names = new Map<string, User[]>();
  for (const user of users()) names.set(user.name, [...(names.get(user.name) ?? []), user]);
  const stateOf = (row: PersonRow | undefined) => (row?.disabled === 1 ? 'disabled' : 'active');
  const ofSettings = [...names].map(([name, entries]): Known => {
    const row = rows.get(`user:${name}`);
    const email = entries.find((one) => one.email !== undefined)?.email ?? null;
    return { ...{ id: `user:${name}`, name, email, role: leastOf(entries.map(({ role }) => role)), role_from: SETTINGS, state: stateOf(row), source: SETTINGS }, seenAt: row?.seen_at ?? null };
  });
  const brought = [...rows.values()].flatMap((row): Known[] => {
    if (row.source === SETTINGS) return [];
    const { email, id, name, set_role: chosen, source } = row;
    return [{ ...{ id, name, email, source, state: stateOf(row), role: (chosen ?? row.role) as RoleOfPerson | null, role_from: chosen === null ? 'provider' : 'chosen' }, seenAt: row.seen_at }]; // only roles are written there
  });
  const owner: Known = { ...{ id: OWNER_ID, name: OWNER_ID, email: null, role: 'owner', role_from: SETTINGS, state: 'active', source: SETTINGS }, seenAt: rows.get(OWNER_ID)?.seen_at ?? null };
  return [owner, ...ofSettings, ...brought];
};

const credentialsOf = ({ credentials }: Pick<DeskDeps, 'credentials'>, id: string): Credential[] => credentials.all().credentials.filter(({ ownerId }) => ownerId === id);

/** Who acts for these people, and for whom: themselves, their devices, their sign-ins. */
const actorsOf = (deps: DeskDeps, ids: readonly string[]): Map<string, string> =>
  new Map(ids.flatMap((id) => [[id, id] as const, ...credentialsOf(deps, id).map((one) => [one.actorId ?? one.id, id] as const)]));

const loginsOf = async (deps: DeskDeps, ids: readonly string[]): Promise<LoginRow[]> => {
  const actors = actorsOf(deps, ids);
  const where = { expires_at: { gt: deps.clock.iso() }, ...(ids.length === 1 ? { actor_id: [...actors.keys()] } : {}) };
  return deps.db.system('who is logged in').select<LoginRow>({ from: 'logins', where, order: [{ column: 'created_at', descending: true }, { column: 'id_hash' }], limit: MAX_LOGINS });
};

const shownOf = async (deps: DeskDeps, people: readonly Known[]): Promise<PersonDetail[]> => {
  const ids = people.map(({ id }) => id);
  const actors = actorsOf(deps, ids);
  const held = ids.flatMap((id) => credentialsOf(deps, id));
  const [rows, answers] = await Promise.all([loginsOf(deps, ids), deps.deviceNames.call({ ids: held.map(({ id }) => id) })]);
  const names: Record<string, string> = Object.assign({}, ...answers.map(({ value }) => value));
  const seen = await deps.credentials.of(held.map(({ id }) => id));
  return people.map(({ seenAt, ...person }) => {
    const own = held.filter(({ ownerId }) => ownerId === person.id);
    const logins = rows.filter((row) => actors.get(row.actor_id) === person.id);
    const issued = own.map(
      (one): Access => ({
        ...{ kind: one.expiresAt === null ? 'device' : 'sign_in', name: names[one.id] ?? one.id, role: one.expiresAt === null ? (one.role as RoleOfPerson) : person.role }, // `issue` writes roles
        ...{ since: one.createdAt, last_seen: seen[one.id]?.seenAt ?? null, expires_at: one.expiresAt },
      }),
    );
    const browsers = logins
      .filter(isByKey)
      .map((row): Access => ({ kind: 'login', name: names[row.actor_id] ?? person.name, role: person.role, since: row.created_at, last_seen: row.seen_at, expires_at: row.expires_at }));
    const times = [seenAt, ...issued.map((one) => one.last_seen), ...logins.map((row) => row.seen_at)].filter((one) => one !== null);
    return {
      ...person,
      logins: browsers.length + issued.filter(({ kind }) => kind === 'sign_in').length,
      devices: issued.filter(({ kind }) => kind === 'device').map(({ name }) => name),
      last_seen: times.sort().at(-1) ?? null,
      access: [...browsers, ...issued],
    };
  });
};
