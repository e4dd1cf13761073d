/** The adapter of the daemon's process: loads the program, compiled at an earlier start where there was one, and runs it. */
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type CodeCache, createCodeCache } from '@svc/core/code-cache';
import type * as Program from './program.js';

const mainFile = fileURLToPath(import.meta.url);
const folder = dirname(mainFile);
const dist = dirname(folder);
// Only what Node compiles itself has stacks that name the lines that were written.
export const code = process.sourceMapsEnabled ? undefined : createCodeCache(join(dist, 'compiled'));

const program = loadProgram(join(folder, 'program.cjs'));

export const { bootDaemon, standardFactories, startElsewhere } = program;
export const main = (argv: readonly string[]): Promise<void> => program.main(argv, { mainFile, releaseFile: join(dist, 'release.json'), code });

function loadProgram(file: string): typeof Program {
  return (code ? compiled(code) : createRequire(file))(file) as typeof Program; // the build made it from that file
}

/** Requires files of this folder through the code cache, each once, and the rest as Node does: packages that a start does not need stand beside the program. */
function compiled(code: CodeCache): (name: string) => unknown {
  const outside = createRequire(mainFile);
  const loaded = new Map<string, { exports: unknown }>();
  const required = (name: string): unknown => {
    if (!name.endsWith('.cjs')) return outside(name);
    const file = resolve(folder, name);
    const known = loaded.get(file);
    if (known) return known.exports;
    const module: { exports: unknown } = { exports: {} };
    loaded.set(file, module);
    code.compile(file)(module.exports, required, module, file, folder);
    return module.exports;
  };
  return required;
}

if (process.argv[1] === mainFile) await main(process.argv.slice(2));
