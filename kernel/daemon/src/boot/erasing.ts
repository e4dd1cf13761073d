/** What is deleted: the bin, where it can come back from, and the erasing of people, agents and sessions for good. */
import { type Db, StorageMoved, type TableDecl } from '@svc/api';
import { API_VERSION } from '@svc/api/internal';
import { eraseFacts } from '@svc/platform/audit/stored-facts';
import type { PlatformJournal } from '@svc/platform/journal/journal';
import { createPurgeRegistry } from '@svc/platform/purge/purge-registry';
import { createPurges, type Purges } from '@svc/platform/purge/purges';
import { createTrash, type PlatformTrash } from '@svc/platform/purge/trash';
import type { Storage } from '@svc/platform/storage/storage';
import type { Ground } from './ground.js';

interface Stored {
  /** The kernel's own tables. */
  readonly own: Db;
  readonly storage: Storage;
  readonly journal: PlatformJournal;
}

export const openErasing = ({ installed, log, options, wiring }: Ground, { own, storage, journal }: Stored): { readonly purges: Purges; readonly trash: PlatformTrash } => {
  const { clock, ids } = options;
  const dbOf = (id: string, tables: readonly string[]): Db => storage.dbFor({ id, tables, isPlatform: true });
  const trash = createTrash({
    db: own,
    dbOf,
    areas: () => activeTables(wiring.tables.active()),
    moved: async (subject) => {
      const hook = wiring.hooks.slot(StorageMoved);
      if (hook && !hook.isEmpty) await hook.call(subject);
    },
    purge: (subject) => purges.purge(subject),
    clock,
    log: log.logger('kernel'),
  });
  const purges: Purges = createPurges({
    registry: createPurgeRegistry(own, clock, ids),
    installed,
    tables: wiring.tables,
    hooks: wiring.hooks,
    dbOf,
    journal,
    trash,
    eraseFacts: (ownerId) => eraseFacts(own, ownerId),
    clock,
    log: log.logger('kernel'),
    apiVersion: API_VERSION,
  });
  return { purges, trash };
};

/** Of the areas that are on. */
const activeTables = (active: ReadonlyArray<{ readonly owner: { readonly id: string }; readonly value: TableDecl }>): Array<{ readonly id: string; readonly tables: readonly TableDecl[] }> => {
  const byArea = new Map<string, TableDecl[]>();
  for (const { owner, value } of active) byArea.set(owner.id, [...(byArea.get(owner.id) ?? []), value]);
  return [...byArea].map(([id, tables]) => ({ id, tables }));
};
