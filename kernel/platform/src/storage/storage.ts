/** The database behind every `ctx.db` (promises S1 to S3 of the contract). */
import { createDb } from './contract/create-db.js';
import type { Engine } from './contract/engine.js';
import type { Storage, StorageOptions } from './contract/storage-contract.js';
import { tableNames } from './contract/table-names.js';
import { openSqliteEngine } from './sqlite/sqlite-engine.js';

export type { Storage, StorageOptions };

/** Rejects with `storage_unavailable`, naming the database and the reason, when it cannot be opened for writing. */
export const openStorage = async (options: StorageOptions): Promise<Storage> => {
  const engine = await openEngine(options);
  const known = new Set<string>();
  return {
    ...engine,
    dbFor: (owner) => createDb(engine, tableNames(owner, known)),
    migrate: (owner, migrations) => engine.migrate(tableNames(owner, known), migrations),
  };
};

/** The driver of PostgreSQL is loaded where it is used. */
const openEngine = async (options: StorageOptions): Promise<Engine> => {
  const { url } = options;
  if (url === undefined) return openSqliteEngine(options);
  const { openPostgresEngine } = await import('./postgres/postgres-engine.js');
  return openPostgresEngine({ ...options, url });
};
