/** The sum of a table: the same for the same rows, in whatever order, of whichever engine. */
import { createHash } from 'node:crypto';
import type { Cells } from './move-end.js';

const MODULUS = 1n << 128n;

export interface RowSum {
  add(row: Cells): void;
  /** 32 hexadecimal digits. */
  text(): string;
}

/** Goes on from a sum that was written down. */
export const createRowSum = (from = ''): RowSum => {
  let sum = from === '' ? 0n : BigInt(`0x${from}`);
  return {
    add: (row) => {
      sum = (sum + BigInt(`0x${hashOf(row)}`)) % MODULUS;
    },
    text: () => sum.toString(16).padStart(32, '0'),
  };
};

/** With its length before each value, so that no two rows read the same. */
const hashOf = (row: Cells): string => {
  const hash = createHash('sha256');
  for (const cell of row) hash.update(cell === null ? '-' : `${Buffer.byteLength(cell)}:${cell}`);
  return hash.digest('hex').slice(0, 32);
};
