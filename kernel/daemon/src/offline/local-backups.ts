/**
 * Creates, verifies and restores backups for the command line, without the API. Whoever can do that is the user of the machine whose home it is.
 *
 * V1  A verification unpacks into a temporary home and starts a daemon on it in a process of its own: no work is resumed, nothing is sent.
 * V2  A restore needs the home for itself: a daemon that runs refuses it. What does not start is taken back.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import * as api from '@svc/api';
import { type ExtensionStatus, isTable } from '@svc/api';
import { backupErrors } from '@svc/platform/backup/errors';
import type { CreatedBackup } from '@svc/platform/backup/create-backup';
import type { BackupManifest } from '@svc/platform/backup/manifest';
import { stageBackup } from '@svc/platform/backup/staged-backup';
import { systemClock } from '@svc/platform/clock/clock';
import { systemIds } from '@svc/platform/clock/ids';
import { databaseFileOf, type Home, resolveHome } from '@svc/platform/config/home';
import { assertServerTakes } from '@svc/platform/backup/server-database';
import { databaseUrlOf } from '@svc/platform/config/start-settings';
import { archiveOf, backUpHome, type BackupHome, dropStaged, stageRestore } from '../backup/home-backup.js';
import { goBack, replaceStopped } from '../backup/restore-daemon.js';
import { ownersInHome } from '../backup/table-owners.js';
import type { TrialReport } from '../backup/trial.js';
import { whileLocked } from './local-home.js';
import { sectionsOf } from '../boot/start-rules.js';
import { readRelease } from '../release.js';
import { settingsOf } from './local-storage.js';

export interface LocalBackup {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** dist/release.json of the build that the daemon runs. */
  readonly releaseFile: string;
  /** A path, or the name of a backup of this home. */
  readonly file: string;
}

export interface Verified {
  readonly manifest: Omit<BackupManifest, 'files'>;
  readonly files: number;
  readonly bytes: number;
  readonly rows: number;
  /** Extensions that did not start with this data. */
  readonly failed: ReadonlyArray<Pick<ExtensionStatus, 'id' | 'reason'>>;
}

/** Of a home whose daemon is stopped; rejects with `daemon_already_running`. Undefined where there is nothing to back up yet. */
export const createLocally = async (backup: Omit<LocalBackup, 'file'>): Promise<CreatedBackup | undefined> => {
  const place = await homeOf(backup);
  if (place.server === undefined && !existsSync(databaseFileOf(place.home.dataDir))) return undefined;
  return whileLocked(place.home.home, () => backUpHome(place, { cause: 'manual' }));
};

/** Rejects with the errors of backups where the archive cannot be used. */
export const verifyLocally = async (backup: LocalBackup): Promise<Verified> => {
  const place = await homeOf(backup);
  const archive = await pathOf(place, backup.file);
  const dir = await mkdtemp(join(tmpdir(), 'svc-verify-'));
  try {
    const home = join(dir, 'home');
    const { files, ...manifest } = await stageBackup({ archive, folder: home, version: place.version });
    const failed = await tryHome(backup, { PATH: backup.env.PATH, HOME: dir, SVC_HOME: home }, []);
    const [bytes, rows] = [sum(files.map(({ size }) => size)), sum(Object.values(manifest.tables))];
    return { manifest, files: files.length, bytes, rows, failed };
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
};

export interface RestoredLocally {
  readonly files: number;
  readonly manifest: Omit<BackupManifest, 'files'>;
  /** The backup of what was there before. */
  readonly safety: string | null;
}

/** Rejects with `daemon_already_running`, and with the errors of backups; then the data of before is there. */
export const restoreLocally = async (backup: LocalBackup): Promise<RestoredLocally> => {
  const place = await homeOf(backup);
  const { manifest, staged, file } = await whileLocked(place.home.home, async () => {
    if (place.server) await assertServerTakes(place.server.url);
    const archive = await pathOf(place, backup.file);
    return { ...(await stageRestore(place, archive)), file: archive };
  });
  const { files, ...rest } = manifest;
  const { safety } = await replaceStopped(place, { filename: file.slice(dirname(file).length + 1), staged, actor: null, safety: null });
  try {
    await tryHome(backup, backup.env, ['--restored']);
  } catch (error) {
    await goBack(place, error);
    throw error;
  }
  await dropStaged(place.home);
  return { files: files.length, manifest: rest, safety };
};

const homeOf = async ({ env, releaseFile }: Omit<LocalBackup, 'file'>): Promise<BackupHome> => {
  const [home, release] = [resolveHome(env), await readRelease(releaseFile, api)];
  const settings = await settingsOf(home, env, release);
  const url = databaseUrlOf(settings);
  const server = url === undefined ? undefined : { url, owners: (where: Home) => ownersInHome(where, release, settings) };
  return { home, version: release.version, claims: () => sectionsOf(release.extensions), clock: systemClock(), ids: systemIds(), server };
};

const pathOf = async ({ home }: BackupHome, file: string): Promise<string> => (file.includes('/') ? resolve(file) : archiveOf(home, file));

/** Starts the daemon of the release on a home and lets it stop. Extensions that failed. */
const tryHome = async ({ releaseFile }: LocalBackup, env: LocalBackup['env'], flags: readonly string[]): Promise<Verified['failed']> => {
  const main = join(dirname(releaseFile), 'daemon', 'main.js');
  // Port 0: whatever is free.
  const child = spawn(process.execPath, [...process.execArgv, main, '--trial', ...flags], { env: { ...env, SVC_LISTEN: '127.0.0.1:0', SVC_PORT: undefined }, stdio: ['ignore', 'pipe', 'pipe'] });
  let [out, errors] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors = `${errors}${text}`.slice(-2_000);
  });
  const code = await new Promise<number | null>((done, failed) => void child.once('error', failed).once('close', done));
  const report = code === 0 ? reportIn(out) : undefined;
  if (!report) throw backupErrors.differs(`the daemon did not start with it${errors.trim() === '' ? '' : ` (${errors.trim()})`}`);
  return report.extensions.filter(({ state }) => state === 'failed' || state === 'quarantined').map(({ id, reason }) => ({ id, reason }));
};

const reportIn = (text: string): TrialReport | undefined => {
  const line = text.trim().split('\n').at(-1) ?? '';
  try {
    const found: unknown = JSON.parse(line);
    return isTable(found) && Array.isArray(found.extensions) ? (found as Record<string, unknown> & TrialReport) : undefined; // printed by program.ts
  } catch {
    return undefined;
  }
};

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);
