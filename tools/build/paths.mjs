/** Where things are: the root of the checkout, and what the build writes. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the lock file, upwards from here; bundled into a test, this file lies deeper than in the source. */
const rootAbove = (dir) => (existsSync(path.join(dir, 'package-lock.json')) ? dir : rootAbove(path.dirname(dir)));

export const ROOT = rootAbove(path.dirname(fileURLToPath(import.meta.url)));
export const DIST = path.join(ROOT, 'dist');

/** Relative to the root, with forward slashes on every system: the form used in records and messages. */
export const fromRoot = (file) => path.relative(ROOT, file).split(path.sep).join('/');
export const inRoot = (...parts) => path.join(ROOT, ...parts);
