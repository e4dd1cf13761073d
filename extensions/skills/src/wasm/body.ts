/** One function of a module, with what counts its fuel. */
import { byte, type Bytes, number, numberBytes, signedBytes, WasmFault } from './bytes.js';
import { type Bulk, instruction, OP } from './instructions.js';

/** 32 and 64 bits, whole numbers and fractions, vectors, references. */
const VALUE_TYPES = new Set([0x7f, 0x7e, 0x7d, 0x7c, 0x7b, 0x70, 0x6f]);
const I32 = 0x7f;
const I64 = 0x7e;
/** A block that costs more looks itself whether fuel is left. */
const MAX_UNSEEN = 10_000;
const FREE = new Set<number>([0x01, OP.block, OP.loop, OP.else, OP.end]);
/** What follows begins a new block. */
const ENDS: ReadonlySet<number> = new Set([OP.loop, OP.if, OP.else, OP.end, OP.br, OP.brIf, OP.brTable, OP.return, OP.unreachable, OP.returnCall, OP.returnCallIndirect]);
/** For eight bytes one unit; for one element one. */
const BYTES_SHIFT = 3n;
const PAGE_COST = 65_536n >> BYTES_SHIFT;

/** `from` stands behind the size of the body; `params`: how many parameters it has; `fuel`: the number of the global that holds it. */
export const meteredBody = (from: Bytes, end: number, params: number, fuel: number): number[] => {
  const locals = localsOf(from);
  const spare = params + locals.reduce((sum, { count }) => sum + count, 0);
  const charge = chargesOf(numberBytes(fuel), numberBytes(spare), numberBytes(spare + 1));
  const out: number[] = [];
  let hasBulk = false;
  // The entry of a function and the head of a loop look whether fuel is left: every cycle passes one of them.
  let doesLook = true;
  let block: number[] = [];
  let cost = 1;
  let unseen = 0;
  const close = (): void => {
    unseen = doesLook ? 0 : unseen + cost;
    if (unseen > MAX_UNSEEN) [doesLook, unseen] = [true, 0];
    if (cost > 0) push(out, charge.fixed(cost, doesLook));
    push(out, block);
    [block, cost, doesLook] = [[], 0, false];
  };
  while (from.at < end) {
    const start = from.at;
    const { op, bulk } = instruction(from);
    if (!FREE.has(op)) cost += 1;
    if (bulk) {
      hasBulk = true;
      push(block, charge.byLength(bulk));
    }
    push(block, from.data.subarray(start, from.at));
    if (!ENDS.has(op)) continue;
    close();
    if (op === OP.loop) [doesLook, cost] = [true, 1];
  }
  if (from.at !== end) throw new WasmFault('a function ends in the middle');
  close();
  const kept = [...locals.map(({ count, type }) => [...numberBytes(count), type]), [1, I32], ...(hasBulk ? [[1, I64]] : [])];
  return [...numberBytes(kept.length), ...kept.flat(), ...out];
};

/** Without spreading, which has a limit. */
const push = (to: number[], bytes: ArrayLike<number>): void => {
  for (let index = 0; index < bytes.length; index += 1) to.push(bytes[index] ?? 0);
};

const localsOf = (from: Bytes): Array<{ count: number; type: number }> =>
  Array.from({ length: number(from) }, () => {
    const count = number(from);
    const type = byte(from);
    if (!VALUE_TYPES.has(type)) throw new WasmFault('it has a type of garbage collection, which is not metered');
    return { count, type };
  });

/** In 32 bits, which engines compare and branch on in one step. What goes by length is counted in 64, so that nothing wraps around. */
const chargesOf = (fuel: readonly number[], spare: readonly number[], wide: readonly number[]) => {
  const [get, set] = [
    [0x23, ...fuel],
    [0x24, ...fuel],
  ];
  return {
    fixed: (cost: number, doesLook: boolean): number[] => [
      ...[...get, 0x41, ...signedBytes(BigInt(cost)), 0x6b],
      // if fuel < 0 then unreachable
      ...(doesLook ? [0x22, ...spare, ...set, 0x20, ...spare, 0x41, 0x00, 0x48, 0x04, 0x40, 0x00, 0x0b] : set),
    ],
    byLength: (bulk: Bulk): number[] => {
      const scaled = bulk === 'elements' ? [] : bulk === 'bytes' ? [0x42, ...signedBytes(BYTES_SHIFT), 0x88] : [0x42, ...signedBytes(PAGE_COST), 0x7e];
      return [
        ...[0x22, ...spare, ...get, 0xac, 0x20, ...spare, 0xad, ...scaled, 0x7d, 0x22, ...wide],
        // if what is left < 0 then fuel = -1 and unreachable
        ...[0x42, 0x00, 0x53, 0x04, 0x40, 0x41, 0x7f, ...set, 0x00, 0x0b],
        ...[0x20, ...wide, 0xa7, ...set],
      ];
    },
  };
};

/** Passes over limits of a table or memory. */
export const limitsOf = (from: Bytes, what: string): { min: number; max: number | undefined } => {
  const flags = byte(from);
  if (flags > 1) throw new WasmFault(`its ${what} is shared, has 64-bit addresses or pages of another size, which is not metered`);
  return { min: number(from), max: flags === 1 ? number(from) : undefined };
};

export const isValueType = (type: number): boolean => VALUE_TYPES.has(type);
