/** The SQL of recorded migration steps. Loads knex, so it is imported only when something is pending. */
import knex, { type Knex } from 'knex';
import type { ColumnSpec } from '@svc/api';
import type { Dialect } from '../dialect.js';
import { storageErrors } from '../errors.js';
import type { WordIndex } from '../word-index.js';
import { type MigrationStep, wordKeyOf } from './migration-builder.js';

/** How an engine spells tables. */
export interface SchemaDialect extends Pick<Dialect, 'identifier'> {
  readonly knexClient: 'sqlite3' | 'pg';
  columnType(name: string, kind: ColumnSpec['kind']): string;
  /** A name for an index or a constraint that the engine does not cut off. */
  indexName(name: string): string;
  readonly words: Pick<WordIndex, 'create'>;
}

/** `physical` gives the full name of an own table, or throws. */
export const compileSteps = (dialect: SchemaDialect, steps: readonly MigrationStep[], physical: (table: string) => string): string[] => {
  const builder = knex({ client: dialect.knexClient, ...(dialect.knexClient === 'sqlite3' ? { useNullAsDefault: true } : {}) });
  return steps.flatMap((step) => compileStep({ builder, dialect, physical }, step));
};

interface Compiling {
  readonly builder: Knex;
  readonly dialect: SchemaDialect;
  physical(table: string): string;
}

const compileStep = ({ builder, dialect, physical }: Compiling, step: MigrationStep): string[] => {
  switch (step.op) {
    case 'createTable':
      return [...textsOf(builder.schema.createTable(physical(step.table), (table) => tableOf(table, dialect, physical(step.table), step))), ...wordIndexOf(dialect, physical(step.table), step)];
    case 'addColumn':
      return textsOf(builder.schema.alterTable(physical(step.table), (table) => addColumn(table, dialect, step.name, step.spec)));
    case 'createIndex':
      return [indexSql(dialect, physical(step.table), step)];
    case 'dropIndex':
      return [`DROP INDEX ${indexNameOf(dialect, physical(step.table), step.columns, 'idx')}`];
    case 'sql':
      return [step.text.replaceAll(/\{([a-z][a-z0-9_]*)\}/g, (_, table: string) => dialect.identifier(physical(table)))];
  }
};

const wordIndexOf = (dialect: SchemaDialect, table: string, step: Extract<MigrationStep, { op: 'createTable' }>): string[] => {
  const key = wordKeyOf(step);
  return Object.entries(step.columns).flatMap(([column, { kind }]) => (kind === 'words' && key !== undefined ? dialect.words.create({ table, column, key }) : []));
};

const tableOf = (table: Knex.CreateTableBuilder, dialect: SchemaDialect, physical: string, step: Extract<MigrationStep, { op: 'createTable' }>): void => {
  for (const [name, spec] of Object.entries(step.columns)) addColumn(table, dialect, name, spec);
  if (step.primaryKey.length > 0) table.primary([...step.primaryKey]);
  for (const columns of step.unique) table.unique([...columns], { indexName: dialect.indexName(`${physical}_${columns.join('_')}_unique`) });
};

const addColumn = (table: Knex.TableBuilder, dialect: SchemaDialect, name: string, spec: ColumnSpec): void => {
  const column = table.specificType(name, dialect.columnType(name, spec.kind));
  if (spec.primaryKey) column.primary();
  // SQLite lets NULL into a primary key unless told otherwise.
  if (spec.notNull || spec.primaryKey) column.notNullable();
  if (spec.default !== undefined) column.defaultTo(spec.default);
  if (spec.unique) column.unique();
};

const indexNameOf = ({ identifier, indexName }: SchemaDialect, table: string, columns: readonly string[], ending: 'key' | 'idx'): string =>
  identifier(indexName(`${table}_${columns.join('_')}_${ending}`));

const indexSql = (dialect: SchemaDialect, table: string, step: Extract<MigrationStep, { op: 'createIndex' }>): string => {
  const { identifier } = dialect;
  const where = step.where === undefined ? '' : ` WHERE ${step.where}`;
  const name = indexNameOf(dialect, table, step.columns, step.unique ? 'key' : 'idx');
  return `CREATE ${step.unique ? 'UNIQUE ' : ''}INDEX ${name} ON ${identifier(table)} (${step.columns.map(identifier).join(', ')})${where}`;
};

const textsOf = (schema: Knex.SchemaBuilder): string[] =>
  // A schema compiles to a flat list; none of these steps has bindings, because defaults are written out.
  (schema.toSQL() as unknown as ReadonlyArray<{ sql: string; bindings?: readonly unknown[] }>).map(({ sql, bindings }) => {
    if (bindings && bindings.length > 0) throw storageErrors.bad_write('a migration compiled to a statement with arguments');
    return sql;
  });
