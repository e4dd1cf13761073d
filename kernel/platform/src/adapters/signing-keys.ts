/** Ed25519 keys (RFC 8032) that are stored as secrets: made when they are first asked for, and used here alone. */
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import type { Signature } from '@svc/api';
import { secretErrors } from './errors.js';

export interface KeyStore {
  resolve(name: string): Promise<string | undefined>;
  put(name: string, value: string): Promise<void>;
}

/** Of a raw key in its SubjectPublicKeyInfo. */
const RAW_BYTES = 32;

export const createSigningKeys = (store: KeyStore): ((name: string, data: Uint8Array) => Promise<Signature>) => {
  /** One after the other: two at once would both make a key, and one of them would be lost. */
  let last: Promise<unknown> = Promise.resolve();
  const keyOf = (name: string): Promise<KeyObject> => {
    const own = last.then(async () => {
      const stored = await store.resolve(name);
      if (stored !== undefined) return parsed(name, stored);
      const { privateKey } = generateKeyPairSync('ed25519');
      await store.put(name, privateKey.export({ type: 'pkcs8', format: 'der' }).toString('base64'));
      return privateKey;
    });
    last = own.catch(() => undefined); // whoever asked has the failure
    return own;
  };
  return async (name, data) => {
    const key = await keyOf(name);
    const publicKey = createPublicKey(key).export({ type: 'spki', format: 'der' });
    return { signature: new Uint8Array(sign(null, data, key)), publicKey: new Uint8Array(publicKey.subarray(-RAW_BYTES)) };
  };
};

const parsed = (name: string, stored: string): KeyObject => {
  try {
    const key = createPrivateKey({ key: Buffer.from(stored, 'base64'), format: 'der', type: 'pkcs8' });
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch {
    // What it holds is in no message.
  }
  throw secretErrors.not_a_key(name);
};
