/** Values as the store code knows them from SQLite: numbers, text and null. */
import type { CustomTypesConfig } from 'pg';
import { isExact } from '../contract/dialect.js';
import { storageErrors } from '../contract/errors.js';

const BOOL = 16;
const BYTEA = 17;
/** int8, int2, int4, oid; float4, float8; numeric, which is what SUM of integers gives. */
const NUMBERS = new Set([20, 21, 23, 26, 700, 701, 1700]);

const toNumber = (text: string): number => {
  const value = Number(text);
  if (!isExact(value)) throw storageErrors.number_read(text);
  return value;
};

export const valueTypes: CustomTypesConfig = {
  getTypeParser: (oid: number) => {
    if (NUMBERS.has(oid)) return toNumber;
    if (oid === BOOL) return (text: string) => (text === 't' ? 1 : 0);
    if (oid === BYTEA) return (text: string) => Buffer.from(text.slice(2), 'hex');
    return (text: string) => text;
  },
};
