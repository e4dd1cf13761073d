/** Front matter that is no YAML, read as its author meant it: a key and a text on each line, and lists below a key. */

import { isTable } from '@svc/api';
import { parseDocument } from 'yaml';

export const MAX_ALIASES = 50;
const KEY = /^([A-Za-z_][A-Za-z0-9_-]*)[ \t]*:[ \t]*(.*)$/;
const ITEM = /^[ \t]*-[ \t]+(.*)$/;
const BLOCK = /^[|>][+-]?$/;

export const readLines = (front: string): Record<string, unknown> => {
  const values: Record<string, unknown> = {};
  let key = '';
  let more: string[] = [];
  const close = (): void => {
    if (key === '') return;
    const items = more.map((line) => ITEM.exec(line)?.[1]);
    const own = values[key];
    const first = typeof own === 'string' ? own : '';
    const block = first === '' ? tableIn(more) : undefined;
    if (block) values[key] = block;
    else if (more.length > 0 && items.every((item) => item !== undefined)) values[key] = items.map((item) => unquoted(item));
    else values[key] = [BLOCK.test(first) ? '' : first, ...more.map((line) => line.trim())].filter((text) => text !== '').join(' ');
  };
  for (const line of front.split('\n')) {
    const found = KEY.exec(line);
    if (!found) {
      if (line.trim() !== '' && !line.trimStart().startsWith('#')) more.push(line);
      continue;
    }
    close();
    [, key = ''] = found;
    more = [];
    values[key] = unquoted(found[2] ?? '');
  }
  close();
  return values;
};

/** Keys below a key, which are YAML by themselves. */
const tableIn = (lines: readonly string[]): Readonly<Record<string, unknown>> | undefined => {
  if (!lines.some((line) => /^[ \t]+["{A-Za-z]/.test(line))) return undefined;
  const document = parseDocument(lines.join('\n'), { schema: 'core', logLevel: 'silent' });
  if (document.errors.length > 0) return undefined;
  try {
    const value: unknown = document.toJS({ maxAliasCount: MAX_ALIASES });
    return isTable(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

const unquoted = (text: string = ''): string => {
  const trimmed = text.trim();
  return /^(".*"|'.*')$/s.test(trimmed) ? trimmed.slice(1, -1) : trimmed;
};

export const textOf = (value: unknown): string => {
  if (typeof value === 'string') return value.trim();
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
};

/** A list, or a text of words between commas or spaces: `Read, Bash(git:*)`. */
export const listOf = (value: unknown): string[] => {
  if (Array.isArray(value)) return value.map(textOf).filter((text) => text !== '');
  return textOf(value)
    .replace(/^\[(.*)\]$/s, '$1')
    .split(/,|\s+(?![^(]*\))/)
    .map(unquoted)
    .filter((text) => text !== '');
};
