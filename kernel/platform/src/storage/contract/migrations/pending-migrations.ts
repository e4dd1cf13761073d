/** Which migrations of an owner are to be applied, and whether those that were are still what they were. */
import type { Migration } from '@svc/api';
import { storageErrors } from '../errors.js';
import type { TableNames } from '../table-names.js';
import { hashSteps, recordMigration, type MigrationStep } from './migration-builder.js';

export interface PendingMigration {
  readonly name: string;
  readonly sha256: string;
  readonly steps: readonly MigrationStep[];
  /** Names that leave the bookkeeping with it: what they did is done, and `steps` is empty. */
  readonly forgets: readonly string[];
}

/** In order of name. Throws `storage_migration_changed`, `storage_migration_missing` and `storage_migration_joined`. */
export const pendingOf = (owner: string, done: ReadonlyMap<string, string>, migrations: readonly Migration[]): PendingMigration[] => {
  const names = new Set(done.keys());
  const pending: PendingMigration[] = [];
  for (const migration of migrations.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const steps = recordMigration(migration);
    const sha256 = hashSteps(steps);
    const before = done.get(migration.name);
    if (before !== undefined && before !== sha256) throw storageErrors.migration_changed(owner, migration.name);
    if (before !== undefined) continue;
    const joined = joinedBy(owner, migration, done);
    if (joined.length > 0) {
      pending.push({ name: migration.name, sha256, steps: [], forgets: joined });
      for (const name of joined) names.delete(name);
      continue;
    }
    if (migration.name < ([...names].sort().at(-1) ?? '')) throw storageErrors.migration_missing(owner, migration.name);
    pending.push({ name: migration.name, sha256, steps, forgets: [] });
  }
  return pending;
};

/** What it replaces, where all of that is applied; nothing where none of it is. */
export const joinedBy = (owner: string, { name, replaces = [] }: Migration, done: ReadonlyMap<string, string>): readonly string[] => {
  const missing = replaces.find((one) => !done.has(one));
  if (missing === undefined) return replaces;
  if (replaces.some((one) => done.has(one))) throw storageErrors.migration_joined(owner, missing, name);
  return [];
};

/** Takes the replaced ones out of the bookkeeping. */
export const forgetSql = ({ forgets }: PendingMigration, book: string, literal: (value: string) => string): string[] =>
  forgets.length === 0 ? [] : [`DELETE FROM ${book} WHERE name IN (${forgets.map(literal).join()})`];

/**
 * Throws `storage_migration_newer`. What third parties ship is not held to it: `svc ext rollback` brings back their code and not
 * their tables (decision 0053).
 */
export const refuseNewer = ({ id, isThirdParty }: Pick<TableNames, 'id' | 'isThirdParty'>, done: ReadonlyMap<string, string> | undefined, migrations: readonly Migration[], place: string): void => {
  const known = new Set(migrations.flatMap(({ name, replaces = [] }) => [name, ...replaces]));
  const newer = isThirdParty ? undefined : [...(done?.keys() ?? [])].sort().find((name) => !known.has(name));
  if (newer !== undefined) throw storageErrors.migration_newer(id, newer, place);
};
