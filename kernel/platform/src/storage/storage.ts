/** The database behind every `ctx.db` (promises S1 to S5 of the contract). */
import { createDb } from './access/create-db.js';
import type { Engine } from './contract/engine.js';
import { refuseNewer } from './contract/migrations/pending-migrations.js';
import { validateMigrations } from './access/migration-policy.js';
import { rowBytes } from './access/row-bytes.js';
import { createSealedWrites } from './access/sealed-writes.js';
import type { Storage, StorageOptions } from './contract/storage-contract.js';
import { tableNames } from './contract/table-names.js';
import { createTableShapes } from './access/table-shapes.js';
import { openSqliteEngine } from './sqlite/sqlite-engine.js';

export { DEFAULT_LIMITS, type SlowStatement, type StorageLimits } from './contract/statement-limits.js';
export type { Storage, StorageOptions };

/** Rejects with `storage_unavailable`, naming the database and the reason, when it cannot be opened for writing. */
export const openStorage = async (options: StorageOptions): Promise<Storage> => {
  const engine = await openEngine(options);
  // What commits and reads unsealed and unvalidated goes no further than this.
  const { commit: _commit, read: _read, identifier: _identifier, words: _words, drop, kept, migrate, ...open } = engine;
  const sealed = createSealedWrites();
  const shapes = createTableShapes();
  return {
    ...open,
    dbFor: (owner) => createDb({ engine, sealed, shapes }, tableNames(owner)),
    event: (ownerId, event, data) => sealed.seal(`${ownerId}: event ${event}`, { event, data }),
    rowBytes: (owner) => rowBytes(engine, tableNames(owner)),
    drop: async (owner) => {
      await kept.forget(owner.id);
      await drop(tableNames({ ...owner, isPlatform: false }));
    },
    isPending: (owner, migrations) => {
      const done = engine.appliedMigrations().get(tableNames(owner).bookkeeping);
      return migrations.some((name) => done?.get(name) === undefined);
    },
    copyTables: (owner, token) => kept.keep(tableNames(owner), token),
    restoreTables: (owner, token) => kept.restore(tableNames(owner), token),
    forgetTables: kept.forget,
    tableCopies: kept.all,
    migrate: async (owner, migrations) => {
      const names = tableNames(owner);
      const validated = validateMigrations(names, migrations);
      refuseNewer(names, engine.appliedMigrations().get(names.bookkeeping), migrations, engine.place);
      const outcome = await migrate(
        names,
        validated.map(({ migration }) => migration),
      );
      shapes.learn(
        names,
        validated.map(({ steps }) => steps),
      );
      return outcome;
    },
  };
};

/** The driver of PostgreSQL is loaded where it is used. */
const openEngine = async (options: StorageOptions): Promise<Engine> => {
  const { url } = options;
  if (url === undefined) return openSqliteEngine(options);
  const { openPostgresEngine } = await import('./postgres/postgres-engine.js');
  return openPostgresEngine({ ...options, url });
};
