/** What a signature is worth here: whether its key is the one that the extension belongs to. */
import { installErrors } from '../errors.js';
import { leadsTo, type Rotation } from './rotation.js';
import type { Signature } from './signature.js';
import { pinnedKeys, type TrustedKey } from './trust.js';

/** `known`: it may be taken. `handed-on`: it may, and the key is to be pinned. `unknown`: somebody has to say that this key is trusted. */
export type KeyStanding = 'known' | 'handed-on' | 'unknown';

/** Rejects with `install_revoked` and `install_wrong_key`. */
export const validateKey = async (signature: Pick<Signature, 'id' | 'keyId' | 'publicKey'>, keys: readonly TrustedKey[], rotations: readonly Rotation[]): Promise<KeyStanding> => {
  const { id, keyId, publicKey } = signature;
  const own = keys.find((key) => key.public === publicKey);
  if (own?.revoked !== undefined) throw installErrors.revoked(id, keyId, own.revoked);
  const pinned = pinnedKeys(keys, id);
  if (own && pinned.includes(own)) return 'known';
  if (pinned.length === 0) return 'unknown';
  const revoked = keys.filter((key) => key.revoked !== undefined).map((key) => key.public);
  const trusted = pinned.map((key) => key.public);
  if (await leadsTo(id, rotations, trusted, publicKey, revoked)) return 'handed-on';
  throw installErrors.wrong_key(
    id,
    keyId,
    pinned.map((key) => (key.name === '' ? key.id : `${key.id} (${key.name})`)),
  );
};
