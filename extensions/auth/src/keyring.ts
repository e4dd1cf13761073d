/**
 * Which key belongs to whom.
 *
 * U1  Keys are compared as SHA-256 digests in constant time, every known key each time.
 * U2  With no key and no user configured the API is open, and whoever calls is the owner.
 *     A credential that an area issued, such as a paired device, closes it too.
 * U3  A page that was open then stays the owner's when the daemon makes a key by itself: no process that could have asked in
 *     its place had started by then (kernel/platform/src/config/owner-key.ts). A key that a person sets ends that.
 * U4  A credential has at most the role that the person behind it has now, and is nobody's once they are nobody we know.
 * U5  A person who is disabled has no key, no credential and no role, until they are enabled again.
 * U6  A provider in `[external_auth]` closes the daemon, with or without a key.
 * U7  A sender of a channel is the one person whose `channel_bindings` name them; nobody where several do.
 */
import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import { type Actor, type Role, actorFrom } from '@svc/api';
import type { Credential, Issued } from './credentials.js';
import { hasKey, hasProvider, type KeySettings, type KnownKey, keysOf } from './known-keys.js';
import type { PersonRow } from './people/people-rows.js';

export interface Keyring {
  readonly isOpen: boolean;
  /** No setting names a key, and only what areas issued opens the daemon. */
  readonly isWithoutKey: boolean;
  /** The settings name at least one key that holds. */
  readonly hasKey: boolean;
  /** Paired devices open the daemon. */
  readonly hasDevices: boolean;
  /** A provider to sign in at closes the daemon, whether or not sign-in is on. */
  readonly hasProvider: boolean;
  /** Somebody may come in as owner without a key. */
  readonly maySignInAsOwner: boolean;
  /** The owner's key stands in config.toml as it is, where its hash would do. */
  readonly isPlainInFile: boolean;
  /** SHA-256 of the keys in the settings, in hexadecimal digits, also of revoked ones. */
  readonly named: ReadonlySet<string>;
  /** Whose keys are in the settings and were revoked at another daemon. */
  readonly revokedHolders: readonly string[];
  /** The key that the daemon made is the one that holds. */
  readonly isOwnerKeyUsed: boolean;
  find(key: string): Actor | undefined;
  /** Whether the key would open the daemon if its person were not disabled. */
  isOfDisabled(key: string): boolean;
  /** The credential that this actor came in by; undefined where it is none of those that areas issued. One that has an end is a login: it ends when its person logs out. */
  issuedBy(actor: Actor): { readonly id: string; readonly isLogin: boolean } | undefined;
  /** The person behind this actor: of what somebody paired or signed in with, and of a user of the settings whatever their role. */
  personOf(actor: Actor): string;
  /** Whether it acts by something that somebody paired, and not by a login. */
  isDevice(actor: Actor): boolean;
  /** Whether a key of the settings makes its holder the owner, beside those of `[[users]]`. */
  readonly hasOwnerKey: boolean;
  /** Who calls as this person for now; undefined for nobody we know. */
  callerOf(actorId: string, personId: string): Actor | undefined;
  /** The id of the person whom `channel_bindings` name for this sender of a channel. */
  boundTo(channel: string, sender: string): string | undefined;
  /** The id of the person who came in as this actor; undefined where nobody can say. */
  behind(actor: Pick<Actor, 'id' | 'ownerId' | 'role'>): string | undefined;
  /** This person as somebody who calls now, with at most this role; undefined for nobody we know (any more). */
  personAs(personId: string, role: Role): Actor | undefined;
  /** Whether the settings name this key. */
  isOfSettings(key: string): boolean;
  /** Ties a secret to this key. Whoever reads the binding without the secret can neither use it nor try keys by it. Undefined for a key that nobody has. */
  bind(key: string, secret: string): { readonly actor: Actor; readonly binding: string } | undefined;
  /** Ties a secret to the open daemon. Undefined where it is not open. */
  bindOpen(secret: string): { readonly actor: Actor; readonly binding: string } | undefined;
  /** Who this is now, if a key of theirs is the one that the secret was tied to. */
  findBound(actorId: string, binding: string, secret: string): Actor | undefined;
  /** The role of whoever owns these rows now; of several keys with different roles the least. Undefined for nobody we know. */
  roleOf(ownerId: string): Role | undefined;
}

export interface Standing {
  readonly ownerId: string;
  readonly role: Role;
}

interface Known {
  readonly digest: Buffer;
  readonly actor: Actor;
  /** Of a credential: its id, and when it ends in milliseconds. */
  readonly credential?: string;
  readonly until?: number | undefined;
}

const NOTHING_ISSUED: Issued = { credentials: [], people: [] };

/** Frozen, as all actors of a keyring: whoever is known stays one and the same. */
export const OWNER: Actor = actorFrom({ id: 'owner', role: 'owner', ownerId: 'owner' });

/** `revoked`: digests of keys that open nothing, although the settings name them. */
export const createKeyring = (settings: KeySettings, revoked: ReadonlySet<string> = new Set(), { credentials, people }: Issued = NOTHING_ISSUED, now: () => number = () => 0): Keyring => {
  const disabled = new Set(people.flatMap((one) => (one.disabled === 1 ? [one.id] : [])));
  const named = keysOf(settings).map((key) => ({ ...key, digest: key.isHash ? fromHex(key.text) : sha256(key.text) }));
  const keys = named.filter(({ digest }) => !revoked.has(digest.toString('hex')));
  const isDisabled = ({ holder, source }: KnownKey): boolean => source === 'users' && disabled.has(`user:${holder}`);
  const known: Known[] = keys.flatMap((key) => (isDisabled(key) ? [] : [{ digest: key.digest, actor: actorOf(key) }]));
  const isWithoutKey = !hasKey(settings);
  const isOpen = isWithoutKey && credentials.length === 0;
  const brought = new Map(people.flatMap((one) => (disabled.has(one.id) ? [] : rolesIn(one))));
  const signIns = settings.users.filter(({ name, oidc = [] }) => oidc.length > 0 && !disabled.has(`user:${name}`));
  const bound = settings.users.filter(({ name, channel_bindings: bindings = {} }) => Object.keys(bindings).length > 0 && !disabled.has(`user:${name}`));
  const ofUsers = [...keys.flatMap((key) => (key.source === 'users' && !isDisabled(key) ? [{ name: key.holder, role: key.role }] : [])), ...signIns, ...bound];
  const roleOf = (ownerId: string): Role | undefined =>
    brought.get(ownerId) ?? RANKS.find((role) => (role === 'owner' ? ownerId === OWNER.ownerId : ofUsers.some((one) => one.role === role && `user:${one.name}` === ownerId)));
  const personOf = (personId: string): Standing | undefined => {
    const role = roleOf(personId) ?? (ofUsers.some(({ name }) => `user:${name}` === personId) ? 'owner' : undefined);
    return role && { role, ownerId: role === 'owner' && personId.startsWith('user:') ? OWNER.ownerId : personId };
  };
  // 256 random bits each: whoever measures a look-up by their hash learns nothing that helps.
  const issued = new Map(credentials.flatMap((one) => issuedOf(one, personOf(one.ownerId))));
  const credentialsBy = new Map([...issued.values()].map(({ actor, credential = '', until }) => [actor, { id: credential, isLogin: until !== undefined }]));
  const isOfUser = (id: string): boolean => settings.users.some(({ name }) => `user:${name}` === id);
  const isOwnerKeyUsed = keys.some(({ source }) => source === 'owner.key');
  const bindable = [...known, ...issued.values(), ...(isOpen || isOwnerKeyUsed ? [OPEN] : [])];
  const isOver = ({ until }: Known): boolean => until !== undefined && until <= now();
  const namedBy = (digest: Buffer): Known | undefined => {
    let found: Known | undefined;
    for (const one of known) if (timingSafeEqual(one.digest, digest)) found ??= one;
    return found;
  };
  const knownBy = (key: string): Known | undefined => {
    const digest = sha256(key);
    const found = namedBy(digest) ?? issued.get(digest.toString('hex'));
    return found && !isOver(found) ? found : undefined;
  };
  return {
    isOpen,
    isWithoutKey,
    isOwnerKeyUsed,
    hasKey: keys.length > 0,
    hasDevices: credentials.some(({ expiresAt }) => expiresAt === null),
    hasProvider: hasProvider(settings),
    maySignInAsOwner: [...signIns.map(({ role }) => role), ...Object.values(settings.externalAuth?.role_map ?? {}), ...brought.values()].includes('owner'),
    // The key that a daemon makes is its own.
    named: new Set(named.flatMap(({ digest, source }) => (source === 'owner.key' ? [] : [digest.toString('hex')]))),
    revokedHolders: named.filter((key) => !keys.includes(key)).map(({ holder }) => holder),
    isPlainInFile: keys.some((key) => key.source === 'api_key' && !key.isHash),
    find: (key) => knownBy(key)?.actor,
    hasOwnerKey: keys.some(({ source }) => source !== 'users'),
    personOf: ({ id, ownerId }) => {
      const issuedFor = credentials.find((one) => (one.actorId ?? one.id) === id)?.ownerId;
      return issuedFor ?? [id, id.replace(/^oidc:/, 'user:')].find(isOfUser) ?? ownerId;
    },
    isDevice: ({ id }) => credentials.some((one) => (one.actorId ?? one.id) === id && one.expiresAt === null),
    isOfDisabled: (key) => {
      const digest = sha256(key);
      return keys.some((one) => isDisabled(one) && timingSafeEqual(one.digest, digest)) || credentials.some((one) => disabled.has(one.ownerId) && one.keyHash === digest.toString('hex'));
    },
    issuedBy: (actor) => credentialsBy.get(actor),
    callerOf: (actorId, personId) => {
      const person = personOf(personId);
      return person && actorFrom({ id: actorId, role: person.role, ownerId: person.ownerId });
    },
    boundTo: (channel, sender) => {
      const [name, ...others] = new Set(
        bound.filter(({ channel_bindings: bindings = {} }) => [Object.hasOwn(bindings, channel) ? (bindings[channel] ?? []) : []].flat().includes(sender)).map((one) => one.name),
      );
      return name === undefined || others.length > 0 ? undefined : `user:${name}`;
    },
    behind: ({ id, ownerId, role }) => {
      if (role === 'system' || role === 'public') return undefined;
      const person = credentials.find((one) => (one.actorId ?? one.id) === id)?.ownerId ?? (id.startsWith('user:') || id === OWNER.id ? id : ownerId === OWNER.ownerId ? undefined : ownerId);
      return person !== undefined && personOf(person) ? person : undefined;
    },
    personAs: (personId, role) => {
      const person = personOf(personId);
      return person && actorFrom({ id: personId, role: lesser(role, person.role), ownerId: person.ownerId });
    },
    isOfSettings: (key) => namedBy(sha256(key)) !== undefined,
    bind: (key, secret) => {
      const found = knownBy(key);
      return found && { actor: found.actor, binding: bindingOf(found, secret) };
    },
    bindOpen: (secret) => (isOpen ? { actor: OWNER, binding: bindingOf(OPEN, secret) } : undefined),
    findBound: (actorId, binding, secret) => bindable.find((one) => one.actor.id === actorId && !isOver(one) && bindingOf(one, secret) === binding)?.actor,
    roleOf,
  };
};

/** Whoever asks while there is no key. No key has this digest: that of a key is one of its text. */
const OPEN: Known = { digest: Buffer.from('an open daemon'), actor: OWNER };

/** From the least. */
const RANKS = ['viewer', 'user', 'admin', 'owner'] as const;
export type RoleOfPerson = (typeof RANKS)[number];

export const leastOf = (roles: readonly Role[]): RoleOfPerson => RANKS.find((role) => roles.includes(role)) ?? 'viewer';

const rankOf = (role: Role): number => (RANKS as readonly Role[]).indexOf(role);

export const lesser = (one: Role, other: Role): Role => (rankOf(one) < rankOf(other) ? one : other);

const issuedOf = ({ id, actorId, role, keyHash, expiresAt }: Credential, person: Standing | undefined): Array<[string, Known]> => {
  if (!person) return [];
  const actor = actorFrom({ id: actorId ?? id, role: lesser(role, person.role), ownerId: person.ownerId });
  return [[keyHash, { digest: Buffer.from(keyHash, 'hex'), actor, credential: id, until: expiresAt === null ? undefined : Date.parse(expiresAt) }]];
};

/** What an owner or admin chose stands above what the provider says. People of the settings have their role there. */
const rolesIn = ({ id, role, set_role: chosen }: PersonRow): Array<[string, Role]> => {
  const found = RANKS.find((one) => one === (chosen ?? role));
  return found ? [[id, found]] : [];
};

const actorOf = ({ source, holder, role }: KnownKey): Actor => (source === 'users' ? actorFrom({ id: `user:${holder}`, role, ownerId: role === 'owner' ? 'owner' : `user:${holder}` }) : OWNER);
const bindingOf = ({ digest }: Known, secret: string): string => createHmac('sha256', secret).update(digest).digest('hex');
const sha256 = (text: string): Buffer => hash('sha256', text, 'buffer');
const fromHex = (hash: string): Buffer => Buffer.from(hash.replace('sha256:', ''), 'hex');
