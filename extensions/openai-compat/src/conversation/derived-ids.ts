import { createHash } from 'node:crypto';
import { uuidOfHex } from '@svc/api';

/** A UUID of version 8: the first bits of a hash. The same words give the same id. */
export const uuidOf = (words: readonly string[]): string => {
  const hash = createHash('sha256').update(JSON.stringify(words)).digest();
  hash.writeUInt8((hash.readUInt8(6) & 0x0f) | 0x80, 6);
  hash.writeUInt8((hash.readUInt8(8) & 0x3f) | 0x80, 8);
  return uuidOfHex(hash.toString('hex', 0, 16));
};
