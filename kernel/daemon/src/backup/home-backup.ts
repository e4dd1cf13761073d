/** Backups and restores of one home, whether its daemon runs or not. */
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock, Ids } from '@svc/api';
import type { Packing, Pause } from '@svc/platform/backup/archive-writer';
import { backupPath, backupsFolder, type BackupCause } from '@svc/platform/backup/backups-folder';
import { type BackedDatabase, type BackupStep, createBackup, type CreateBackup, type CreatedBackup, fileDatabase } from '@svc/platform/backup/create-backup';
import { backupErrors } from '@svc/platform/backup/errors';
import { CONFIG_PATH } from '@svc/platform/backup/home-files';
import type { BackupManifest } from '@svc/platform/backup/manifest';
import type { RestorePlan } from '@svc/platform/backup/restore-swap';
import { serverDatabase } from '@svc/platform/backup/server-database';
import { stageBackup, takeAlong } from '@svc/platform/backup/staged-backup';
import { allClaims } from '@svc/platform/config/claims';
import { readConfigFile } from '@svc/platform/config/file/config-file';
import { withoutSecretText, withSecretTextOf } from '@svc/platform/config/file/secret-free';
import { loadToml } from '@svc/platform/config/file/toml-parse';
import { databaseFileOf, type Home } from '@svc/platform/config/home';
import type { SectionClaims } from '@svc/platform/config/kernel-sections';
import { settingSchemas } from '@svc/platform/config/settings/config-document';
import type { MovedOwner } from '@svc/platform/storage/move';
import { saveCopy } from '@svc/platform/storage/sqlite/saved-copy';
import type { Storage } from '@svc/platform/storage/storage';

export interface BackupHome {
  readonly home: Home;
  /** Of this svc. */
  readonly version: string;
  /** What installed areas claim: it says which settings are secret. */
  readonly claims: () => SectionClaims;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Whose database this home uses; undefined for the file in the data folder. */
  readonly server: BackupServer | undefined;
}

export interface BackupServer {
  readonly url: string;
  /** Everybody whose tables are known to a home, which may be an unpacked backup. */
  owners(home: Home): Promise<readonly MovedOwner[]>;
}

export interface BackUp {
  readonly cause: BackupCause;
  /** The database of a daemon that works; left out, none does. */
  readonly live?: Pick<Storage, 'saveTo'>;
  readonly onStep?: (step: BackupStep) => void;
  readonly signal?: AbortSignal;
}

export const backUpHome = ({ claims, clock, home, ids, server, version }: BackupHome, { cause, live, onStep, signal }: BackUp): Promise<CreatedBackup> => {
  // In real time, whatever the clock says.
  const packing: Packing = { ...(live ? { pause: (ms: number) => sleep(ms) } : {}), ...(signal ? { signal } : {}) };
  return createBackup({
    ...packing,
    ...(onStep ? { onStep } : {}),
    home: home.home,
    version,
    cause,
    now: clock.iso(),
    id: ids.hex(6),
    database: server ? serverDatabase({ ...packing, url: server.url, owners: () => server.owners(home) }) : fileOf(databaseFileOf(home.dataDir), live?.saveTo, packing.pause),
    configText: () => configWithoutSecrets(home, claims()),
  });
};

const fileOf = (file: string, saveTo: Storage['saveTo'], pause: Pause | undefined): BackedDatabase => fileDatabase(file, (copy) => (saveTo ? saveTo(copy, pause) : saveCopy(file, copy)));

/** One restore at a time. */
const stagedFolder = (home: Home): string => join(backupsFolder(home.home), '.staged');

/** Unpacks and validates all of an archive beside the home. Rejects with the errors of backups, and leaves nothing then. */
export const stageRestore = async ({ claims, home, version }: BackupHome, archive: string): Promise<{ staged: string; manifest: BackupManifest }> => {
  const staged = stagedFolder(home);
  await rm(staged, { recursive: true, force: true });
  const manifest = await stageBackup({ archive, folder: staged, version });
  const parse = await loadToml();
  await takeAlong(home.home, staged, async (text, present) => withSecretTextOf(text, present, settingSchemas(allClaims(claims())), parse));
  return { staged, manifest };
};

/** What a restore that never began left. */
export const dropStaged = (home: Home): Promise<void> => rm(stagedFolder(home), { recursive: true, force: true });

/** Rejects with `backup_bad_name` and `backup_not_found`. */
export const archiveOf = async (home: Home, filename: string): Promise<string> => {
  const path = backupPath(home.home, filename);
  const found = await stat(path).catch(() => undefined); // not there
  if (!found?.isFile()) throw backupErrors.not_found(filename);
  return path;
};

export type { RestorePlan };

/** A file that cannot be read, or a secret that cannot be taken out of it, keeps the whole file out. */
const configWithoutSecrets = async ({ configFile, home }: Home, claims: SectionClaims): ReturnType<CreateBackup['configText']> => {
  if (configFile !== join(home, CONFIG_PATH)) return { text: undefined, leftOut: [`${configFile}: it is outside of the home folder`] };
  const { text, unreadable } = await readConfigFile(configFile);
  if (text === null) return unreadable === undefined ? undefined : { text: undefined, leftOut: [`config.toml: ${unreadable}`] };
  try {
    const found = withoutSecretText(text, settingSchemas(allClaims(claims)), await loadToml());
    return { text: found.text, leftOut: found.leftOut.map((path) => `config.toml: the secret ${path}`) };
  } catch (error) {
    return { text: undefined, leftOut: [`config.toml: ${error instanceof Error ? error.message : String(error)}`] };
  }
};
