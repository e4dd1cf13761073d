/** The folder `backups` of a home: its archives by name, newest first. */
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { BACKUP_NAME, isSvcError } from '@svc/api';
import { readManifest } from './archive-reader.js';
import { backupErrors } from './errors.js';
import type { BackupManifest } from './manifest.js';

const PARTIAL = '.partial-';

export const backupsFolder = (home: string): string => join(home, 'backups');

/** Absolute path of an archive of this home. Throws `backup_bad_name`. */
export const backupPath = (home: string, filename: string): string => {
  if (!BACKUP_NAME.fits(filename)) throw backupErrors.bad_name(filename);
  return join(backupsFolder(home), filename);
};

/** Why a backup was made: by a person, by the schedule, or before a restore. */
export type BackupCause = 'manual' | 'scheduled' | 'safety';

/** `svc_backup_20260131_120000_scheduled.tar.gz`, in UTC; `attempt` tells apart those of one second. */
export const backupName = (iso: string, cause: BackupCause, attempt = 1): string => {
  const [day = '', time = ''] = iso.slice(0, 19).replaceAll(/[-:]/g, '').split('T');
  return `svc_backup_${day}_${time}${attempt === 1 ? '' : `_${attempt}`}${cause === 'manual' ? '' : `_${cause}`}.tar.gz`;
};

export const isScheduled = (filename: string): boolean => filename.endsWith('_scheduled.tar.gz');

export const partialPath = (home: string, id: string): string => join(backupsFolder(home), `${PARTIAL}${id}`);

/** What a crash left of a backup or restore. To be called by whoever is alone with the home. */
export const removePartials = async (home: string): Promise<void> => {
  const names = await readdir(backupsFolder(home)).catch(() => []); // none was ever made
  await Promise.all(names.filter((name) => name.startsWith(PARTIAL)).map((name) => rm(join(backupsFolder(home), name), { recursive: true, force: true })));
};

export interface ListedBackup {
  readonly filename: string;
  readonly path: string;
  readonly sizeBytes: number;
  /** ISO 8601. */
  readonly modifiedAt: string;
  /** Undefined where it cannot be read; `problem` says why. */
  readonly manifest: Omit<BackupManifest, 'files'> | undefined;
  readonly problem: string | undefined;
}

export interface BackupList {
  all(): Promise<ListedBackup[]>;
  /** Rejects with `backup_bad_name` and `backup_not_found`. */
  remove(filename: string): Promise<void>;
}

/** Each manifest is read once, as long as its file stays the same. */
export const createBackupList = (home: string, version: string): BackupList => {
  const known = new Map<string, Pick<ListedBackup, 'manifest' | 'problem'> & { readonly stamp: string }>();
  const look = async (filename: string): Promise<ListedBackup | undefined> => {
    const path = join(backupsFolder(home), filename);
    const found = await stat(path).catch(() => undefined); // deleted meanwhile
    if (!found?.isFile()) return undefined;
    const stamp = `${found.size}:${found.mtimeMs}:${found.ino}`;
    const before = known.get(filename);
    const read = before?.stamp === stamp ? before : { stamp, ...(await summaryOf(path, version)) };
    known.set(filename, read);
    return { filename, path, sizeBytes: found.size, modifiedAt: found.mtime.toISOString(), manifest: read.manifest, problem: read.problem };
  };
  return {
    all: async () => {
      const names = (await readdir(backupsFolder(home)).catch(() => [])).filter((name) => BACKUP_NAME.fits(name)); // no folder, no backups
      for (const name of known.keys()) if (!names.includes(name)) known.delete(name);
      const rows: ListedBackup[] = [];
      for (const name of names) {
        const row = await look(name);
        if (row) rows.push(row);
      }
      return rows.sort((a, b) => timeOf(b).localeCompare(timeOf(a)) || b.filename.localeCompare(a.filename));
    },
    remove: async (filename) => {
      const path = backupPath(home, filename);
      const found = await stat(path).catch(() => undefined); // not there
      if (!found?.isFile()) throw backupErrors.not_found(filename);
      await rm(path);
    },
  };
};

export const timeOf = ({ manifest, modifiedAt }: Pick<ListedBackup, 'manifest' | 'modifiedAt'>): string => manifest?.created_at ?? modifiedAt;

const summaryOf = async (path: string, version: string): Promise<Pick<ListedBackup, 'manifest' | 'problem'>> => {
  try {
    const { files: _files, ...manifest } = await readManifest(path, version);
    return { manifest, problem: undefined };
  } catch (error) {
    return { manifest: undefined, problem: isSvcError(error) ? error.message : 'It cannot be read.' };
  }
};
