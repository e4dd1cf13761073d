/**
 * The static files of an extension: `"assets": { "name.js": "package/path/in/it.js" }` of its package.json. Each is
 * written to dist/ext/<id>/assets as it is and compressed, so that a daemon compresses nothing.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { inRoot } from './paths.mjs';

/** The highest take ten times as long for a hundredth less. */
const BROTLI = { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 9, [zlib.constants.BROTLI_PARAM_LGWIN]: 22 } };

/** The form that a browser asks for, by the ending of its file. */
const FORMS = { '': async (text) => text, '.gz': (text) => promisify(zlib.gzip)(text, { level: 9 }), '.br': (text) => promisify(zlib.brotliCompress)(text, BROTLI) };

export const writeAssets = async (target) => {
  const manifest = inRoot(target.dir, 'package.json');
  const { assets = {} } = JSON.parse(readFileSync(manifest, 'utf8'));
  const { resolve } = createRequire(manifest);
  const written = Object.entries(assets).flatMap(([name, source]) => {
    const text = readFileSync(resolve(source));
    mkdirSync(inRoot(target.outdir, 'assets'), { recursive: true });
    return Object.entries(FORMS).map(async ([ending, form]) => {
      const file = path.posix.join(target.outdir, 'assets', `${name}${ending}`);
      writeFileSync(inRoot(file), await form(text));
      return file;
    });
  });
  return { inputs: [], outputs: await Promise.all(written) };
};
