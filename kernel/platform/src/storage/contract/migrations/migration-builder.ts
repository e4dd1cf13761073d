/** Records what a migration asks for, as plain data: it can be hashed and judged without a database or a query builder. */
import { createHash } from 'node:crypto';
import type { Migration, MigrationBuilder, ColumnSpec } from '@svc/api';

export type MigrationStep =
  | { readonly op: 'createTable'; readonly table: string; readonly columns: Record<string, ColumnSpec>; readonly primaryKey: readonly string[]; readonly unique: readonly (readonly string[])[] }
  | { readonly op: 'addColumn'; readonly table: string; readonly name: string; readonly spec: ColumnSpec }
  | { readonly op: 'createIndex'; readonly table: string; readonly columns: readonly string[]; readonly unique: boolean; readonly where: string | undefined }
  | { readonly op: 'dropIndex'; readonly table: string; readonly columns: readonly string[] }
  | { readonly op: 'sql'; readonly text: string };

export const recordMigration = (migration: Migration): MigrationStep[] => {
  const steps: MigrationStep[] = [];
  const builder: MigrationBuilder = {
    createTable: (table, columns, options = {}) => void steps.push({ op: 'createTable', table, columns, primaryKey: options.primaryKey ?? [], unique: options.unique ?? [] }),
    addColumn: (table, name, spec) => void steps.push({ op: 'addColumn', table, name, spec }),
    createIndex: (table, columns, options = {}) => void steps.push({ op: 'createIndex', table, columns, unique: options.unique ?? false, where: options.where }),
    dropIndex: (table, columns) => void steps.push({ op: 'dropIndex', table, columns }),
    sql: (text) => void steps.push({ op: 'sql', text }),
  };
  migration.up(builder);
  return steps;
};

/** The column by which an index of words names the rows of this table; undefined where it has none that could. */
export const wordKeyOf = ({ columns, primaryKey }: Extract<MigrationStep, { op: 'createTable' }>): string | undefined => {
  const keys = primaryKey.length > 0 ? primaryKey : Object.keys(columns).filter((name) => columns[name]?.primaryKey);
  const [key] = keys;
  return key !== undefined && keys.length === 1 && columns[key]?.kind === 'integer' ? key : undefined;
};

/** Identity of what a migration does; its comments and layout may change. */
export const hashSteps = (steps: readonly MigrationStep[]): string => createHash('sha256').update(JSON.stringify(steps)).digest('hex');
