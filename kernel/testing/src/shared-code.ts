/**
 * The bundles of extensions, compiled and evaluated once in this process however many daemons its tests boot: doing it anew
 * was more than half of what a boot takes. What ships keeps no state in its modules but what is keyed by the daemon's own
 * objects, so daemons do not meet in it. A daemon that loads one again (a reload) evaluates it for itself, as it always does.
 */
import { readFileSync, statSync } from 'node:fs';
import Module from 'node:module';
import { basename, dirname, sep } from 'node:path';
import type { Script } from 'node:vm';
import { type CodeCache, functionOf, type ModuleFunction, scriptOf } from '@svc/core/code-cache';

interface Known {
  readonly stamp: string;
  readonly script: Script;
  /** Held, as Node forgets the source map of a module that nobody holds. */
  readonly named: unknown;
  /** Of the daemon that was first; undefined until one has evaluated it. */
  exports?: unknown;
}

/** The tests of each package bring this module in their own bundle: what is known belongs to the process. */
const OURS = Symbol.for('svc.testing.shared-code');
const place = globalThis as { [OURS]?: Map<string, Known> };
place[OURS] ??= new Map();
const known = place[OURS];

/** Which file it is and when it was changed: a test may put another one in its place. */
const stampOf = (file: string): string => {
  const { ctimeNs, ino, mtimeNs, size } = statSync(file, { bigint: true });
  return `${ino} ${mtimeNs} ${ctimeNs} ${size}`;
};

/** Node reads the source map that a module names when it compiles it; of a script it does not, so a module without code stands for it. */
const nameLines = (file: string, source: string): unknown => {
  if (!process.sourceMapsEnabled || !source.includes(`//# sourceMappingURL=${basename(file)}.map`)) return undefined;
  const module = new Module(file) as unknown as { _compile(text: string, filename: string): void }; // not in its types
  module._compile(`//# sourceMappingURL=${basename(file)}.map`, file);
  return module;
};

const knownOf = (file: string): Known => {
  const stamp = stampOf(file);
  let found = known.get(file);
  if (found?.stamp !== stamp) {
    const source = readFileSync(file, 'utf8');
    found = { stamp, script: scriptOf(file, source), named: nameLines(file, source) };
    known.set(file, found);
  }
  return found;
};

/** dist/ext/ID/index.js: what a test wrote may keep whatever it likes in its modules. */
const isShipped = (file: string): boolean => file.includes(`${sep}dist${sep}ext${sep}`) && !dirname(file).includes(`${sep}node_modules${sep}`);

const evaluatedOnce =
  (found: Known): ModuleFunction =>
  (exports, require, module, file, folder) => {
    if (found.exports === undefined) {
      functionOf(found.script)(exports, require, module, file, folder);
      found.exports = module.exports;
    } else module.exports = found.exports;
  };

/** For one daemon. */
export const sharedCode = (): CodeCache => {
  const loaded = new Set<string>();
  return {
    compile: (file) => {
      const found = knownOf(file);
      const isAgain = loaded.has(file);
      loaded.add(file);
      return isAgain || !isShipped(file) ? functionOf(found.script) : evaluatedOnce(found);
    },
    keep: async () => 0,
  };
};
