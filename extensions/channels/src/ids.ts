/** Ids that follow from names, by RFC 9562: the same names give the same id. */
import { createHash } from 'node:crypto';
import { uuidOfHex } from '@svc/api';

/** Of svc's channels. Never changes: conversations are found by it. */
const NAMESPACE = Buffer.from('6f1f0f9c5d2b5d0a9c1e7a4b3c2d1e0f', 'hex');

export const uuidV5 = (...names: readonly string[]): string => {
  const digest = createHash('sha1').update(NAMESPACE).update(JSON.stringify(names)).digest().subarray(0, 16);
  digest.writeUInt8((digest.readUInt8(6) & 0x0f) | 0x50, 6);
  digest.writeUInt8((digest.readUInt8(8) & 0x3f) | 0x80, 8);
  return uuidOfHex(digest.toString('hex'));
};
