/** What auth declares to other areas: who somebody is, when no request of theirs is at hand, and keys that areas issue for people. */
import { Actor, defineAsk, defineGather, type Plain, Role, SealedWrites, type Service, Type, defineService, method } from '@svc/api';
import { ExternalAuth, Provider } from './external-auth.js';

export { type ExternalAuth, type Provider, providersOf } from './external-auth.js';

const CredentialId = Type.String({ minLength: 3, maxLength: 100, description: 'Who acts by it: `device:<id>`' });

const Arrival = Type.Object({
  id: Type.String({ minLength: 3, maxLength: 100, description: 'Owner id where no user of the settings is meant: `oidc:<hash>`' }),
  source: Type.String({ maxLength: 400, description: '`provider:subject`' }),
  name: Type.String({ maxLength: 200 }),
  email: Type.Optional(Type.String({ maxLength: 320 })),
  isEmailVerified: Type.Boolean(),
  role: Type.Optional(Role),
});
export const Arrived = Type.Object({
  outcome: Type.Union([Type.Literal('known'), Type.Literal('disabled'), Type.Literal('no_role')]),
  personId: Type.String({ description: 'For `issue`' }),
  actorId: Type.String({ description: 'For `issue`' }),
  name: Type.String(),
  role: Role,
});

export type Arrived = Plain<typeof Arrived>;

/** A bearer token that is no key: whoever knows whose it is answers with `personId` and `actorId` of who arrived by it. */
export const AuthBearer = defineAsk('auth.bearer', '1.0.0', {
  policy: 'closed',
  budgetMs: 1_800,
  subject: Type.Object({ token: Type.String() }),
  answer: Type.Object({ personId: Type.String(), actorId: Type.String() }),
});

/** Somebody logs out who came in by this credential, which ends with it. Whoever issued it may name where the browser goes next. */
export const AuthLogout = defineAsk('auth.logout', '1.0.0', {
  policy: 'open',
  budgetMs: 10_000,
  subject: Type.Object({ credential: Type.String(), origin: Type.String({ description: 'Address of this daemon, as the browser knows it' }) }),
  answer: Type.Object({ logoutUrl: Type.Union([Type.String(), Type.Undefined()]) }),
});

/** What devices are called, by credential; one that is left out has no name. */
export const AuthDeviceNames = defineGather('auth.device-names', '1.0.0', {
  policy: 'open',
  budgetMs: 2_000,
  subject: Type.Object({ ids: Type.Array(Type.String()) }),
  answer: Type.Record(Type.String(), Type.String()),
});

export const Auth = defineService('auth', '1.4.0', {
  /** The role of whoever owns these rows, by the keys of now; nothing for nobody we know (any more). */
  roleOf: method([Type.String({ description: 'Owner id' })], Type.Union([Role, Type.Undefined()])),
  /** Whether callers must show a key. */
  needsKey: method([], Type.Boolean()),
  /** Whether whoever calls is the owner: there is no key and no credential. */
  isOpen: method([], Type.Boolean()),
  /**
   * A key for something of this person that calls by itself. It acts on their rows by that name, with at most the role that they
   * have themselves at the time. Commit the writes with your own; the key is shown once.
   */
  issue: method(
    [
      Type.Object({
        name: CredentialId,
        personId: Type.String({ description: 'Owner id, or `user:<name>` of a user of the settings, whatever their role' }),
        role: Role,
        actorId: Type.Optional(Type.String({ description: 'Who acts by it, where that is not its name' })),
        expiresAt: Type.Optional(Type.String()),
      }),
    ],
    Type.Object({ key: Type.String(), writes: SealedWrites }),
  ),
  /** What it holds open is validated again, on every daemon, when these writes are committed. So it is with `revoke`. */
  setRole: method([CredentialId, Role], SealedWrites),
  revoke: method([Type.Array(CredentialId)], SealedWrites),
  /** Role and last use, of those among these that are there. */
  issued: method([Type.Array(CredentialId)], Type.Record(Type.String(), Type.Object({ role: Role, seenAt: Type.Union([Type.String(), Type.Null()]) }))),
  /** `[external_auth]`, as it holds now. */
  externalAuth: method([], ExternalAuth),
  /** Its providers, the default one first. */
  providers: method([], Type.Array(Provider)),
  /** Who this is that a provider vouches for; commit the writes with your own. */
  arrive: method([Arrival], Type.Object({ arrived: Arrived, writes: SealedWrites })),
  /** Makes a browser known by this key. Answers with the text of `set-cookie`; undefined for a key that nobody has. */
  logIn: method([Type.Object({ key: Type.String(), host: Type.Optional(Type.String()), isSecure: Type.Boolean(), forMs: Type.Number() })], Type.Union([Type.String(), Type.Undefined()])),
  /** Who a sender of a channel acts as, by `channel_bindings` of `[[users]]`; undefined for nobody, and where several people name the sender. An owner is an admin there. */
  sender: method([Type.Object({ channel: Type.String(), sender: Type.String() })], Type.Union([Actor, Type.Undefined()])),
  /** The person who came in as this actor, for `personAs` later; undefined where nobody can say. */
  personBehind: method([Actor], Type.Union([Type.String(), Type.Undefined()])),
  /** A person as they are now, with at most this role; undefined for somebody who is disabled, or not known any more. */
  personAs: method([Type.Object({ personId: Type.String(), role: Role })], Type.Union([Actor, Type.Undefined()])),
  /** Whose key this is, if an area issued it. */
  find: method([Type.String({ description: 'The key' })], Type.Union([Type.Object({ credential: Type.String(), actorId: Type.String(), ownerId: Type.String(), role: Role }), Type.Undefined()])),
});
export type AuthService = Service<typeof Auth>;
