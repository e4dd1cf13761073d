/** The instructions that are metered, with what follows each of them. Any other one is refused by its number. */
import { byte, type Bytes, number, pass, passNumber, WasmFault } from './bytes.js';

export const OP = {
  unreachable: 0x00,
  block: 0x02,
  loop: 0x03,
  if: 0x04,
  else: 0x05,
  end: 0x0b,
  br: 0x0c,
  brIf: 0x0d,
  brTable: 0x0e,
  return: 0x0f,
  returnCall: 0x12,
  returnCallIndirect: 0x13,
  memoryGrow: 0x40,
} as const;
const BULK = 0xfc;
const SIMD = 0xfd;

/** What a bulk operation does `n` times, `n` being the last operand: bytes of memory, or elements of a table. */
export type Bulk = 'pages' | 'bytes' | 'elements';

export interface Instruction {
  readonly op: number;
  readonly bulk?: Bulk;
}

const refuse = (op: number, more?: number): never => {
  const hex = [op, ...(more === undefined ? [] : [more])].map((part) => `0x${part.toString(16)}`).join(' ');
  throw new WasmFault(`it has the instruction ${hex}, which is not metered. Build it without threads, exceptions, garbage collection and relaxed SIMD`);
};

/** Passes over one instruction. */
export const instruction = (from: Bytes): Instruction => {
  const op = byte(from);
  if (op >= 0x45 && op <= 0xc4) return { op };
  if (op >= 0x28 && op <= 0x3e) memoryArgument(from);
  else if (op >= 0x20 && op <= 0x26) number(from);
  else if (op === BULK) return { op, ...bulk(from) };
  else if (op === SIMD) simd(from);
  else other(op, from);
  return op === OP.memoryGrow ? { op, bulk: 'pages' } : { op };
};

const PLAIN = new Set([0x00, 0x01, 0x05, 0x0b, 0x0f, 0x1a, 0x1b, 0xd1]);
/** A type or a constant with a sign. */
const SIGNED = new Set([0x02, 0x03, 0x04, 0x41, 0x42, 0xd0]);
const NUMBERED = new Set([0x0c, 0x0d, 0x10, 0x12, 0x3f, 0x40, 0xd2]);
const INDIRECT = new Set([0x11, 0x13]);
const FRACTIONS: ReadonlyMap<number, number> = new Map([
  [0x43, 4],
  [0x44, 8],
]);
/** Labels and one more, or types. */
const LISTS: ReadonlyMap<number, number> = new Map([
  [OP.brTable, 1],
  [0x1c, 0],
]);

const other = (op: number, from: Bytes): void => {
  const [bytes, more] = [FRACTIONS.get(op), LISTS.get(op)];
  if (PLAIN.has(op)) return;
  if (SIGNED.has(op)) passNumber(from);
  else if (NUMBERED.has(op)) number(from);
  else if (INDIRECT.has(op)) {
    number(from);
    number(from);
  } else if (bytes !== undefined) pass(from, bytes);
  else if (more !== undefined) {
    for (let count = number(from) + more; count > 0; count -= 1) passNumber(from);
  } else refuse(op);
};

const memoryArgument = (from: Bytes): void => {
  // Bit 6 says that a number of the memory follows.
  if ((number(from) & 0x40) !== 0) number(from);
  passNumber(from);
};

const bulk = (from: Bytes): { bulk?: Bulk } => {
  const op = number(from);
  if (op <= 7) return {};
  if (op > 17) refuse(BULK, op);
  number(from);
  if ([8, 10, 12, 14].includes(op)) number(from);
  if ([8, 10, 11].includes(op)) return { bulk: 'bytes' };
  return [12, 14, 15, 17].includes(op) ? { bulk: 'elements' } : {};
};

const simd = (from: Bytes): void => {
  const op = number(from);
  if (op > 255) refuse(SIMD, op);
  if (op <= 11 || op === 92 || op === 93) memoryArgument(from);
  else if (op === 12 || op === 13) pass(from, 16);
  else if (op >= 21 && op <= 34) pass(from, 1);
  else if (op >= 84 && op <= 91) {
    memoryArgument(from);
    pass(from, 1);
  }
};
