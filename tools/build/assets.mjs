/**
 * The static files of an extension: `"assets": { "name.js": "package/path/in/it.js" }` of its package.json, or `./file` of
 * its own. Each is written to dist/ext/<id>/assets as it is and compressed.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { writeCompressed } from './compressed.mjs';
import { inRoot } from './paths.mjs';

export const writeAssets = async (target) => {
  const manifest = inRoot(target.dir, 'package.json');
  const { assets = {} } = JSON.parse(readFileSync(manifest, 'utf8'));
  const { resolve } = createRequire(manifest);
  const written = await Promise.all(Object.entries(assets).map(([name, source]) => writeCompressed(`${target.outdir}/assets`, name, readFileSync(resolve(source)))));
  const own = Object.values(assets).filter((source) => source.startsWith('./'));
  return { inputs: own.map((source) => path.posix.join(target.dir, source)), outputs: written.flat() };
};
