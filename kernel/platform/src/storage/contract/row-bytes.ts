/** What a row takes in memory, near enough: its texts and bytes, and a little for each value. */
import type { DriverRow } from './engine.js';

const VALUE_BYTES = 16;

export const bytesOf = (row: DriverRow): number => {
  let bytes = 0;
  for (const name in row) {
    const value = row[name];
    bytes += typeof value === 'string' || value instanceof Uint8Array ? value.length + VALUE_BYTES : VALUE_BYTES;
  }
  return bytes;
};
