/**
 * Makes a backup of a home, beside a daemon that works.
 *
 * C1  The database is one snapshot of all that was committed when it began; the files are read after it.
 * C2  The archive gets its name when it is whole and on the disk. A failure, a full disk or a crash leaves no archive.
 * C3  Each archive is read back once, as a restore reads it, before it gets its name.
 * C4  What is in the bin stays out: a backup keeps nothing that a person deleted.
 * C5  No secret in plain text: keys stay out, and config.toml is stored without its secrets.
 */
import { link, mkdir, open, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { isSvcError } from '@svc/api';
import { errnoOf } from '../config/errno.js';
import { assertRoom, verifyArchive } from './archive-reader.js';
import { NOT_BACKED_UP } from '../storage/kernel-tables.js';
import { emptyTables, readTables } from '../storage/sqlite/saved-copy.js';
import { joinArchive, packFiles, type Pause, type SourceFile } from './archive-writer.js';
import { type BackupCause, backupName, backupsFolder, partialPath, removePartials } from './backups-folder.js';
import { backupErrors } from './errors.js';
import { CONFIG_PATH, DATABASE_PATH, findHomeFiles } from './home-files.js';
import { type BackupManifest, MANIFEST_VERSION } from './manifest.js';

export interface CreateBackup {
  readonly home: string;
  readonly version: string;
  readonly cause: BackupCause;
  /** ISO 8601, now. */
  readonly now: string;
  /** Names the temporary files. */
  readonly id: string;
  readonly database: BackedDatabase;
  /** config.toml without its secrets, and what was left out; undefined where there is none. Without a text, the file stays out. */
  configText(): Promise<{ readonly text: string | undefined; readonly leftOut: readonly string[] } | undefined>;
  /** Beside a daemon that works: lets it work. */
  readonly pause?: Pause | undefined;
  readonly onStep?: (step: BackupStep) => void;
  readonly signal?: AbortSignal | undefined;
}

export interface BackedDatabase {
  readonly engine: BackupManifest['engine'];
  /** About what a copy takes. */
  bytes(): Promise<number>;
  /** Writes a consistent copy to a SQLite file that does not exist. */
  save(file: string): Promise<{ readonly leftOut: readonly string[] }>;
}

export type BackupStep = 'database' | 'files' | 'writing';

export interface CreatedBackup {
  readonly filename: string;
  readonly path: string;
  readonly sizeBytes: number;
  readonly manifest: BackupManifest;
}

/** One at a time for a home: the caller makes sure. Rejects with `backup_no_space`, `backup_unwritable` and what the database throws. */
export const createBackup = async (options: CreateBackup): Promise<CreatedBackup> => {
  const { home } = options;
  const folder = backupsFolder(home);
  const partial = partialPath(home, options.id);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await removePartials(home);
    await mkdir(partial, { mode: 0o700 });
    return await make(options, folder, partial);
  } catch (error) {
    throw failureOf(error, folder);
  } finally {
    await rm(partial, { recursive: true, force: true }).catch(() => undefined); // a folder that cannot be written holds nothing of ours
  }
};

const make = async (options: CreateBackup, folder: string, partial: string): Promise<CreatedBackup> => {
  const { home, now, onStep, signal } = options;
  const databaseBytes = await options.database.bytes();
  const found = await findHomeFiles(home);
  // The copy of the database, and an archive that compresses nothing.
  await assertRoom(folder, databaseBytes * 2 + found.files.reduce((sum, { size }) => sum + size, 0));
  onStep?.('database');
  const database = join(partial, 'svc.db');
  const { leftOut } = await options.database.save(database);
  await emptyTables(database, NOT_BACKED_UP);
  const contents = Object.entries(await readTables(database, options.pause));
  signal?.throwIfAborted();
  onStep?.('files');
  const config = await options.configText();
  const sources: SourceFile[] = [
    ...(config?.text === undefined ? [] : [{ path: CONFIG_PATH, mode: 0o600, from: Buffer.from(config.text) }]),
    { path: DATABASE_PATH, mode: 0o600, from: database },
    ...found.files.map(({ path, mode }) => ({ path, mode, from: join(home, path) })),
  ];
  const body = join(partial, 'body');
  const unreadable: string[] = [];
  const files = await packFiles(body, sources, { leftOut: unreadable, pause: options.pause, signal });
  await rm(database);
  onStep?.('writing');
  const manifest: BackupManifest = {
    version: MANIFEST_VERSION,
    created_at: now,
    hostname: hostname(),
    svc_version: options.version,
    engine: options.database.engine,
    components: ['database', ...(config?.text === undefined ? [] : ['config']), ...found.components],
    tables: Object.fromEntries(contents.map(([name, { rows }]) => [name, rows])),
    sums: Object.fromEntries(contents.map(([name, { sum }]) => [name, sum])),
    files,
    left_out: [...(config?.leftOut ?? []), ...leftOut, ...found.leftOut, ...unreadable],
  };
  const archive = join(partial, 'archive');
  await joinArchive(archive, manifest, body, { pause: options.pause, signal });
  await verifyArchive(archive, options.version, { pause: options.pause, signal });
  const filename = await publish(options, archive, folder);
  const path = join(folder, filename);
  return { filename, path, sizeBytes: (await stat(path)).size, manifest };
};

/** A file of SQLite. */
export const fileDatabase = (file: string, save: (copy: string) => Promise<void>): BackedDatabase => {
  const sizeOf = async (path: string): Promise<number> => (await stat(path).catch(() => undefined))?.size ?? 0;
  return {
    engine: 'sqlite',
    bytes: async () => (await sizeOf(file)) + (await sizeOf(`${file}-wal`)),
    save: async (copy) => {
      await save(copy);
      return { leftOut: [] };
    },
  };
};

/** Under the first name that is free; never over a file that exists. */
const publish = async ({ cause, now }: CreateBackup, archive: string, folder: string): Promise<string> => {
  for (let attempt = 1; ; attempt += 1) {
    const filename = backupName(now, cause, attempt);
    try {
      await link(archive, join(folder, filename));
    } catch (error) {
      if (errnoOf(error) === 'EEXIST') continue;
      throw error;
    }
    await syncFolder(folder);
    return filename;
  }
};

export const syncFolder = async (folder: string): Promise<void> => {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};

export const failureOf = (error: unknown, folder: string): unknown => {
  if (isSvcError(error) && error.code !== 'storage_full') return error;
  const code = isSvcError(error) ? 'ENOSPC' : errnoOf(error);
  if (code === 'ENOSPC' || code === 'EDQUOT') return backupErrors.no_space(folder, 1, 0).with({ cause: error });
  if (code === 'EROFS' || code === 'EACCES' || code === 'EPERM') return backupErrors.unwritable(folder, code).with({ cause: error });
  return error;
};
