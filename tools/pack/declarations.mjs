/** Declarations of a package, written by the compiler from what it exports. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { inRoot } from '../build/paths.mjs';

/** Of the files that the entries reach, below `rootDir`; throws what keeps the compiler from writing them. Types are checked by lint. */
export const writeTypes = async (project, outDir) => {
  await promisify(execFile)(process.execPath, [inRoot('node_modules/typescript/bin/tsc'), '-p', inRoot(project), '--noCheck', '--outDir', outDir]).catch((error) => {
    throw new Error(`${project}: ${error.stdout || error.message}`);
  });
};
