/**
 * The database of a server in backups. An archive holds it as a SQLite file, whichever engine it came from: one format, which is
 * verified without a server and restored into either engine.
 *
 * G1  A copy is made of one snapshot, in batches; nobody waits for it, and memory does not grow with the database.
 * G2  A restore begins only while no other daemon is on the server, and keeps others out until it is confirmed (N1 to N4 of storage/postgres/restored-tables.ts).
 */
import { PAUSE_PER_WORK } from '../storage/contract/pace.js';
import { copyDatabase, planCopy } from '../storage/move/copy-database.js';
import type { MoveEnd } from '../storage/move/move-end.js';
import { type MovedOwner, ownersOfTables } from '../storage/move/move-plan.js';
import { openEnd } from '../storage/move/open-end.js';
import { canMakeSchema, confirmTables, LOADED_SCHEMA, prepareSchema, revertTables, type ServerRestore, swapTables } from '../storage/postgres/restored-tables.js';
import type { Pause } from './archive-writer.js';
import type { BackedDatabase } from './create-backup.js';
import { backupErrors } from './errors.js';

/** Who worked when the backup was made is not alive on this server: nobody waits for their leases. */
const WITHOUT_HOLDERS: Readonly<Record<string, string>> = {
  kernel__leases: 'UPDATE kernel__leases SET until = 0',
  kernel__daemons: 'DELETE FROM kernel__daemons',
  journal__runs: 'UPDATE journal__runs SET lease_until = 0 WHERE lease_until > 0',
};

export interface ServerSource {
  readonly url: string;
  /** Everybody whose tables are known. */
  owners(): Promise<readonly MovedOwner[]>;
  /** Beside a daemon that works. */
  readonly pause?: Pause | undefined;
  readonly signal?: AbortSignal | undefined;
}

export const serverDatabase = ({ owners, pause, signal, url }: ServerSource): BackedDatabase => ({
  engine: 'postgres',
  bytes: () => onServer(url, 'read', (end) => end.bytes()),
  save: async (file) => {
    const known = await owners();
    return onServer(url, 'snapshot', async (source) => {
      const { openUpgrades, plan } = await planCopy(source, known);
      if (openUpgrades.length > 0) throw backupErrors.upgrade_open(openUpgrades.join(', '));
      const target = await openEnd({ file, url: undefined, use: 'scratch' });
      try {
        const wait = async (workMs: number): Promise<void> => {
          signal?.throwIfAborted();
          await pause?.(workMs * PAUSE_PER_WORK);
        };
        await copyDatabase({ source, target, replacesNul: false, pause: wait, onProgress: () => undefined }, plan, false);
      } finally {
        await target.close();
      }
      return { leftOut: plan.unknown.map((table) => `table ${table}: its extension is not installed`) };
    });
  },
});

export interface RestoreIntoServer extends ServerRestore {
  readonly url: string;
  /** The database of the unpacked backup. */
  readonly file: string;
  /** Everybody whose tables are known, in the home as it is and in the one that comes. */
  readonly owners: { readonly present: readonly MovedOwner[]; readonly restored: readonly MovedOwner[] };
  /** While others are kept out, and before anything is changed: `isEmpty` says that there is nothing to lose. */
  prepare(isEmpty: boolean): Promise<void>;
  /** When all is loaded and compared. What it calls puts the tables in place. */
  replace(swapTables: () => Promise<void>): Promise<void>;
}

/** Rejects with `storage_move_daemons` where other daemons are alive, and with what a copy rejects with; then nothing was replaced, or `revertServer` takes it back. */
export const restoreIntoServer = ({ file, owners, prepare, replace, url, ...restore }: RestoreIntoServer): Promise<void> =>
  onServer(url, 'change', async (live) => {
    await live.hold();
    await prepare(!(await live.tables()).includes('kernel__events'));
    await prepareSchema(live);
    try {
      await load(url, file, owners.restored);
    } catch (error) {
      await live.change([`DROP SCHEMA ${LOADED_SCHEMA} CASCADE`]);
      throw error;
    }
    await replace(() => swapTables(live, [...owners.present, ...owners.restored], restore));
  });

/** Rejects with `backup_no_schema`. */
export const assertServerTakes = (url: string): Promise<void> =>
  onServer(url, 'read', async (end) => {
    if (!(await canMakeSchema(end))) throw backupErrors.no_schema(end.place);
  });

export const confirmServer = (url: string, token: string): Promise<void> => onServer(url, 'change', (end) => confirmTables(end, token));

export const revertServer = (url: string, token: string): Promise<'confirmed' | 'before'> => onServer(url, 'change', (end) => revertTables(end, token));

/** For a restore whose home is lost: the tables of before, or those of the backup, are those of the database from now on. The caller holds the database. */
export const settleServer = async (end: MoveEnd, token: string, keeps: 'before' | 'restored'): Promise<void> => {
  if (keeps === 'restored') await confirmTables(end, token);
  else await revertTables(end, token);
};

const load = async (url: string, file: string, owners: readonly MovedOwner[]): Promise<void> => {
  const source = await openEnd({ file, url: undefined, use: 'change' });
  try {
    const { plan } = await planCopy(source, owners);
    if (plan.unknown.length > 0) throw backupErrors.unknown_tables(ownersOfTables(plan.unknown));
    const names = plan.tables.map(({ name }) => name);
    await onServer(
      url,
      'change',
      async (target) => {
        await copyDatabase({ source, target, replacesNul: false, onProgress: () => undefined }, plan, true);
        await target.change(Object.entries(WITHOUT_HOLDERS).flatMap(([table, sql]) => (names.includes(table) ? [sql] : [])));
      },
      LOADED_SCHEMA,
    );
  } finally {
    await source.close();
  }
};

const onServer = async <T>(url: string, use: 'read' | 'snapshot' | 'change', work: (end: MoveEnd) => Promise<T>, schema?: string): Promise<T> => {
  const end = await openEnd({ file: '', url, use, schema });
  try {
    return await work(end);
  } finally {
    await end.close();
  }
};
