/**
 * Compiles CommonJS once: what V8 made of a file is kept in a folder, and the next start takes it from there.
 *
 * Q1  Kept under a digest of the source and of the V8 that compiled it, so another build or another Node never meets it.
 * Q2  Taken only when it is whole: its own digest stands before it, and V8 looks again.
 * Q3  Nothing depends on it. A folder that cannot be read or written costs time and nothing else.
 * Q4  It stands beside the code, where whoever could change one could change the other.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import Module from 'node:module';
import { join } from 'node:path';
import v8 from 'node:v8';
import vm from 'node:vm';

/** The function that CommonJS source is wrapped in. */
export type ModuleFunction = (exports: unknown, require: (name: string) => unknown, module: { exports: unknown }, filename: string, dirname: string) => void;

export interface CodeCache {
  /** Reads and compiles `file`, which requires and does not import; throws what the system or V8 finds wrong with it. */
  compile(file: string): ModuleFunction;
  /** Writes what had to be compiled, as V8 has it by now, and removes what nobody has used for a month. Resolves with how many files were written. */
  keep(): Promise<number>;
}

interface Compiled {
  readonly kept: string;
  readonly script: vm.Script;
}

const DIGEST_BYTES = 32;
const NAME_LETTERS = 32;
const DAY_MS = 24 * 3_600_000;
const UNUSED_MS = 30 * DAY_MS;
/** Node wraps modules in the same words; what a stack says about the first line leaves them out. */
const WRAPPED_COLUMNS = Module.wrap('').indexOf('\n');

export function createCodeCache(folder: string): CodeCache {
  const fresh: Compiled[] = [];
  const taken: string[] = [];
  return {
    compile: (file) => {
      // Read at once: some tens of kilobytes cost less that way than four trips each, and a start reads them all.
      const source = readFileSync(file);
      const kept = join(folder, `${nameOf(source)}.bin`);
      const cachedData = readWhole(kept);
      const script = scriptOf(file, source.toString('utf8'), cachedData);
      if (cachedData && script.cachedDataRejected !== true) taken.push(kept);
      else fresh.push({ kept, script });
      return functionOf(script);
    },
    keep: async () => {
      const written = await writeAll(folder, fresh.splice(0));
      await sweep(folder, new Set([...written, ...taken.splice(0)])).catch(() => undefined); // Q3
      return written.length;
    },
  };
}

/** The source of a CommonJS file, compiled; run, it evaluates to the function of a module. */
export const scriptOf = (file: string, source: string, cachedData?: Buffer): vm.Script =>
  new vm.Script(Module.wrap(source), { filename: file, columnOffset: -WRAPPED_COLUMNS, ...(cachedData ? { cachedData } : {}) });

/** A function of its own each time: modules that it makes share nothing. */
export const functionOf = (script: vm.Script): ModuleFunction => script.runInThisContext() as ModuleFunction; // the wrapper evaluates to it

const nameOf = (source: Uint8Array): string => createHash('sha256').update(`${v8.cachedDataVersionTag()} ${process.arch}\n`).update(source).digest('hex').slice(0, NAME_LETTERS);

const digestOf = (data: Uint8Array): Buffer => createHash('sha256').update(data).digest();

function readWhole(file: string): Buffer | undefined {
  try {
    const bytes = readFileSync(file);
    const data = bytes.subarray(DIGEST_BYTES);
    return digestOf(data).equals(bytes.subarray(0, DIGEST_BYTES)) ? data : undefined;
  } catch {
    return undefined; // none yet, or not ours to read
  }
}

/** Whole or not at all under its name: another process may be about to read it. Resolves with the files that stand. */
async function writeAll(folder: string, compiled: readonly Compiled[]): Promise<string[]> {
  const written: string[] = [];
  try {
    if (compiled.length > 0) mkdirSync(folder, { recursive: true });
    for (const { kept, script } of compiled) {
      const data = script.createCachedData();
      const draft = `${kept}.${process.pid}.tmp`;
      await writeFile(draft, Buffer.concat([digestOf(data), data]));
      await rename(draft, kept);
      written.push(kept);
    }
  } catch {
    return written; // Q3: a folder of somebody else, or a full disk
  }
  return written;
}

async function sweep(folder: string, used: ReadonlySet<string>): Promise<void> {
  const now = Date.now();
  for (const name of await readdir(folder)) {
    const file = join(folder, name);
    const ageMs = now - (await stat(file)).mtimeMs;
    if (used.has(file) && ageMs > DAY_MS) await utimes(file, new Date(now), new Date(now));
    else if (!used.has(file) && ageMs > UNUSED_MS) await rm(file, { force: true });
  }
}
