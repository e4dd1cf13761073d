/**
 * Packets on a way that others use as well: only daemons that share a secret can read and make them.
 *
 * Sealed: 16 bytes that name the sender's key, 8 bytes of a counter, the ciphertext, and 16 bytes of a tag (AES-256-GCM).
 *
 * E1  Whoever lacks the secret reads nothing, and nothing that they write or change is opened.
 * E2  What was sealed for one place is not opened at another.
 * E3  No key seals two packets with one counter: each sender has a key of its own, derived from the secret and its name.
 */
import { createCipheriv, createDecipheriv, createHmac, hash } from 'node:crypto';

const NAME_BYTES = 16;
const COUNTER_BYTES = 8;
const TAG_BYTES = 16;
const HEAD_BYTES = NAME_BYTES + COUNTER_BYTES;
const NONCE_BYTES = 12;
/** Keys of senders that are remembered; the one that was made first goes first. */
const MAX_KEYS = 1_000;
const OPTIONS = { authTagLength: TAG_BYTES } as const;

/** What a sealed packet has beyond its text. */
export const SEAL_BYTES = HEAD_BYTES + TAG_BYTES;

export interface PacketSeal {
  seal(text: string): Buffer;
  /** Undefined for what nobody sealed who has the secret, or for another place. */
  open(sealed: Uint8Array): string | undefined;
}

/** `sender`: a name that nobody else has, and that is not used again after a restart. One seal for each. */
export const createPacketSeal = (secret: Buffer, place: string, sender: string): PacketSeal => {
  const about = Buffer.from(place);
  const keyOf = (name: Buffer): Buffer => createHmac('sha256', secret).update(name).digest();
  const keys = new Map<string, Buffer>();
  const ownName = hash('sha256', sender, 'buffer').subarray(0, NAME_BYTES);
  const ownKey = keyOf(ownName);
  let counter = 0n;
  const keyBy = (name: Buffer): Buffer => {
    const id = name.toString('latin1');
    const known = keys.get(id);
    if (known) return known;
    const key = keyOf(name);
    const [oldest] = keys.keys();
    if (keys.size >= MAX_KEYS && oldest !== undefined) keys.delete(oldest);
    keys.set(id, key);
    return key;
  };
  return {
    seal: (text) => {
      const nonce = Buffer.alloc(NONCE_BYTES);
      nonce.writeBigUInt64BE(counter++, NONCE_BYTES - COUNTER_BYTES);
      const cipher = createCipheriv('aes-256-gcm', ownKey, nonce, OPTIONS).setAAD(about);
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([ownName, nonce.subarray(NONCE_BYTES - COUNTER_BYTES), body, cipher.getAuthTag()]);
    },
    open: (sealed) => {
      if (sealed.byteLength < SEAL_BYTES) return undefined;
      const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
      const nonce = Buffer.alloc(NONCE_BYTES);
      bytes.copy(nonce, NONCE_BYTES - COUNTER_BYTES, NAME_BYTES, HEAD_BYTES);
      try {
        const decipher = createDecipheriv('aes-256-gcm', keyBy(Buffer.from(bytes.subarray(0, NAME_BYTES))), nonce, OPTIONS)
          .setAAD(about)
          .setAuthTag(bytes.subarray(bytes.length - TAG_BYTES));
        return decipher.update(bytes.subarray(HEAD_BYTES, bytes.length - TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
      } catch {
        return undefined; // not ours, or changed on its way
      }
    },
  };
};
