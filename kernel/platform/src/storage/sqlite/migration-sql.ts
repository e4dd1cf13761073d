/** The SQL of recorded migration steps. Loads knex, so it is imported only when something is pending. */
import knex, { type Knex } from 'knex';
import type { ColumnSpec } from '@svc/api';
import { storageErrors } from '../contract/errors.js';
import type { MigrationStep } from '../contract/migration-builder.js';
import { identifier } from './sqlite-dialect.js';

/** `physical` gives the full name of an own table, or throws. */
export const compileSteps = (steps: readonly MigrationStep[], physical: (table: string) => string): string[] => {
  const builder = knex({ client: 'sqlite3', useNullAsDefault: true });
  return steps.flatMap((step) => compileStep(builder, step, physical));
};

const compileStep = (builder: Knex, step: MigrationStep, physical: (table: string) => string): string[] => {
  switch (step.op) {
    case 'createTable':
      return textsOf(builder.schema.createTable(physical(step.table), (table) => tableOf(table, step)));
    case 'addColumn':
      return textsOf(builder.schema.alterTable(physical(step.table), (table) => addColumn(table, step.name, step.spec)));
    case 'createIndex':
      return [indexSql(physical(step.table), step)];
    case 'sql':
      return [step.text.replaceAll(/\{([a-z][a-z0-9_]*)\}/g, (_, table: string) => identifier(physical(table)))];
  }
};

const tableOf = (table: Knex.CreateTableBuilder, step: Extract<MigrationStep, { op: 'createTable' }>): void => {
  for (const [name, spec] of Object.entries(step.columns)) addColumn(table, name, spec);
  if (step.primaryKey.length > 0) table.primary([...step.primaryKey]);
  for (const columns of step.unique) table.unique([...columns]);
};

const addColumn = (table: Knex.TableBuilder, name: string, spec: ColumnSpec): void => {
  const column = table.specificType(name, columnType(name, spec));
  if (spec.primaryKey) column.primary();
  // SQLite lets NULL into a primary key unless told otherwise.
  if (spec.notNull || spec.primaryKey) column.notNullable();
  if (spec.default !== undefined) column.defaultTo(spec.default);
  if (spec.unique) column.unique();
};

const columnType = (name: string, spec: ColumnSpec): string => {
  switch (spec.kind) {
    case 'json':
      return `text check (json_valid(${identifier(name)}))`;
    case 'boolean':
      return `integer check (${identifier(name)} in (0, 1))`;
    default:
      return spec.kind;
  }
};

const indexSql = (table: string, step: Extract<MigrationStep, { op: 'createIndex' }>): string => {
  const name = identifier(`${table}_${step.columns.join('_')}_${step.unique ? 'key' : 'idx'}`);
  const where = step.where === undefined ? '' : ` WHERE ${step.where}`;
  return `CREATE ${step.unique ? 'UNIQUE ' : ''}INDEX ${name} ON ${identifier(table)} (${step.columns.map(identifier).join(', ')})${where}`;
};

const textsOf = (schema: Knex.SchemaBuilder): string[] =>
  // A schema for SQLite compiles to a flat list; none of these steps has bindings, because defaults are written out.
  (schema.toSQL() as unknown as ReadonlyArray<{ sql: string; bindings?: readonly unknown[] }>).map(({ sql, bindings }) => {
    if (bindings && bindings.length > 0) throw storageErrors.bad_write('a migration compiled to a statement with arguments');
    return sql;
  });
