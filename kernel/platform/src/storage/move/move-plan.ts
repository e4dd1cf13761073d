/** Which tables a move copies, and what makes them in the other database: the migrations that the source has applied. */
import type { Migration } from '@svc/api';
import type { AppliedMigrations } from '../contract/engine.js';
import { hashSteps, type MigrationStep, recordMigration } from '../contract/migrations/migration-builder.js';
import { joinedBy } from '../contract/migrations/pending-migrations.js';
import { type TableNames, type TableOwner, tableNames } from '../contract/table-names.js';
import { moveErrors } from './errors.js';
import type { MoveTable, OwnerSchema } from './move-end.js';

export interface MovedOwner extends TableOwner {
  readonly migrations: readonly Migration[];
}

export interface MovePlan {
  readonly owners: readonly OwnerSchema[];
  /** In the order in which they are copied. */
  readonly tables: readonly MoveTable[];
  /** Tables of extensions that are not known here. */
  readonly unknown: readonly string[];
}

const EVENTS: MoveTable = {
  name: 'kernel__events',
  columns: [
    { name: 'id', kind: 'integer' },
    { name: 'seq', kind: 'integer' },
    { name: 'name', kind: 'text' },
    { name: 'data', kind: 'text' },
    { name: 'at', kind: 'text' },
  ],
  key: ['id'],
  counted: 'id',
};

interface Found {
  readonly tables: readonly string[];
  readonly applied: AppliedMigrations;
}

/** What a migration is stands in its hash: only those are carried out here that were validated when the source applied them. */
export const planMove = (known: readonly MovedOwner[], { applied, tables }: Found): MovePlan => {
  const owners = known.flatMap((owner) => schemaOf(owner, applied));
  const planned = [EVENTS, ...owners.flatMap(tablesOf)];
  const names = new Set(planned.map(({ name }) => name));
  // `<id>__<table>`; what has no `__` is the kernel's, or not ours at all.
  return { owners, tables: planned, unknown: tables.filter((name) => name.includes('__') && !names.has(name)) };
};

const schemaOf = (owner: MovedOwner, applied: AppliedMigrations): OwnerSchema[] => {
  const names = tableNames(owner);
  const done = applied.get(names.bookkeeping);
  if (done === undefined) return [];
  const own = new Map(owner.migrations.map((migration) => [migration.name, recordMigration(migration)]));
  // What a newer migration has joined was validated as its parts; the target is made by the whole of it.
  const joining = owner.migrations.filter((migration) => joinedBy(owner.id, migration, done).length > 0);
  const joined = new Set(joining.flatMap(({ replaces = [] }) => replaces));
  const steps = [...joining.map(({ name }): [string, string | undefined] => [name, undefined]), ...[...done].filter(([name]) => !joined.has(name))]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, sha256]) => {
      const recorded = own.get(name);
      if (recorded === undefined || (sha256 !== undefined && hashSteps(recorded) !== sha256)) throw moveErrors.move_other_version(owner.id, name);
      return recorded;
    });
  return [{ names, steps }];
};

const tablesOf = ({ names, steps }: OwnerSchema): MoveTable[] => {
  const made = new Map<string, { columns: Array<MoveTable['columns'][number]>; key: readonly string[] }>();
  for (const step of steps.flat()) {
    if (step.op === 'createTable') made.set(step.table, { columns: Object.entries(step.columns).map(([name, { kind }]) => ({ name, kind })), key: keyOf(step) });
    if (step.op === 'addColumn') made.get(step.table)?.columns.push({ name: step.name, kind: step.spec.kind });
  }
  return [bookOf(names), ...[...made].map(([table, one]) => ({ name: names.physical(table), ...one }))];
};

const keyOf = ({ columns, primaryKey }: Extract<MigrationStep, { op: 'createTable' }>): readonly string[] =>
  primaryKey.length > 0 ? primaryKey : Object.keys(columns).filter((name) => columns[name]?.primaryKey);

const bookOf = ({ bookkeeping }: TableNames): MoveTable => ({
  name: bookkeeping,
  columns: ['name', 'sha256', 'applied_at'].map((name) => ({ name, kind: 'text' })),
  key: ['name'],
});

/** The extensions of these tables, for people: `notes (2 tables)`. */
export const ownersOfTables = (tables: readonly string[]): string => {
  const ids = new Set(tables.map(ownerIn));
  return [...ids].map((id) => `${id.replaceAll('_', '-')} (${tables.filter((name) => ownerIn(name) === id).length} tables)`).join(', ');
};

/** As the name of a table has it: `-` is `_`. */
export const ownerIn = (table: string): string => table.slice(0, table.indexOf('__'));
