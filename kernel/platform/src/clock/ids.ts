/** Identity and chance: from the system's random source, or from a seed so that a run can be replayed. */
import { createHash, randomBytes } from 'node:crypto';
import { type Ids, uuidOfHex } from '@svc/api';

const RANDOM_BITS_USED = 48;
const UUID_BYTES = 16;

/** Asking the system costs the same for six bytes and for four thousand. */
const POOL_BYTES = 4_096;

export const systemIds = (): Ids => {
  const take = createPool();
  return {
    uuid: () => timed(take(UUID_BYTES), Date.now()),
    hex: (count) => take(count).toString('hex'),
    bytes: (count) => new Uint8Array(randomBytes(count)),
    random: () => fraction(take(6)),
  };
};

/** Each byte is handed out once. */
const createPool = (): ((count: number) => Buffer) => {
  let pool = Buffer.alloc(0);
  return (count) => {
    if (pool.length < count) pool = randomBytes(Math.max(POOL_BYTES, count));
    const taken = pool.subarray(0, count);
    pool = pool.subarray(count);
    return taken;
  };
};

/** The same seed gives the same ids in the same order. Not for secrets. */
export const seededIds = (seed: string | number): Ids => {
  let block = 0;
  let pool = Buffer.alloc(0);
  const take = (count: number): Buffer => {
    while (pool.length < count) pool = Buffer.concat([pool, createHash('sha256').update(`${seed}:${block++}`).digest()]);
    const taken = pool.subarray(0, count);
    pool = pool.subarray(count);
    return taken;
  };
  return {
    uuid: () => formatUuid(Buffer.from(take(UUID_BYTES)), 4),
    hex: (count) => take(count).toString('hex'),
    bytes: (count) => new Uint8Array(take(count)),
    random: () => fraction(take(6)),
  };
};

const fraction = (six: Buffer): number => six.readUIntBE(0, 6) / 2 ** RANDOM_BITS_USED;

/** Version 7: the time first, so that what was made together stands together in an index, and 74 bits of chance (RFC 9562, 5.7). */
const timed = (raw: Buffer, nowMs: number): string => {
  raw.writeUIntBE(nowMs, 0, 6);
  return formatUuid(raw, 7);
};

/** Variant 1 (RFC 9562, 4.1). */
const formatUuid = (raw: Buffer, version: number): string => {
  raw.writeUInt8((raw.readUInt8(6) & 0x0f) | (version << 4), 6);
  raw.writeUInt8((raw.readUInt8(8) & 0x3f) | 0x80, 8);
  return uuidOfHex(raw.toString('hex'));
};
