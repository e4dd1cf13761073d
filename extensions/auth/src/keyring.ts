/**
 * Which key belongs to whom.
 *
 * U1  Keys are compared as SHA-256 digests in constant time, every known key each time.
 * U2  With no key and no user configured the API is open, and whoever calls is the owner.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Actor, Role } from '@svc/api';

export interface KeySource {
  readonly apiKey: string;
  readonly apiKeyHash: string;
  readonly users: ReadonlyArray<{ readonly name: string; readonly role: 'owner' | 'admin' | 'user' | 'viewer'; readonly api_key_hash: string }>;
}

export interface Keyring {
  readonly isOpen: boolean;
  find(key: string): Actor | undefined;
}

interface Known {
  readonly digest: Buffer;
  readonly actor: Actor;
}

export const OWNER: Actor = { id: 'owner', role: 'owner', ownerId: 'owner' };

export const createKeyring = (source: KeySource): Keyring => {
  const known: Known[] = [];
  if (source.apiKey !== '') known.push({ digest: sha256(source.apiKey), actor: OWNER });
  if (source.apiKeyHash !== '') known.push({ digest: fromHex(source.apiKeyHash), actor: OWNER });
  for (const user of source.users) known.push({ digest: fromHex(user.api_key_hash), actor: userActor(user.name, user.role) });
  return {
    isOpen: known.length === 0,
    find: (key) => {
      const digest = sha256(key);
      let found: Actor | undefined;
      for (const one of known) if (timingSafeEqual(one.digest, digest)) found ??= one.actor;
      return found;
    },
  };
};

const userActor = (name: string, role: Role): Actor => ({ id: `user:${name}`, role, ownerId: role === 'owner' ? 'owner' : `user:${name}` });
const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();
const fromHex = (hash: string): Buffer => Buffer.from(hash.replace('sha256:', ''), 'hex');
