/** Keys and values as TOML, on one line. */
import { isTable } from '@svc/api';
import { configErrors } from '../errors.js';

export const printKey = (path: readonly string[]): string => path.map((name) => (/^[A-Za-z0-9_-]+$/.test(name) ? name : printString(name))).join('.');

export const printValue = (value: unknown, path: readonly string[]): string => {
  if (typeof value === 'string') {
    if (/\p{Surrogate}/u.test(value)) throw configErrors.value_unwritable(path.join('.'), 'it contains half a character, which is no text');
    return printString(value);
  }
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'number') return printNumber(value, path);
  if (Array.isArray(value)) return `[${value.map((item) => printValue(item, path)).join(', ')}]`;
  if (isTable(value)) {
    const members = Object.entries(value).map(([key, inner]) => `${printKey([key])} = ${printValue(inner, path)}`);
    return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
  }
  throw configErrors.value_unwritable(path.join('.'), `a value of type ${value === null ? 'null' : typeof value} has no place in TOML`);
};

const printNumber = (value: number, path: readonly string[]): string => {
  if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))) throw configErrors.value_unwritable(path.join('.'), `${value} is too large or not a number`);
  const text = String(value);
  // JavaScript writes 1e-7; TOML reads it the same. -0 would come back as 0.
  return Object.is(value, -0) ? '-0.0' : text;
};

/** A basic string: JSON's escapes are TOML's, but for DEL, which TOML wants escaped. */
const printString = (value: string): string => JSON.stringify(value).replaceAll('\u007f', '\\u007F');
