/**
 * The bundles of extensions, compiled once in this process however many daemons its tests boot: compiling them anew was
 * half of what a boot takes. Each daemon evaluates them for itself.
 */
import { readFileSync, statSync } from 'node:fs';
import Module from 'node:module';
import { basename } from 'node:path';
import type { Script } from 'node:vm';
import { type CodeCache, functionOf, scriptOf } from '@svc/core/code-cache';

interface Known {
  readonly stamp: string;
  readonly script: Script;
  /** Held, as Node forgets the source map of a module that nobody holds. */
  readonly named: unknown;
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

export const sharedCode: CodeCache = {
  compile: (file) => {
    const stamp = stampOf(file);
    let found = known.get(file);
    if (found?.stamp !== stamp) {
      const source = readFileSync(file, 'utf8');
      found = { stamp, script: scriptOf(file, source), named: nameLines(file, source) };
      known.set(file, found);
    }
    return functionOf(found.script);
  },
  keep: async () => 0,
};
