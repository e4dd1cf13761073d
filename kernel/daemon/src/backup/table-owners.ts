/** Everybody whose tables are known: the kernel, what was shipped, and what was installed, switched on or off. */
import type { Migration } from '@svc/api';
import type { Installed } from '@svc/core';
import { declaredMigrations } from '@svc/isolation/broker/declared';
import type { Home } from '@svc/platform/config/home';
import { journalMigrations, journalOwner } from '@svc/platform/journal/rows/journal-migrations';
import { kernelMigrations, kernelTables } from '@svc/platform/storage/kernel-tables';
import type { MovedOwner } from '@svc/platform/storage/move';
import { openLocalInstaller } from '../offline/local-installer.js';
import type { LocalSettings } from '../offline/local-storage.js';
import type { Release } from '../release.js';

const platform: readonly MovedOwner[] = [
  { ...kernelTables, migrations: kernelMigrations },
  { ...journalOwner, migrations: journalMigrations },
];

/** Of a daemon that runs. An extension of others is not started by it. */
export const ownersOfInstalled = async (installed: readonly Installed[]): Promise<MovedOwner[]> => {
  const owners = [...platform];
  for (const { bundled, id, load, manifest } of installed) {
    const tables = manifest.tables ?? [];
    if (tables.length > 0) owners.push(ownerOf(id, tables, (await load()).migrations, !bundled));
  }
  return owners;
};

/** Of a home, which the caller has locked. */
export const ownersInHome = async (home: Home, release: Release, settings: LocalSettings): Promise<MovedOwner[]> => {
  const { usable } = await openLocalInstaller(home, release, settings);
  const installed = usable.filter(({ contributions }) => contributions.migrations.length > 0);
  return [
    ...(await ownersOfInstalled(release.extensions)),
    ...installed.map(({ contributions, manifest, record }) => ownerOf(record.id, manifest.tables ?? [], declaredMigrations(contributions), true)),
  ];
};

const ownerOf = (id: string, tables: readonly string[], migrations: readonly Migration[] = [], isThirdParty: boolean): MovedOwner => ({
  ...{ id, tables, migrations },
  ...(isThirdParty ? { isThirdParty } : {}),
});
