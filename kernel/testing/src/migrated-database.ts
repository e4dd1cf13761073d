/**
 * A database as the migrations of this build leave it, without what a first start writes into it: applying them anew was
 * two fifths of what a boot takes. Made by the first daemon of this process, and copied for each later one.
 */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BootOptions, bootDaemon } from '@svc/daemon';
import { openPostgres } from '@svc/platform/storage/postgres/postgres-connection';
import { openSqlite } from '@svc/platform/storage/sqlite/sqlite-connection';
import { sharedCluster } from './postgres/cluster.js';
import { engineInUse } from './postgres/engines.js';

/** What a start writes: a copy shall be a new database that nobody has started from. */
const OF_A_START = ['kernel_identity', 'kernel__offsets', 'kernel__leases', 'agents__agents', 'agents__marks', 'kernel__events', 'comms__feed'];
/** What migrations themselves write. */
const OF_MIGRATIONS = /__migrations$|^models__revisions$|__words_(data|config)$/;

/** The tests of each package bring this module in their own bundle: what was made belongs to the process. */
const OURS = Symbol.for('svc.testing.migrated-database');
const place = globalThis as { [OURS]?: { sqlite?: Promise<Buffer>; postgres?: Promise<string> } };
place[OURS] ??= {};
const made = place[OURS];

type Boot = Pick<BootOptions, 'releaseFile' | 'code'>;

/** Puts the database of a new home in its place; resolves with its URL, or undefined where it is a file in the home. */
export const copyMigrated = async (home: string, boot: Boot): Promise<string | undefined> => {
  if (engineInUse() === 'PostgreSQL') {
    made.postgres ??= makePostgres(boot);
    return (await sharedCluster()).fresh(await made.postgres);
  }
  made.sqlite ??= makeSqlite(boot);
  await mkdir(join(home, 'data'), { recursive: true });
  await writeFile(join(home, 'data/svc.db'), await made.sqlite);
  return undefined;
};

const makeSqlite = (boot: Boot): Promise<Buffer> =>
  started(boot, {}, async (home) => {
    const file = join(home, 'data/svc.db');
    const connection = await openSqlite({ file, readOnly: false, maxStatements: 1 });
    const rowsOf = async (sql: string): Promise<Array<Record<string, unknown>>> => await connection.all(sql, []);
    const tables = (await rowsOf("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")).map(({ name }) => String(name));
    await forget(tables, (sql) => connection.exec(sql), rowsOf);
    await connection.close();
    return readFile(file);
  });

const makePostgres = async (boot: Boot): Promise<string> => {
  const url = await (await sharedCluster()).fresh();
  return started(boot, { SVC__STORAGE__URL: url }, async () => {
    const connection = await openPostgres(url);
    const rowsOf = async (sql: string) => (await connection.query(sql)).at(-1)?.rows as Array<Record<string, unknown>>;
    const tables = (await rowsOf("SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'")).map(({ name }) => String(name));
    await forget(tables, rowsOf, rowsOf);
    await connection.close();
    return url;
  });
};

/** Starts a daemon on a new home, stops it, and gives what `take` makes of what it left. */
const started = async <T>(boot: Boot, env: Readonly<Record<string, string>>, take: (home: string) => Promise<T>): Promise<T> => {
  const home = await mkdtemp(join(tmpdir(), 'svc-migrated-'));
  try {
    const daemon = await bootDaemon({ ...boot, env: { PATH: process.env.PATH, HOME: home, SVC_HOME: home, ...env }, foreground: false, port: 0 });
    await daemon.stop('the database is made');
    return await take(home);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
};

const forget = async (tables: readonly string[], exec: (sql: string) => Promise<unknown>, rowsOf: (sql: string) => Promise<readonly unknown[]>): Promise<void> => {
  for (const table of OF_A_START) await exec(`DELETE FROM ${table}`);
  for (const table of tables.filter((name) => !OF_MIGRATIONS.test(name)))
    if ((await rowsOf(`SELECT 1 FROM ${table} LIMIT 1`)).length > 0)
      throw new Error(
        `A start writes rows into ${table}, which every test would share. Name it in OF_A_START of kernel/testing/src/migrated-database.ts, or in OF_MIGRATIONS where a migration writes them.`,
      );
};
