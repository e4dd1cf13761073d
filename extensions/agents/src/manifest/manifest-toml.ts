/** Reads the text of an agent.toml into plain tables, lists, strings, numbers and flags. */
import { isTable } from '@svc/api';
import { agentErrors, invalidManifest } from '../errors.js';
import { excessOf, MAX_PARTS } from './toml-depth.js';

export const MAX_MANIFEST_BYTES = 1024 * 1024;
/** Deeper than any key of the format stands. */
const MAX_DEPTH = 20;
/** What is read at once, in a millisecond or two. */
const BLOCK_CHARS = 16_384;

type Table = Record<string, unknown>;

/** Throws `manifest_too_large` and `agents_invalid_manifest` with the line, counted from one. */
export const parseManifestToml = async (text: string): Promise<Table> => {
  checkManifestSize(text);
  const excess = excessOf(text);
  if (excess) throw invalidManifest([{ key: '', ...excess }]);
  const { default: toml } = await import('@iarna/toml');
  let tree: unknown;
  try {
    // Piece by piece: others are answered between them.
    tree = await toml.parse.async(text, { blocksize: BLOCK_CHARS });
  } catch (error) {
    throw invalidManifest([{ line: lineOfError(error), key: '', message: `it is not TOML: ${reasonOf(error)}`, expected: 'TOML' }]).with({ cause: error });
  }
  return plainManifest(tree);
};

/** The text that says what this table says. */
export const tomlOf = async (table: Readonly<Record<string, unknown>>): Promise<string> => {
  const { default: toml } = await import('@iarna/toml');
  // A copy of plain values, without the nulls that TOML cannot say.
  return toml.stringify(JSON.parse(JSON.stringify(table, (_key, value: unknown) => (Array.isArray(value) ? value.filter((item) => item !== null) : (value ?? undefined)))));
};

export const checkManifestSize = (text: string): void => {
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_MANIFEST_BYTES) throw agentErrors.manifest_too_large(bytes, MAX_MANIFEST_BYTES);
};

/** A copy that holds nothing but JSON. A null of JSON is a key that was left out. */
export const plainManifest = (value: unknown): Table => {
  if (!isTable(value)) throw wrong([], 'a table of keys was expected');
  if (hasMoreParts(value)) throw wrong([], `it has more than ${MAX_PARTS} keys and values`);
  return plainTable(value, []);
};

/** Level by level, as it may be of any depth. */
const hasMoreParts = (value: Table): boolean => {
  let level: unknown[] = [value];
  for (let parts = 0; level.length > 0; parts += level.length) {
    if (parts > MAX_PARTS) return true;
    level = level.flatMap((one) => (typeof one === 'object' && one !== null ? Object.values(one) : []));
  }
  return false;
};

const plainTable = (table: Table, path: readonly string[]): Table => {
  if (path.length > MAX_DEPTH) throw wrong(path.slice(0, 4), `tables are nested more than ${MAX_DEPTH} deep`);
  const out: Table = Object.create(null);
  for (const [key, inner] of Object.entries(table)) if (inner !== null && inner !== undefined) out[key] = plain(inner, [...path, key]);
  return out;
};

const plain = (value: unknown, path: readonly string[]): unknown => {
  if (path.length > MAX_DEPTH) throw wrong(path.slice(0, 4), `values are nested more than ${MAX_DEPTH} deep`);
  if (typeof value === 'bigint') throw wrong(path, `${path.join('.')} is an integer that is too large to be stored exactly`);
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map((item: unknown, index) => plain(item, [...path, String(index)]));
  return isTable(value) ? plainTable(value, path) : value;
};

const wrong = (path: readonly string[], message: string): Error => invalidManifest([{ line: null, key: path.join('.'), message, expected: 'a manifest' }]);

/** The parser appends an excerpt of the source and a place of its own; only the reason is kept. */
const reasonOf = (error: unknown): string => {
  const first = (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';
  return first.replace(/ at row \d+, col \d+, pos \d+:?$/, '').replace(/[.:]$/, '');
};

/** The parser counts lines from zero in `line`. */
const lineOfError = (error: unknown): number | null => (typeof error === 'object' && error !== null && 'line' in error && typeof error.line === 'number' ? error.line + 1 : null);
