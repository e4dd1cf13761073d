/** The door of the daemon's process: loads the program, compiled at an earlier start where there was one, and runs it. */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createCodeCache } from '@svc/core/code-cache';
import type * as Program from './program.js';

const mainFile = fileURLToPath(import.meta.url);
const folder = dirname(mainFile);
const dist = dirname(folder);
// Only what Node compiles itself has stacks that name the lines that were written.
const code = process.sourceMapsEnabled ? undefined : createCodeCache(join(dist, 'compiled'));

const program = loadProgram(join(folder, 'program.cjs'));

export const { startElsewhere } = program;
export const main = (argv: readonly string[]): Promise<void> => program.main(argv, { mainFile, releaseFile: join(dist, 'release.json'), code });

function loadProgram(file: string): typeof Program {
  const require = createRequire(file);
  if (!code) return require(file);
  const module: { exports: unknown } = { exports: {} };
  code.compile(file)(module.exports, require, module, file, folder);
  return module.exports as typeof Program; // the build made it from that file
}

if (process.argv[1] === mainFile) await main(process.argv.slice(2));
