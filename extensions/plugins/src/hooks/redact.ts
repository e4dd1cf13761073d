/** The beginning of a text as traces have it, without what looks like a secret. */
import { KEY_BEGINNING } from '@svc/api';

const HEAD_CHARS = 2_000;
const KEY = new RegExp(`(?<![A-Za-z0-9])${KEY_BEGINNING}[A-Za-z0-9_-]{6,}`, 'g');
const NAMED = /\b([A-Za-z0-9_-]*(?:key|secret|token|password|passwd|authorization)[A-Za-z0-9_-]*"?\s*[:=]\s*"?)(?:bearer\s+)?(?!-?[\d.]+[\s,;}\]])[^\s",;}]{4,}/gi;
const PEM = /-----BEGIN [^-]+-----[\s\S]*?(?:-----END [^-]+-----|$)/g;

export const redacted = (text: string): string => text.replace(PEM, '***').replace(KEY, '***').replace(NAMED, '$1***');

export const headOf = (data: Uint8Array | string): string => {
  const text = typeof data === 'string' ? data.slice(0, HEAD_CHARS * 2) : Buffer.from(data.buffer, data.byteOffset, Math.min(data.byteLength, HEAD_CHARS * 4)).toString('utf8');
  // A NUL has no place in a text of the database.
  return redacted(text).replaceAll('\0', '\uFFFD').slice(0, HEAD_CHARS);
};
