/** Every error code of the daemon, from the tables in its source: what it answers with and what to do about it. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { table } from './markdown.js';

interface CodeRow {
  readonly code: string;
  readonly status: string;
  readonly hint: string;
}

export const errorsReference = (root: string): string => {
  const rows = sourcesIn(root)
    .flatMap(rowsIn)
    .sort((one, other) => (one.code < other.code ? -1 : 1));
  const all = table(
    ['code', 'HTTP', 'what to do'],
    rows.map(({ code, status, hint }) => [`\`${code}\``, status, hint]),
  );
  return `\n${all}\n\nThe command line, the client and results within a run have further codes: ${loneCodes(root, rows).join(', ')}.\n`;
};

const LONE = /\b(?:code: |CODE = )'([a-z]+(?:_[a-z]+)+)'/g;

const loneCodes = (root: string, rows: readonly CodeRow[]): string[] => {
  const known = new Set(rows.map(({ code }) => code));
  const lone = new Set(sourcesIn(root).flatMap((source) => [...source.matchAll(LONE)].map(([, code = '']) => code)));
  return [...lone]
    .filter((code) => !known.has(code))
    .sort()
    .map((code) => `\`${code}\``);
};

export const sourcesIn = (root: string): string[] =>
  ['kernel', 'extensions'].flatMap((folder) =>
    readdirSync(join(root, folder)).flatMap((name) => {
      const src = join(root, folder, name, 'src');
      const files = existsSync(src)
        ? readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts') && !file.includes('generated') && !file.startsWith('author/templates/'))
        : [];
      return files.map((file) => readFileSync(join(src, file), 'utf8'));
    }),
  );

const TABLE = /\bdefineErrors\(\s*'([a-z0-9_-]*)',\s*\{\n([\s\S]*?)\n\}\)/g;
const KEY = /^ {2}([a-z0-9_]+): \{/gm;
const HINT = /\bhint:\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([A-Z][A-Z_]+)\b)/;

const rowsIn = (source: string): CodeRow[] =>
  [...source.matchAll(TABLE)].flatMap(([, area = '', body = '']) => {
    const keys = [...body.matchAll(KEY)];
    return keys.map((found, index) => {
      const [, key = ''] = found;
      const entry = body.slice(found.index, keys[index + 1]?.index);
      return { code: area === '' || key.startsWith(`${area}_`) ? key : `${area}_${key}`, status: /\bstatus: (\d+)/.exec(entry)?.[1] ?? '', hint: hintIn(entry, source) };
    });
  });

/** Several errors of a file share one, by its name. */
const hintIn = (entry: string, source: string): string => {
  const [, single, double, name] = HINT.exec(entry) ?? [];
  const written = single ?? double ?? (name === undefined ? '' : (new RegExp(`const ${name} =\\s*(?:'((?:[^'\\\\]|\\\\.)*)'|"((?:[^"\\\\]|\\\\.)*)")`).exec(source)?.slice(1).find(Boolean) ?? ''));
  return written.replaceAll(/\\(.)/g, '$1');
};
