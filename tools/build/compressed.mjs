/** Files for browsers, each written as it is and compressed, so that a daemon compresses nothing. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { inRoot } from './paths.mjs';

/** The highest quality: a tenth less than the 9 that is usual, which is written once and sent often. */
const BROTLI = { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: zlib.constants.BROTLI_MAX_QUALITY, [zlib.constants.BROTLI_PARAM_LGWIN]: 22 } };

/** The form that a browser asks for, by the ending of its file. */
const FORMS = { '': async (text) => text, '.gz': (text) => promisify(zlib.gzip)(text, { level: 9 }), '.br': (text) => promisify(zlib.brotliCompress)(text, BROTLI) };

/** Numbers that no browser asks for, and that hardly become smaller. */
const IS_DATA = /\.(?:i8|f32)$/;

/** Writes all forms of one file; gives their paths. */
export const writeCompressed = (folder, name, content) =>
  Promise.all(
    Object.entries(IS_DATA.test(name) ? { '': FORMS[''] } : FORMS).map(async ([ending, form]) => {
      const file = path.posix.join(folder, `${name}${ending}`);
      mkdirSync(inRoot(folder), { recursive: true });
      writeFileSync(inRoot(file), await form(content));
      return file;
    }),
  );
