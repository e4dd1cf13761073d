/**
 * The static files of an extension: `"assets": { "name.js": "package/path/in/it.js" }` of its package.json. Each is
 * written to dist/ext/<id>/assets as it is and compressed.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { writeCompressed } from './compressed.mjs';
import { inRoot } from './paths.mjs';

export const writeAssets = async (target) => {
  const manifest = inRoot(target.dir, 'package.json');
  const { assets = {} } = JSON.parse(readFileSync(manifest, 'utf8'));
  const { resolve } = createRequire(manifest);
  const written = await Promise.all(Object.entries(assets).map(([name, source]) => writeCompressed(`${target.outdir}/assets`, name, readFileSync(resolve(source)))));
  return { inputs: [], outputs: written.flat() };
};
