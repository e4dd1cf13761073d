/** Programs that measure a part of the kernel in process: bundled from the source as the daemon itself is, and run as a process of their own. */
import { bundleProgram } from '../build/bundler.mjs';
import { inRoot } from '../build/paths.mjs';
import { startNode } from './processes.mjs';

/** Starts tools/bench/programs/in-process/<name>.mjs. */
export const startProgram = async (name, input = {}, nodeArgs = []) => {
  const outdir = `dist/bench/${name}`;
  await bundleProgram({ entry: `tools/bench/programs/in-process/${name}.mjs`, outdir });
  return startNode([...nodeArgs, inRoot(outdir, `${name}.js`), JSON.stringify(input)]);
};

/** Runs tools/bench/programs/in-process/<name>.mjs and resolves with the JSON it prints. */
export const runProgram = async (name, input, nodeArgs = []) => {
  const child = await startProgram(name, input, nodeArgs);
  const result = JSON.parse(await child.line());
  await child.ended;
  return result;
};
