/** Bytes of a WebAssembly module: read in order, and written. */

export class WasmFault extends Error {
  override readonly name = 'WasmFault';
}

export interface Bytes {
  at: number;
  readonly data: Uint8Array;
}

export const byte = (from: Bytes): number => {
  const value = from.data[from.at];
  if (value === undefined) throw new WasmFault('it ends in the middle');
  from.at += 1;
  return value;
};

/** A number in LEB128, without a sign, of at most 32 bits. */
export const number = (from: Bytes): number => {
  let value = 0;
  for (let shift = 0; shift < 35; shift += 7) {
    const part = byte(from);
    value += (part & 0x7f) * 2 ** shift;
    if (part < 0x80) return value;
  }
  throw new WasmFault('it has a number of more than 32 bits');
};

/** Passes over a number in LEB128 of any kind. */
export const passNumber = (from: Bytes): void => {
  while (byte(from) >= 0x80);
};

export const pass = (from: Bytes, count: number): void => {
  from.at += count;
  if (from.at > from.data.length) throw new WasmFault('it ends in the middle');
};

export const take = (from: Bytes, count: number): Uint8Array => {
  const start = from.at;
  pass(from, count);
  return from.data.subarray(start, from.at);
};

export const text = (from: Bytes): string => Buffer.from(take(from, number(from))).toString('utf8');

/** The same number as bytes. */
export const numberBytes = (value: number): number[] => {
  const bytes: number[] = [];
  let rest = value;
  do {
    const part = rest % 128;
    rest = Math.floor(rest / 128);
    bytes.push(rest > 0 ? part | 0x80 : part);
  } while (rest > 0);
  return bytes;
};

/** With a sign, as constants have it. */
export const signedBytes = (value: bigint): number[] => {
  const bytes: number[] = [];
  let rest = value;
  for (;;) {
    const part = Number(rest & 0x7fn);
    rest >>= 7n;
    const isLast = (rest === 0n && (part & 0x40) === 0) || (rest === -1n && (part & 0x40) !== 0);
    bytes.push(isLast ? part : part | 0x80);
    if (isLast) return bytes;
  }
};

export const textBytes = (value: string): number[] => {
  const bytes = Buffer.from(value, 'utf8');
  return [...numberBytes(bytes.length), ...bytes];
};
