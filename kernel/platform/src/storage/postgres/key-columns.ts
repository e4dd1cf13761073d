/** The columns of a unique key by the name of its index, as the server's catalog has them: its messages may be in any language. */
import type { KeyColumns } from './postgres-errors.js';
import { literal } from './postgres-dialect.js';
import type { DriverRow } from '../contract/engine.js';

const MAX_KNOWN = 1_000;

export const keyColumnsFrom = (read: (sql: string) => Promise<readonly DriverRow[]>): KeyColumns => {
  const known = new Map<string, readonly string[]>();
  return async (schema, index) => {
    const found = known.get(index);
    if (found) return found;
    const rows = await read(textFor(schema, index));
    if (known.size >= MAX_KNOWN) known.clear();
    const columns = rows.map(({ name }) => String(name));
    known.set(index, columns);
    return columns;
  };
};

const textFor = (schema: string, index: string): string => `
  SELECT a.attname AS name FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
  WHERE n.nspname = ${literal(schema)} AND c.relname = ${literal(index)} ORDER BY array_position(i.indkey::int2[], a.attnum)`;
