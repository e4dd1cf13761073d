/**
 * Tokens of providers at rest.
 *
 * S1  They are sealed with AES-256-GCM under a key that comes of a secret in the vault and the id of their row; nobody reads them without the vault.
 */
import { createCipheriv, createDecipheriv } from 'node:crypto';
import type { Ids, Secrets } from '@svc/api';

const SECRET = 'oidc.sealing';
const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export interface Tokens {
  readonly refreshToken?: string | undefined;
  readonly idToken?: string | undefined;
}

export const createSealing = ({ ids, secrets }: { readonly ids: Pick<Ids, 'bytes' | 'hex'>; readonly secrets: Pick<Secrets, 'hmac' | 'put'> }) => {
  const keyFor = (id: string): Promise<Uint8Array | undefined> => secrets.hmac(SECRET, Buffer.from(id), { algorithm: 'sha256', key: 'hex' });
  return {
    seal: async (id: string, tokens: Tokens): Promise<string> => {
      let key = await keyFor(id);
      if (!key) {
        await secrets.put(SECRET, ids.hex(KEY_BYTES));
        key = await keyFor(id);
      }
      if (!key) throw new Error('the vault does not give back what was put into it');
      const nonce = ids.bytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(id));
      const sealed = Buffer.concat([nonce, cipher.update(JSON.stringify(tokens)), cipher.final(), cipher.getAuthTag()]);
      return sealed.toString('base64');
    },
    /** Undefined where the vault was reset since. */
    open: async (id: string, text: string): Promise<Tokens | undefined> => {
      const key = await keyFor(id);
      if (!key) return undefined;
      const sealed = Buffer.from(text, 'base64');
      const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, NONCE_BYTES)).setAAD(Buffer.from(id));
      decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
      try {
        return JSON.parse(Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]).toString()) as Tokens; // `seal` wrote it
      } catch {
        return undefined;
      }
    },
  };
};
export type Sealing = ReturnType<typeof createSealing>;
