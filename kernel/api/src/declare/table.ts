/**
 * Tables, declared once: their columns, and whose rows they hold. From it derive the type of a row, the migration
 * that makes the table, and what the kernel removes when an owner, an agent or a session goes.
 */
import type { ColumnKind, ColumnSpec, Migration, MigrationBuilder } from '../storage.js';
import type { Declared } from './plain.js';

export type Columns = Readonly<Record<string, ColumnSpec>>;

/** Rows that belong to a row of another own table: `column` holds its primary key, and they go with it. */
export interface Through {
  readonly table: string;
  readonly column: string;
}

/** What a purge goes by. Each names a column. */
export interface Belonging<Column extends string = string> {
  /** Holds `ownerId` of who owns the row. */
  readonly owner?: Column;
  /** Holds the agent's id, where the row goes with its agent. */
  readonly agent?: Column;
  /** Holds the session's id, where the row goes with its session. */
  readonly session?: Column;
}

export interface TableDecl<C extends Columns = Columns> extends Declared, Belonging {
  readonly declares: 'table';
  readonly columns: C;
  /** In order; never empty where rows belong to somebody. */
  readonly primaryKey: readonly string[];
  readonly unique: readonly (readonly string[])[];
  readonly indexes: readonly (readonly string[])[];
  readonly through?: Through;
}

interface TableSpec<C extends Columns> extends Belonging<keyof C & string> {
  readonly columns: C;
  /** Left out where a column says `primaryKey: true`. */
  readonly primaryKey?: readonly (keyof C & string)[];
  readonly unique?: readonly (readonly (keyof C & string)[])[];
  readonly indexes?: readonly (readonly (keyof C & string)[])[];
  readonly through?: { readonly table: TableDecl; readonly column: keyof C & string };
}

/** `name` is the table's own short name, as extension.json lists it under `tables`. */
export const defineTable = <const C extends Columns>(name: string, version: string, spec: TableSpec<C>): TableDecl<C> => {
  const { columns, unique = [], indexes = [], through, ...rest } = spec;
  const primaryKey = spec.primaryKey ?? Object.keys(columns).filter((column) => columns[column]?.primaryKey === true);
  const isSomebodys = [spec.owner, spec.agent, spec.session, through].some((one) => one !== undefined);
  if (isSomebodys && primaryKey.length === 0) throw new Error(`the table ${name} has owners but no primary key: a purge needs one to delete its rows in batches`);
  if (through && through.table.primaryKey.length !== 1) throw new Error(`the table ${name} belongs to rows of ${through.table.name}, which needs a primary key of one column for that`);
  return { declares: 'table', name, version, ...rest, columns, primaryKey, unique, indexes, ...(through ? { through: { table: through.table.name, column: through.column } } : {}) };
};

/** JSON is its text; a boolean is 0 or 1. */
interface KindOf {
  text: string;
  integer: number;
  real: number;
  json: string;
  boolean: number;
  blob: Uint8Array;
  words: string;
}

type Filled = { readonly notNull: true } | { readonly primaryKey: true };
type ValueOf<S extends ColumnSpec> = S['kind'] extends infer K extends ColumnKind ? KindOf[K] | (S extends Filled ? never : null) : never;

/** A row as it is read: `RowOf<typeof Notes>`. */
export type RowOf<D extends TableDecl> = { readonly [N in keyof D['columns'] & string]: ValueOf<D['columns'][N]> };

/** The migration that makes these tables with their indexes, as they are declared. `later`: columns that a migration after it adds, so that it stays the one that was applied. */
export const createTables = (name: string, tables: readonly TableDecl[], { later = [], replaces }: { readonly later?: readonly string[]; readonly replaces?: readonly string[] } = {}): Migration => ({
  name,
  ...(replaces === undefined ? {} : { replaces }),
  up: (m) => {
    for (const table of tables) createTable(m, table, new Set(later));
  },
});

const createTable = (m: MigrationBuilder, { name, columns, primaryKey, unique, indexes }: TableDecl, later: ReadonlySet<string>): void => {
  const first = Object.entries(columns).filter(([column]) => !later.has(column));
  const isOfFirst = (list: readonly string[]): boolean => !list.some((column) => later.has(column));
  const isInColumn = first.some(([, column]) => column.primaryKey === true);
  m.createTable(name, Object.fromEntries(first), { ...(isInColumn ? {} : { primaryKey }), unique: unique.filter(isOfFirst) });
  for (const index of indexes.filter(isOfFirst)) m.createIndex(name, index);
};
