/** What other areas ask auth (contract.ts). */
import type { ServiceMethods } from '@svc/api';
import type { Auth } from './contract.js';
import type { Credentials } from './credentials.js';
import { type ExternalAuth, providersOf } from './external-auth.js';
import type { Keyring } from './keyring.js';
import { givenCookie } from './logins/cookie.js';
import type { Logins } from './logins/logins.js';
import type { createPeople } from './people/arrivals.js';

export interface ServiceDeps {
  readonly keyring: () => Keyring;
  readonly credentials: Credentials;
  readonly logins: Logins;
  readonly people: ReturnType<typeof createPeople>;
  readonly externalAuth: () => ExternalAuth;
}

export const serviceOf = ({ credentials, externalAuth, keyring, logins, people }: ServiceDeps): ServiceMethods<typeof Auth> => ({
  roleOf: async (ownerId) => keyring().roleOf(ownerId),
  needsKey: async () => !keyring().isWithoutKey,
  isOpen: async () => keyring().isOpen,
  issue: async (draft) => credentials.issue(draft),
  setRole: async (id, role) => credentials.setRole(id, role),
  revoke: async (ids) => credentials.revoke(ids),
  issued: (ids) => credentials.of(ids),
  externalAuth: async () => externalAuth(),
  providers: async () => [...providersOf(externalAuth())],
  arrive: (arrival) => people.arrive(arrival),
  logIn: async ({ key, host, isSecure, forMs }) => {
    await credentials.look();
    const made = await logins.create(key, { isRemembered: false, forMs });
    return made && givenCookie({ headers: { host }, isSecure }, made.id, forMs)['set-cookie'];
  },
  sender: async ({ channel, sender }) => {
    await credentials.reading();
    const person = keyring().boundTo(channel, sender);
    // Admins say where a platform is: by that they must not become the owner.
    return person === undefined ? undefined : keyring().personAs(person, 'admin');
  },
  personBehind: async (actor) => {
    await credentials.reading();
    return keyring().behind(actor);
  },
  personAs: async ({ personId, role }) => {
    await credentials.reading();
    return keyring().personAs(personId, role);
  },
  find: async (key) => {
    await credentials.reading();
    const actor = keyring().find(key);
    const credential = actor && keyring().issuedBy(actor);
    return actor && credential ? { credential: credential.id, actorId: actor.id, ownerId: actor.ownerId, role: actor.role } : undefined;
  },
});
