/**
 * Which key belongs to whom.
 *
 * U1  Keys are compared as SHA-256 digests in constant time, every known key each time.
 * U2  With no key and no user configured the API is open, and whoever calls is the owner.
 */
import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import type { Actor, Role } from '@svc/api';
import { hasKey, type KeySettings, type KnownKey, keysOf } from './known-keys.js';

export interface Keyring {
  readonly isOpen: boolean;
  /** The owner's key stands in config.toml as it is, where its hash would do. */
  readonly isPlainInFile: boolean;
  find(key: string): Actor | undefined;
  /** Ties a secret to this key. Whoever reads the binding without the secret can neither use it nor try keys by it. Undefined for a key that nobody has. */
  bind(key: string, secret: string): { readonly actor: Actor; readonly binding: string } | undefined;
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
export const OWNER: Actor = Object.freeze({ id: 'owner', role: 'owner', ownerId: 'owner' });

export const createKeyring = (settings: KeySettings): Keyring => {
  const keys = keysOf(settings);
  const known: Known[] = keys.map((key) => ({ digest: key.isHash ? fromHex(key.text) : sha256(key.text), actor: actorOf(key) }));
  const knownBy = (key: string): Known | undefined => {
    const digest = sha256(key);
    let found: Known | undefined;
    for (const one of known) if (timingSafeEqual(one.digest, digest)) found ??= one;
    return found;
  };
  return {
    isOpen: !hasKey(settings),
    isPlainInFile: keys.some((key) => key.source === 'api_key' && !key.isHash),
    find: (key) => knownBy(key)?.actor,
    bind: (key, secret) => {
      const found = knownBy(key);
      return found && { actor: found.actor, binding: bindingOf(found, secret) };
    },
    findBound: (actorId, binding, secret) => known.find((one) => one.actor.id === actorId && bindingOf(one, secret) === binding)?.actor,
    roleOf: (ownerId) => RANKS.find((role) => (role === 'owner' ? ownerId === OWNER.ownerId : known.some(({ actor }) => actor.ownerId === ownerId && actor.role === role))),
  };
};

/** From the least. */
const RANKS: readonly Role[] = ['viewer', 'user', 'admin', 'owner'];

const actorOf = ({ source, holder, role }: KnownKey): Actor => (source === 'users' ? Object.freeze({ id: `user:${holder}`, role, ownerId: role === 'owner' ? 'owner' : `user:${holder}` }) : OWNER);
const bindingOf = ({ digest }: Known, secret: string): string => createHmac('sha256', secret).update(digest).digest('hex');
const sha256 = (text: string): Buffer => hash('sha256', text, 'buffer');
const fromHex = (hash: string): Buffer => Buffer.from(hash.replace('sha256:', ''), 'hex');
