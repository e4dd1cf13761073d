/**
 * People whom an area brought, such as those who sign in at a provider, and people of `[[users]]` who do.
 *
 * E1  Who a sign-in is, `[[users]]` says first: by provider and subject, and by a verified e-mail address only where the owner allowed that.
 * E2  A role of the settings, or one that an owner or admin chose, stands above what the provider says.
 * E3  Nobody who is disabled comes in, and neither does who has no role.
 */
import { AuthChanged, type Clock, type Db, type Events, type Role, type Write } from '@svc/api';
import type { User } from '../known-keys.js';
import { leastOf } from '../keyring.js';
import type { PersonRow } from './people-rows.js';

export interface Arrival {
  /** Who it is where no user of the settings is: `oidc:<hash>`. */
  readonly id: string;
  /** The provider and the subject there, as `[[users]]` has them. */
  readonly source: string;
  readonly name: string;
  readonly email?: string | undefined;
  readonly isEmailVerified: boolean;
  /** By the claims; undefined where they give none. */
  readonly role?: Role | undefined;
}

export interface Arrived {
  readonly outcome: 'known' | 'disabled' | 'no_role';
  /** Whose credential it becomes: a user of the settings, or the id that was asked with. */
  readonly personId: string;
  /** Who acts by it. */
  readonly actorId: string;
  readonly name: string;
  readonly role: Role;
}

export interface PeopleDeps {
  readonly db: Db;
  readonly clock: Pick<Clock, 'iso'>;
  readonly events: Pick<Events, 'event'>;
  readonly users: () => readonly User[];
  /** `link_by_verified_email`. */
  readonly linksByEmail: () => boolean;
}

const find = (db: Db, id: string): Promise<PersonRow | undefined> => db.system('a person who comes in').first<PersonRow>({ from: 'people', where: { id } });

export const createPeople = ({ clock, db, events, linksByEmail, users }: PeopleDeps) => {
  const userFor = ({ email, isEmailVerified, source }: Arrival): readonly User[] => {
    const named = users().filter(({ oidc = [] }) => oidc.includes(source));
    if (named.length > 0 || !linksByEmail() || email === undefined || !isEmailVerified) return named;
    return users().filter((user) => user.email?.toLowerCase() === email.toLowerCase());
  };
  const asUser = async ([user, ...others]: readonly [User, ...User[]]): Promise<{ arrived: Arrived; writes: Write[] }> => {
    const id = `user:${user.name}`;
    const row = await find(db, id);
    const role = leastOf([user, ...others].map((one) => one.role));
    return { arrived: { outcome: row?.disabled === 1 ? 'disabled' : 'known', personId: id, actorId: `oidc:${user.name}`, name: user.name, role }, writes: [] };
  };
  return {
    /** Writes that bring them up to date go with the commit of the caller. */
    arrive: async (arrival: Arrival): Promise<{ arrived: Arrived; writes: Write[] }> => {
      const [user, ...others] = userFor(arrival);
      if (user) return asUser([user, ...others]);
      const { email, id, name, role, source } = arrival;
      const row = await find(db, id);
      const chosen = (row?.set_role ?? role) as Role | undefined; // only roles are written there
      const arrived = { personId: id, actorId: id, name, role: chosen ?? 'viewer' };
      const outcome = row?.disabled === 1 ? 'disabled' : chosen === undefined ? 'no_role' : 'known';
      if (outcome === 'no_role' && !row) return { arrived: { ...arrived, outcome }, writes: [] };
      const now = clock.iso();
      const next = { id, owner_id: id, name, email: email ?? null, source, role: role ?? null, seen_at: now };
      const isSame = row && row.role === next.role && row.name === name;
      const write = row ? db.update('people', ['id'], [next]) : db.insert('people', [{ ...next, set_role: null, disabled: 0, created_at: now }], { ifAbsent: true });
      return { arrived: { ...arrived, outcome }, writes: [write, ...(isSame ? [] : [events.event(AuthChanged, {})])] };
    },
  };
};
