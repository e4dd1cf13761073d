/** Which migrations of an owner are to be applied, and whether those that were are still what they were. */
import type { Migration } from '@svc/api';
import { storageErrors } from '../errors.js';
import type { TableNames } from '../table-names.js';
import { hashSteps, recordMigration, type MigrationStep } from './migration-builder.js';

export interface PendingMigration {
  readonly name: string;
  readonly sha256: string;
  readonly steps: readonly MigrationStep[];
}

/** In order of name. Throws `storage_migration_changed` and `storage_migration_missing`. */
export const pendingOf = (owner: string, done: ReadonlyMap<string, string>, migrations: readonly Migration[]): PendingMigration[] => {
  const newest = [...done.keys()].sort().at(-1) ?? '';
  const pending: PendingMigration[] = [];
  for (const migration of migrations.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const steps = recordMigration(migration);
    const sha256 = hashSteps(steps);
    const before = done.get(migration.name);
    if (before !== undefined && before !== sha256) throw storageErrors.migration_changed(owner, migration.name);
    if (before !== undefined) continue;
    if (migration.name < newest) throw storageErrors.migration_missing(owner, migration.name);
    pending.push({ name: migration.name, sha256, steps });
  }
  return pending;
};

/**
 * Throws `storage_migration_newer`. What third parties ship is not held to it: `svc ext rollback` brings back their code and not
 * their tables (decision 0053).
 */
export const refuseNewer = ({ id, isThirdParty }: Pick<TableNames, 'id' | 'isThirdParty'>, done: ReadonlyMap<string, string> | undefined, migrations: readonly Migration[], place: string): void => {
  const known = new Set(migrations.map(({ name }) => name));
  const newer = isThirdParty ? undefined : [...(done?.keys() ?? [])].sort().find((name) => !known.has(name));
  if (newer !== undefined) throw storageErrors.migration_newer(id, newer, place);
};
