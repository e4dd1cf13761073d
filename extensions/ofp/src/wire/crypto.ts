/** The arithmetic of the handshake: keyed digests, identities and session keys. All keys are raw 32 bytes; on the wire they are base64. */
import { createHash, createHmac, createPrivateKey, createPublicKey, diffieHellman, hkdfSync, type KeyObject, timingSafeEqual, verify } from 'node:crypto';

export const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;
/** A raw X25519 private key as PKCS #8 (RFC 8410) has these bytes before it. */
const X25519_PKCS8 = Buffer.from('302e020100300506032b656e04220420', 'hex');
const HKDF_INFO = 'librefang-ofp/v1/session-key';
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Lower-case hex. */
export const mac = (key: string, data: string | Uint8Array): string => createHmac('sha256', key).update(data).digest('hex');

/** Over the text: upper-case hex is another text. */
export const sameText = (one: string, other: string): boolean => {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
};

/** Over the base64 text of the key, not its bytes. */
export const fingerprintOf = (publicKey: string): string => createHash('sha256').update(publicKey).digest('hex');

/** Undefined for what is not padded base64 of so many bytes. */
const decoded = (text: string, count: number): Buffer | undefined => {
  if (!BASE64.test(text)) return undefined;
  const bytes = Buffer.from(text, 'base64');
  return bytes.length === count ? bytes : undefined;
};

const publicKeyOf = (crv: 'Ed25519' | 'X25519', raw: Buffer): KeyObject => createPublicKey({ key: { kty: 'OKP', crv, x: raw.toString('base64url') }, format: 'jwk' });

/** Plain Ed25519 (RFC 8032). */
export const isSignedBy = (publicKey: string, text: string, signature: string): boolean => {
  const [key, sig] = [decoded(publicKey, KEY_BYTES), decoded(signature, SIGNATURE_BYTES)];
  if (!key || !sig) return false;
  try {
    return verify(null, Buffer.from(text), publicKeyOf('Ed25519', key), sig);
  } catch {
    return false; // bytes that are no point of the curve
  }
};

export interface Ephemeral {
  readonly privateKey: KeyObject;
  /** Base64 of the raw public key. */
  readonly publicKey: string;
}

export const ephemeralOf = (secret: Uint8Array): Ephemeral => {
  const privateKey = createPrivateKey({ key: Buffer.concat([X25519_PKCS8, secret]), format: 'der', type: 'pkcs8' });
  const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' });
  return { privateKey, publicKey: Buffer.from(x, 'base64url').toString('base64') };
};

/** Undefined for a key that is malformed, or whose secret would be all zeros. */
export const agreedSecret = ({ privateKey }: Ephemeral, other: string): Buffer | undefined => {
  const raw = decoded(other, KEY_BYTES);
  if (!raw) return undefined;
  try {
    const shared = diffieHellman({ privateKey, publicKey: publicKeyOf('X25519', raw) });
    return shared.some((byte) => byte !== 0) ? shared : undefined;
  } catch {
    return undefined; // a point of low order
  }
};

/** 64 hex characters; as such they are the key of each frame. */
export const sessionKeyOf = (shared: Uint8Array, clientNonce: string, serverNonce: string): string =>
  Buffer.from(hkdfSync('sha256', shared, `${clientNonce}|${serverNonce}`, HKDF_INFO, KEY_BYTES)).toString('hex');

/** Where one side sent no ephemeral key. */
export const plainSessionKey = (secret: string, clientNonce: string, serverNonce: string): string => mac(secret, `${clientNonce}${serverNonce}`);
