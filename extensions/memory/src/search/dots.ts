/**
 * Products of one vector with many, 16 numbers at a time.
 *
 * The program is dots.wat beside this file, assembled by wabt. Its memory: the vector that is asked about, the products of a slice, then the vectors.
 */
const PROGRAM =
  'AGFzbQEAAAABCQFgBX9/f39/AAIQAQRzY2FuBm1lbW9yeQIAAQMCAQAHCAEEZG90cwAACq4BAasBAgF/A3sCQANAIANFDQH9DAAAAAAAAAAAAAAAAAAAAAAhBkEAIQUDQCABIAVq/QAEACEHIAAgBWr9AAQAIQggBiAH/YcBIAj9hwH9ugH9rgEhBiAGIAf9iAEgCP2IAf26Af2uASEGIAVBEGohBSAFIAJJDQALIAQgBv0bACAG/RsBaiAG/RsCIAb9GwNqajYCACABIAJqIQEgBEEEaiEEIANBAWshAwwACwsL';

export interface Dots {
  put(row: number, vector: Int8Array): void;
  /** The last row takes the place of another, and is wiped where it stood. */
  moveLast(last: number, row: number): void;
  /** The products with `count` rows from this one on. Overwritten by the next call. */
  of(asked: Int8Array, from: number, count: number): Int32Array;
}

const PAGE = 65_536;
/** Numbers that one step takes. */
const STEP = 16;
const MAX_DIMENSIONS = PAGE;
const PRODUCTS_AT = PAGE;
const MAX_PRODUCTS = 65_536;
const VECTORS_AT = PRODUCTS_AT + MAX_PRODUCTS * 4;

/** Of WebAssembly, what is used here: its types come with those of browsers alone. */
declare const WebAssembly: {
  readonly Module: new (program: Uint8Array) => object;
  readonly Memory: new (size: { readonly initial: number }) => Memory;
  readonly Instance: new (module: object, imports: { readonly scan: { readonly memory: Memory } }) => { readonly exports: unknown };
};
interface Memory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

let compiled: object | undefined;

export const createDots = (dimensions: number): Dots => {
  if (dimensions > MAX_DIMENSIONS) throw new Error(`a vector of ${dimensions} numbers is longer than ${MAX_DIMENSIONS}`);
  // Rows end at a whole step; what fills them up is zero.
  const stride = Math.ceil(dimensions / STEP) * STEP;
  if (stride === 0) return { put: () => undefined, moveLast: () => undefined, of: () => new Int32Array(0) };
  compiled ??= new WebAssembly.Module(Buffer.from(PROGRAM, 'base64'));
  const memory = new WebAssembly.Memory({ initial: VECTORS_AT / PAGE + 1 });
  const { dots } = new WebAssembly.Instance(compiled, { scan: { memory } }).exports as { dots(query: number, row: number, size: number, count: number, out: number): void };
  let bytes = new Int8Array(memory.buffer);
  const reach = (end: number): void => {
    if (end <= bytes.length) return;
    // By a half more than is needed now: many small steps would copy much.
    memory.grow(Math.ceil((end - bytes.length + (end >> 1)) / PAGE));
    bytes = new Int8Array(memory.buffer);
  };
  const at = (row: number): number => VECTORS_AT + row * stride;
  return {
    put: (row, vector) => {
      reach(at(row + 1));
      bytes.set(vector, at(row));
    },
    moveLast: (last, row) => {
      bytes.copyWithin(at(row), at(last), at(last + 1));
      bytes.fill(0, at(last), at(last + 1));
    },
    of: (asked, from, count) => {
      bytes.fill(0, 0, stride);
      bytes.set(asked);
      dots(0, at(from), stride, count, PRODUCTS_AT);
      return new Int32Array(memory.buffer, PRODUCTS_AT, count);
    },
  };
};
