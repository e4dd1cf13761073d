/** Unpacks a backup beside a home, and validates all of it before anything of the home is touched. */
import { copyFile, mkdir, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errnoOf } from '../config/errno.js';
import { damageOf, readTables } from '../storage/sqlite/saved-copy.js';
import { extractBackup } from './archive-reader.js';
import { failureOf, syncFolder } from './create-backup.js';
import { backupErrors } from './errors.js';
import { CONFIG_PATH, DATABASE_PATH, HOME_PARTS, isKeyFile } from './home-files.js';
import type { BackupManifest } from './manifest.js';

export interface StageBackup {
  readonly archive: string;
  /** Made by this, and removed when it fails. On the disk of the home. */
  readonly folder: string;
  readonly version: string;
}

/** Rejects with the errors of backups; then nothing of it is left. */
export const stageBackup = async ({ archive, folder, version }: StageBackup): Promise<BackupManifest> => {
  try {
    const manifest = await extractBackup(archive, folder, version);
    const fault = await databaseFault(folder, manifest);
    if (fault !== undefined) throw backupErrors.broken(archive, fault);
    return manifest;
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw failureOf(error, dirname(folder));
  }
};

/** What the database of a home has otherwise than the manifest says; undefined when nothing. */
export const databaseFault = async (home: string, { sums, tables }: Pick<BackupManifest, 'tables' | 'sums'>): Promise<string | undefined> => {
  const file = join(home, DATABASE_PATH);
  const damage = await damageOf(file);
  if (damage !== undefined) return `its database is damaged (${damage})`;
  const found = await readTables(file);
  for (const table of new Set([...Object.keys(tables), ...Object.keys(found)])) {
    const rows = found[table]?.rows;
    if (tables[table] !== rows) return `the table ${table} has ${rows ?? 'no'} rows instead of ${tables[table] ?? 'none'}`;
    if (sums && sums[table] !== found[table]?.sum) return `the table ${table} has the same ${rows} rows, but other values in them`;
  }
  return undefined;
};

/** What no backup holds, taken from the home that is replaced: keys, and the secrets of config.toml by `withSecrets(text, present)`. */
export const takeAlong = async (home: string, staged: string, withSecrets: (text: string, present: string) => Promise<string>): Promise<void> => {
  for (const part of Object.values(HOME_PARTS)) await copyKeys(home, staged, part);
  const [text, present] = await Promise.all([textOf(join(staged, CONFIG_PATH)), textOf(join(home, CONFIG_PATH))]);
  // One that was left out of the backup stays as it is.
  if (present !== undefined) await writeFile(join(staged, CONFIG_PATH), text === undefined ? present : await withSecrets(text, present), { mode: 0o600, flush: true });
  await syncFolder(staged);
};

const copyKeys = async (home: string, staged: string, folder: string): Promise<void> => {
  const entries = await readdir(join(home, folder), { withFileTypes: true }).catch(() => []); // there is none
  for (const entry of entries) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) await copyKeys(home, staged, path);
    else if (entry.isFile() && isKeyFile(entry.name)) {
      await mkdir(join(staged, folder), { recursive: true, mode: 0o700 });
      await copyFile(join(home, path), join(staged, path));
    }
  }
};

const textOf = async (file: string): Promise<string | undefined> => {
  try {
    return await readFile(await realpath(file), 'utf8');
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
};
