/** Runs one call of a module in this thread. It is ended from outside where it takes too long; its fuel ends it before. */
import { createHash } from 'node:crypto';
import { WasmFault } from './bytes.js';
import { FUEL, HOST_MODULES, metered } from './meter.js';

export interface WasmCall {
  readonly module: Uint8Array;
  /** JSON, as programs of other kinds get it. */
  readonly input: string;
  readonly fuel: number;
  readonly pages: number;
  /** Text files of the skill, which a module may ask for. */
  readonly files: ReadonlyArray<{ readonly path: string; readonly text: string }>;
}

export interface WasmEnd {
  readonly isError: boolean;
  /** What it answered, or why it ended. */
  readonly text: string;
  readonly fuelUsed: number;
  readonly logs: readonly string[];
}

/** Of WebAssembly, what is used here: its types come with those of browsers alone. */
declare const WebAssembly: {
  readonly Module: new (program: Uint8Array) => object;
  readonly Instance: new (module: object, imports: Readonly<Record<string, object>>) => { readonly exports: Readonly<Record<string, unknown>> };
  readonly RuntimeError: new () => Error;
  validate(program: Uint8Array): boolean;
};
interface Guest {
  readonly memory: { readonly buffer: ArrayBuffer };
  alloc(size: number): number;
  execute(address: number, size: number): bigint;
  readonly [FUEL]: { value: number };
}

const MAX_ANSWER_BYTES = 1024 * 1024;
const MAX_LOGS = 100;
const MAX_LOG_CHARS = 1_000;
const HOST_CALL_COST = 100;
const MAX_COMPILED = 4;
const LEVELS = ['trace', 'debug', 'info', 'warn', 'error'];

const compiled = new Map<string, object>();

export const runWasm = (call: WasmCall): WasmEnd => {
  const logs: string[] = [];
  let guest: Guest | undefined;
  const used = (): number => (guest ? call.fuel - guest[FUEL].value : 0);
  const failed = (text: string): WasmEnd => ({ isError: true, text, fuelUsed: Math.min(call.fuel, used()), logs });
  const isEmpty = (): boolean => guest !== undefined && guest[FUEL].value < 0;
  try {
    const module = moduleOf(call);
    const host = hostOf(call, logs, () => guest);
    const instance = new WebAssembly.Instance(module, Object.fromEntries(HOST_MODULES.map((name) => [name, host])));
    guest = instance.exports as unknown as Guest;
    const text = answerOf(guest, call.input);
    return isEmpty() ? failed(saidOf(call)) : { isError: false, text, fuelUsed: used(), logs };
  } catch (error) {
    if (isEmpty()) return failed(saidOf(call));
    if (error instanceof WasmFault) return failed(error.message);
    // A start section ran out of fuel, before there is an instance to look at.
    if (error instanceof WebAssembly.RuntimeError) return failed(guest ? `it ended: ${error.message}` : `it ended while it was started: ${error.message}`);
    if (error instanceof RangeError) return failed('its calls nest too deep');
    return failed(`it could not be run: ${error instanceof Error ? error.message : String(error)}`);
  }
};

const saidOf = ({ fuel }: WasmCall): string => `it used up its fuel of ${fuel}`;

const moduleOf = ({ module, fuel, pages }: WasmCall): object => {
  const key = `${createHash('sha256').update(module).digest('hex')} ${fuel} ${pages}`;
  const known = compiled.get(key);
  if (known) return known;
  // First: what is added may only be reached by code that is valid without it.
  if (!WebAssembly.validate(module)) throw new WasmFault('it is no valid WebAssembly module, or uses what this version of Node does not run');
  const made = new WebAssembly.Module(metered(module, { fuel, pages }));
  if (compiled.size >= MAX_COMPILED) compiled.clear();
  compiled.set(key, made);
  return made;
};

const answerOf = (guest: Guest, input: string): string => {
  const [address, size] = put(guest, Buffer.from(input, 'utf8'));
  const packed = BigInt.asUintN(64, BigInt(guest.execute(address, size)));
  return Buffer.from(part(guest, Number(packed >> 32n), Number(packed & 0xffffffffn))).toString('utf8');
};

/** Where the guest holds these bytes. */
const put = (guest: Guest, bytes: Uint8Array): [address: number, size: number] => {
  const address = guest.alloc(bytes.length) >>> 0;
  part(guest, address, bytes.length).set(bytes);
  return [address, bytes.length];
};

const part = ({ memory }: Guest, address: number, size: number): Uint8Array => {
  if (size > MAX_ANSWER_BYTES) throw new WasmFault(`it gave more than ${MAX_ANSWER_BYTES} bytes`);
  if (address + size > memory.buffer.byteLength) throw new WasmFault('it named an address outside of its memory');
  return new Uint8Array(memory.buffer, address, size);
};

const hostOf = ({ files }: WasmCall, logs: string[], guestOf: () => Guest | undefined): object => {
  const guest = (size: number): Guest => {
    const found = guestOf();
    if (!found) throw new WasmFault('it called its host while it was started');
    found[FUEL].value = Math.max(-1, found[FUEL].value - HOST_CALL_COST - (size >>> 3));
    if (found[FUEL].value < 0) throw new WasmFault('no fuel is left');
    return found;
  };
  const textAt = (address: number, size: number): string => Buffer.from(part(guest(size >>> 0), address >>> 0, size >>> 0)).toString('utf8');
  return {
    host_call: (address: number, size: number): bigint => {
      const answer = Buffer.from(JSON.stringify(hostAnswer(files, textAt(address, size))), 'utf8');
      const [at, length] = put(guest(answer.length), answer);
      return (BigInt(at) << 32n) | BigInt(length);
    },
    host_log: (level: number, address: number, size: number): void => {
      const said = textAt(address, size);
      if (logs.length < MAX_LOGS) logs.push(`${LEVELS[level] ?? 'info'}: ${said.slice(0, MAX_LOG_CHARS)}`);
    },
  };
};

/** A module reads the files of its own skill. What reaches further is refused by name. */
const hostAnswer = (files: WasmCall['files'], request: string): { ok: unknown } | { error: string } => {
  try {
    const { method, params } = JSON.parse(request) as { method?: unknown; params?: { path?: unknown } };
    if (method === 'list_files') return { ok: files.map(({ path }) => path) };
    if (method !== 'read_file' && method !== 'fs_read') return { error: `denied: a module may call read_file and list_files, not ${String(method)}` };
    const found = files.find(({ path }) => path === params?.path);
    return found ? { ok: found.text } : { error: `not found: ${String(params?.path)}` };
  } catch {
    return { error: 'the request is no JSON' };
  }
};
