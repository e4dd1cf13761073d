/** How many bytes the rows of an owner take, with their indexes. */
import type { Engine } from '../contract/engine.js';
import { KERNEL } from '../contract/statement-limits.js';
import type { TableNames } from '../contract/table-names.js';

/** Pages of its tables and of their indexes, without what is free in them. */
const SQLITE = 'SELECT coalesce(sum(d.pgsize - d.unused), 0) AS bytes FROM sqlite_schema s JOIN dbstat d ON d.name = s.name WHERE d.aggregate = TRUE AND substr(s.tbl_name, 1, ?) = ?';

const POSTGRES =
  "SELECT c.relname AS name, pg_total_relation_size(c.oid)::float8 AS bytes FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = current_schema() AND c.relkind = 'r' AND substr(c.relname, 1, ?) = ?";

/** A server keeps the room of deleted rows for later ones: beyond this the rows themselves are counted. */
const COUNTED_FROM_BYTES = 1_048_576;
/** What a row of a server takes beside its values. */
const ROW_BYTES = 28;

export const rowBytes = async (engine: Pick<Engine, 'dialect' | 'identifier' | 'read'>, { prefix }: TableNames): Promise<number> => {
  const args = [prefix.length, prefix];
  if (engine.dialect === 'sqlite') return numberIn((await engine.read(KERNEL, SQLITE, args))[0], 'bytes');
  const tables = await engine.read(KERNEL, POSTGRES, args);
  const sizes = tables.map(async (table) => {
    const bytes = numberIn(table, 'bytes');
    if (bytes < COUNTED_FROM_BYTES) return bytes;
    const name = typeof table === 'object' && table !== null && 'name' in table ? String(table.name) : '';
    const [row] = await engine.read(KERNEL, `SELECT (coalesce(sum(pg_column_size(t)), 0) + count(*) * ${ROW_BYTES})::float8 AS bytes FROM ${engine.identifier(name)} t`, []);
    return Math.min(bytes, numberIn(row, 'bytes'));
  });
  return (await Promise.all(sizes)).reduce((sum, bytes) => sum + bytes, 0);
};

const numberIn = (row: unknown, column: string): number => (typeof row === 'object' && row !== null ? Number(Reflect.get(row, column) ?? 0) : 0);
