/**
 * Which key belongs to whom.
 *
 * U1  Keys are compared as SHA-256 digests in constant time, every known key each time.
 * U2  With no key and no user configured the API is open, and whoever calls is the owner.
 *     A credential that an area issued, such as a paired device, closes it too.
 * U3  A page that was open then stays the owner's when the daemon makes a key by itself: no process that could have asked in
 *     its place had started by then (kernel/platform/src/config/owner-key.ts). A key that a person sets ends that.
 * U4  A credential has at most the role that the person behind it has now, and is nobody's once they are nobody we know.
 */
import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import { type Actor, type Role, actorFrom } from '@svc/api';
import type { Credential } from './credentials.js';
import { hasKey, type KeySettings, type KnownKey, keysOf } from './known-keys.js';

export interface Keyring {
  readonly isOpen: boolean;
  /** No setting names a key, and only what areas issued opens the daemon. */
  readonly isWithoutKey: boolean;
  /** The owner's key stands in config.toml as it is, where its hash would do. */
  readonly isPlainInFile: boolean;
  /** SHA-256 of the keys in the settings, in hexadecimal digits, also of revoked ones. */
  readonly named: ReadonlySet<string>;
  /** Whose keys are in the settings and were revoked at another daemon. */
  readonly revokedHolders: readonly string[];
  /** The key that the daemon made is the one that holds. */
  readonly isOwnerKeyUsed: boolean;
  find(key: string): Actor | undefined;
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

interface Known {
  readonly digest: Buffer;
  readonly actor: Actor;
}

/** Frozen, as all actors of a keyring: whoever is known stays one and the same. */
export const OWNER: Actor = actorFrom({ id: 'owner', role: 'owner', ownerId: 'owner' });

/** `revoked`: digests of keys that open nothing, although the settings name them. */
export const createKeyring = (settings: KeySettings, revoked: ReadonlySet<string> = new Set(), credentials: readonly Credential[] = []): Keyring => {
  const named = keysOf(settings).map((key) => ({ ...key, digest: key.isHash ? fromHex(key.text) : sha256(key.text) }));
  const keys = named.filter(({ digest }) => !revoked.has(digest.toString('hex')));
  const known: Known[] = keys.map((key) => ({ digest: key.digest, actor: actorOf(key) }));
  const isWithoutKey = !hasKey(settings);
  const isOpen = isWithoutKey && credentials.length === 0;
  const roleOf = (ownerId: string): Role | undefined =>
    RANKS.find((role) => (role === 'owner' ? ownerId === OWNER.ownerId : known.some(({ actor }) => actor.ownerId === ownerId && actor.role === role)));
  // 256 random bits each: whoever measures a look-up by their hash learns nothing that helps.
  const issued = new Map(credentials.flatMap((one) => issuedOf(one, roleOf(one.ownerId))));
  const isOwnerKeyUsed = keys.some(({ source }) => source === 'owner.key');
  const bindable = [...known, ...issued.values(), ...(isOpen || isOwnerKeyUsed ? [OPEN] : [])];
  const namedBy = (digest: Buffer): Known | undefined => {
    let found: Known | undefined;
    for (const one of known) if (timingSafeEqual(one.digest, digest)) found ??= one;
    return found;
  };
  const knownBy = (key: string): Known | undefined => {
    const digest = sha256(key);
    return namedBy(digest) ?? issued.get(digest.toString('hex'));
  };
  return {
    isOpen,
    isWithoutKey,
    isOwnerKeyUsed,
    // The key that a daemon makes is its own.
    named: new Set(named.flatMap(({ digest, source }) => (source === 'owner.key' ? [] : [digest.toString('hex')]))),
    revokedHolders: named.filter((key) => !keys.includes(key)).map(({ holder }) => holder),
    isPlainInFile: keys.some((key) => key.source === 'api_key' && !key.isHash),
    find: (key) => knownBy(key)?.actor,
    isOfSettings: (key) => namedBy(sha256(key)) !== undefined,
    bind: (key, secret) => {
      const found = knownBy(key);
      return found && { actor: found.actor, binding: bindingOf(found, secret) };
    },
    bindOpen: (secret) => (isOpen ? { actor: OWNER, binding: bindingOf(OPEN, secret) } : undefined),
    findBound: (actorId, binding, secret) => bindable.find((one) => one.actor.id === actorId && bindingOf(one, secret) === binding)?.actor,
    roleOf,
  };
};

/** Whoever asks while there is no key. No key has this digest: that of a key is one of its text. */
const OPEN: Known = { digest: Buffer.from('an open daemon'), actor: OWNER };

/** From the least. */
const RANKS: readonly Role[] = ['viewer', 'user', 'admin', 'owner'];

export const lesser = (one: Role, other: Role): Role => (RANKS.indexOf(one) < RANKS.indexOf(other) ? one : other);

const issuedOf = ({ id, ownerId, role, keyHash }: Credential, most: Role | undefined): Array<[string, Known]> =>
  most === undefined ? [] : [[keyHash, { digest: Buffer.from(keyHash, 'hex'), actor: actorFrom({ id, role: lesser(role, most), ownerId }) }]];

const actorOf = ({ source, holder, role }: KnownKey): Actor => (source === 'users' ? actorFrom({ id: `user:${holder}`, role, ownerId: role === 'owner' ? 'owner' : `user:${holder}` }) : OWNER);
const bindingOf = ({ digest }: Known, secret: string): string => createHmac('sha256', secret).update(digest).digest('hex');
const sha256 = (text: string): Buffer => hash('sha256', text, 'buffer');
const fromHex = (hash: string): Buffer => Buffer.from(hash.replace('sha256:', ''), 'hex');
