/**
 * What an owner's migrations ask for, validated before an engine sees it: names are names, kinds are kinds, and SQL text
 * stays with the owner's tables like any other. What was validated is what is carried out: `up` is asked once, and its
 * steps are copied.
 */
import type { Migration, ColumnSpec } from '@svc/api';
import { checkIdentifier } from '../contract/dialect.js';
import { storageErrors } from '../contract/errors.js';
import { type MigrationStep, recordMigration, wordKeyOf } from '../contract/migrations/migration-builder.js';
import { createSqlPolicy } from './sql-policy.js';
import type { TableNames } from '../contract/table-names.js';

export interface ValidatedMigration {
  readonly steps: readonly MigrationStep[];
  /** Does the same steps again, for an engine to record. */
  readonly migration: Migration;
}

const KINDS: ReadonlySet<ColumnSpec['kind']> = new Set(['text', 'integer', 'real', 'json', 'boolean', 'blob', 'words']);

/** Throws `storage_unknown_table`, `storage_bad_write`, `storage_sql_refused` and `storage_foreign_table`. */
export const validateMigrations = (names: TableNames, migrations: readonly Migration[]): ValidatedMigration[] => {
  const validateText = createSqlPolicy(names);
  return migrations.map(({ name, replaces, up }) => {
    const steps = structuredClone(recordMigration({ name, up }));
    for (const step of steps) validateStep(names, step, validateText);
    return { steps, migration: { ...replayOf(name, steps), ...(replaces === undefined ? {} : { replaces: replaces.map(String) }) } };
  });
};

const validateStep = (names: TableNames, step: MigrationStep, validateText: ReturnType<typeof createSqlPolicy>): void => {
  switch (step.op) {
    case 'createTable':
      names.physical(step.table);
      for (const [name, spec] of Object.entries(step.columns)) validateColumn(name, spec);
      validateWords(step);
      for (const name of [...step.primaryKey, ...step.unique.flat()]) checkIdentifier(name);
      break;
    case 'addColumn':
      names.physical(step.table);
      validateColumn(step.name, step.spec);
      if (step.spec.kind === 'words') throw storageErrors.bad_write(`${step.name} holds words, and a column of words is made with its table`);
      break;
    case 'createIndex':
      for (const name of step.columns) checkIdentifier(name);
      if (step.where !== undefined) validateText(`SELECT 1 FROM ${names.physical(step.table)} WHERE ${step.where}`, 'read');
      break;
    case 'dropIndex':
      names.physical(step.table);
      for (const name of step.columns) checkIdentifier(name);
      break;
    case 'sql':
      validateText(
        step.text.replaceAll(/\{([a-z][a-z0-9_]*)\}/g, (_, table: string) => names.physical(table)),
        'write',
      );
  }
};

const validateColumn = (name: string, { kind }: ColumnSpec): void => {
  checkIdentifier(name);
  if (!KINDS.has(kind)) throw storageErrors.bad_write(`${String(kind)} is no kind of column`);
};

/** An index of words names rows by one whole number, and what it was given stands nowhere else. */
const validateWords = (step: Extract<MigrationStep, { op: 'createTable' }>): void => {
  const worded = Object.entries(step.columns).filter(([, { kind }]) => kind === 'words');
  for (const [name, { notNull, primaryKey, unique, default: byDefault }] of worded) {
    if (worded.length > 1) throw storageErrors.bad_write(`${step.table} has more than one column of words`);
    if (wordKeyOf(step) === undefined) throw storageErrors.bad_write(`${step.table} holds words and has no primary key of one whole number`);
    if (notNull || primaryKey || unique || byDefault !== undefined) throw storageErrors.bad_write(`${name} holds words: it is no key and has no default`);
  }
};

const replayOf = (name: string, steps: readonly MigrationStep[]): Migration => ({
  name,
  up(m) {
    for (const step of steps) {
      if (step.op === 'createTable') m.createTable(step.table, step.columns, { primaryKey: step.primaryKey, unique: step.unique });
      else if (step.op === 'addColumn') m.addColumn(step.table, step.name, step.spec);
      else if (step.op === 'createIndex') m.createIndex(step.table, step.columns, { unique: step.unique, ...(step.where === undefined ? {} : { where: step.where }) });
      else if (step.op === 'dropIndex') m.dropIndex(step.table, step.columns);
      else m.sql(step.text);
    }
  },
});
