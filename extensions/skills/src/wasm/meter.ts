/**
 * A module that counts what it does.
 *
 * M1  Each basic block is charged before it runs, operations on memory and tables by their length. Without fuel a module ends, at the same place each time.
 * M2  Memory and tables have a maximum, whatever the module says.
 * M3  A module imports host_call and host_log of `svc` alone. Others are refused by name, WASI among them.
 * M4  What is not known to be metered is refused.
 */
import { byte, type Bytes, number, numberBytes, passNumber, signedBytes, take, text, textBytes, WasmFault } from './bytes.js';
import { isValueType, limitsOf, meteredBody } from './body.js';

/** The name of the fuel among the exports. */
export const FUEL = 'svc.fuel';
export const HOST_MODULES: readonly string[] = ['svc', 'librefang'];
export const HOST_FUNCTIONS: readonly string[] = ['host_call', 'host_log'];
export const MAX_MODULE_BYTES = 4 * 1024 * 1024;
export const MAX_FUEL = 2_000_000_000;
const HEADER = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];
const MAX_ELEMENTS = 100_000;
const NEEDED = ['memory', 'alloc', 'execute'];
const SECTION = { type: 1, import: 2, function: 3, table: 4, memory: 5, global: 6, export: 7, code: 10 } as const;
/** As a module has them. */
const ORDER = [1, 2, 3, 4, 5, 13, 6, 7, 8, 9, 12, 10, 11];
const I32 = 0x7f;

export interface Limits {
  /** At most MAX_FUEL. */
  readonly fuel: number;
  /** Of 64 KiB each. */
  readonly pages: number;
}

type Sections = Map<number, Bytes>;

/** Throws `WasmFault`. The module is one that an engine accepts. */
export const metered = (module: Uint8Array, limits: Limits): Uint8Array => {
  const sections = sectionsOf(module);
  if (sections.has(13)) throw new WasmFault('it has exceptions, which are not metered');
  const params = paramsOf(sections.get(SECTION.type));
  checkImports(sections.get(SECTION.import));
  const globals = at(sections, SECTION.global);
  // Imports give no globals.
  const count = globals ? number(globals) : 0;
  const parts = new Map<number, ArrayLike<number>>();
  for (const [id, { data }] of sections) parts.set(id, data);
  parts.set(SECTION.memory, memoryOf(at(sections, SECTION.memory), limits.pages));
  const tables = at(sections, SECTION.table);
  if (tables) parts.set(SECTION.table, tablesOf(tables));
  const fuel = [I32, 0x01, 0x41, ...signedBytes(BigInt(limits.fuel)), 0x0b];
  parts.set(SECTION.global, [...numberBytes(count + 1), ...(globals ? globals.data.subarray(globals.at) : []), ...fuel]);
  parts.set(SECTION.export, exportsOf(at(sections, SECTION.export), count));
  const functions = at(sections, SECTION.function);
  const types = functions ? Array.from({ length: number(functions) }, () => number(functions)) : [];
  const code = at(sections, SECTION.code);
  if (code) parts.set(SECTION.code, codeOf(code, types, params, count));
  return joined(parts);
};

const sectionsOf = (module: Uint8Array): Sections => {
  const from: Bytes = { data: module, at: HEADER.length };
  if (HEADER.some((value, index) => module[index] !== value)) throw new WasmFault('it is no WebAssembly module of version 1');
  const sections: Sections = new Map();
  while (from.at < module.length) {
    const id = byte(from);
    const data = take(from, number(from));
    // Names for people, and what tools leave.
    if (id === 0) continue;
    if (!ORDER.includes(id)) throw new WasmFault(`it has a section of the kind ${id}, which is not known`);
    sections.set(id, { data, at: 0 });
  }
  return sections;
};

const at = (sections: Sections, id: number): Bytes | undefined => sections.get(id);

const paramsOf = (from: Bytes | undefined): number[] =>
  from === undefined
    ? []
    : Array.from({ length: number(from) }, () => {
        if (byte(from) !== 0x60) throw new WasmFault('it has a type of garbage collection, which is not metered');
        const [params] = [types(from), types(from)];
        return params;
      });

const types = (from: Bytes): number => {
  const count = number(from);
  for (let index = 0; index < count; index += 1) if (!isValueType(byte(from))) throw new WasmFault('it has a type of garbage collection, which is not metered');
  return count;
};

const checkImports = (from: Bytes | undefined): void => {
  if (from === undefined) return;
  const count = number(from);
  for (let index = 0; index < count; index += 1) {
    const [module, name] = [text(from), text(from)];
    const kind = byte(from);
    if (/^wasi/.test(module)) throw new WasmFault(`it imports ${module}.${name}: there is no WASI here. Build it for wasm32-unknown-unknown`);
    if (kind !== 0 || !HOST_MODULES.includes(module) || !HOST_FUNCTIONS.includes(name))
      throw new WasmFault(`it imports ${module}.${name}. There are host_call and host_log of the module svc, and nothing else`);
    number(from);
  }
};

const memoryOf = (from: Bytes | undefined, pages: number): number[] => {
  if (from === undefined || number(from) !== 1) throw new WasmFault('it has not one memory of its own');
  const { min, max } = limitsOf(from, 'memory');
  if (min > pages) throw new WasmFault(`it wants ${min} pages of memory at its start, and may have ${pages}`);
  return [1, 1, ...numberBytes(min), ...numberBytes(Math.min(max ?? pages, pages))];
};

const tablesOf = (from: Bytes): number[] => {
  const count = number(from);
  const out = [...numberBytes(count)];
  for (let index = 0; index < count; index += 1) {
    const type = byte(from);
    if (!isValueType(type)) throw new WasmFault('it has a table of a type that is not metered');
    const { min, max } = limitsOf(from, 'table');
    if (min > MAX_ELEMENTS) throw new WasmFault(`it wants a table of ${min} elements, and may have ${MAX_ELEMENTS}`);
    out.push(type, 1, ...numberBytes(min), ...numberBytes(Math.min(max ?? MAX_ELEMENTS, MAX_ELEMENTS)));
  }
  return out;
};

const exportsOf = (from: Bytes | undefined, fuel: number): number[] => {
  if (from === undefined) throw new WasmFault('it exports nothing');
  const count = number(from);
  const start = from.at;
  const names = new Set<string>();
  for (let index = 0; index < count; index += 1) {
    names.add(text(from));
    byte(from);
    passNumber(from);
  }
  const missing = NEEDED.filter((name) => !names.has(name));
  if (missing.length > 0) throw new WasmFault(`it does not export ${missing.join(', ')}`);
  if (names.has(FUEL)) throw new WasmFault(`it exports ${FUEL}, which is taken`);
  return [...numberBytes(count + 1), ...from.data.subarray(start), ...textBytes(FUEL), 0x03, ...numberBytes(fuel)];
};

const codeOf = (from: Bytes, ofFunctions: readonly number[], params: readonly number[], fuel: number): number[] => {
  const count = number(from);
  const out = [...numberBytes(count)];
  for (let index = 0; index < count; index += 1) {
    const size = number(from);
    const body = meteredBody(from, from.at + size, params[ofFunctions[index] ?? 0] ?? 0, fuel);
    for (const value of numberBytes(body.length)) out.push(value);
    for (const value of body) out.push(value);
  }
  return out;
};

const joined = (parts: ReadonlyMap<number, ArrayLike<number>>): Uint8Array => {
  const pieces: Uint8Array[] = [Uint8Array.from(HEADER)];
  for (const id of ORDER) {
    const part = parts.get(id);
    if (part) pieces.push(Uint8Array.from([id, ...numberBytes(part.length)]), Uint8Array.from(part));
  }
  return Buffer.concat(pieces);
};
