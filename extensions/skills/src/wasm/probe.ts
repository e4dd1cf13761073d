/** A module that never ends. */
import { numberBytes, textBytes } from './bytes.js';

const section = (id: number, bytes: readonly number[]): number[] => [id, ...numberBytes(bytes.length), ...bytes];

export const probeModule = (): Uint8Array =>
  Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
    // alloc: one number in, one out; execute: two in, one of 64 bits out.
    ...section(1, [2, 0x60, 1, 0x7f, 1, 0x7f, 0x60, 2, 0x7f, 0x7f, 1, 0x7e]),
    ...section(3, [2, 0, 1]),
    ...section(5, [1, 0, 1]),
    ...section(7, [3, ...textBytes('memory'), 2, 0, ...textBytes('alloc'), 0, 0, ...textBytes('execute'), 0, 1]),
    // alloc answers 0; execute branches to its own loop for ever.
    ...section(10, [2, 4, 0, 0x41, 0, 0x0b, 9, 0, 0x03, 0x40, 0x0c, 0, 0x0b, 0x42, 0, 0x0b]),
  ]);
