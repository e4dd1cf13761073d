/**
 * Puts an unpacked backup in the place of a home's data, and takes it back.
 *
 * X1  Every part is renamed, so each is the old or the new one. `restore.json` in the home says how far the swap is; it is on the disk before the step that it names.
 * X2  Until the restored data has started once, whoever starts the home next goes back to what was there before.
 * X3  Going back may be interrupted and repeated: a part is moved back only where the old one waits.
 */
import { lstat, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isTable } from '@svc/api';
import { atomicWrite } from '../adapters/files/atomic-write.js';
import { errnoOf } from '../config/errno.js';
import { backupsFolder } from './backups-folder.js';
import { syncFolder } from './create-backup.js';
import { REPLACED_FILES, REPLACED_PATHS } from './home-files.js';

export interface RestoreReport {
  readonly filename: string;
  /** `restored`: it has started. `reverted`: the data of before is back. */
  readonly status: 'restored' | 'reverted';
  /** ISO 8601. */
  readonly at: string;
  /** Why it was reverted. */
  readonly reason: string | null;
  /** The backup of what was there before. */
  readonly safety_backup: string | null;
  /** Who asked for it; null: the command line of this machine. */
  readonly actor: string | null;
}

export interface RestorePlan {
  readonly filename: string;
  /** Where the backup was unpacked: below the folder `backups`. */
  readonly staged: string;
  readonly safety: string | null;
  readonly actor: string | null;
  /** Names this restore on the server whose database the home uses; undefined for the file in the data folder. */
  readonly serverToken?: string | undefined;
}

interface Marker extends RestorePlan {
  /** Parts that were there before. */
  readonly replaced: readonly string[];
}

const markerFile = (home: string): string => join(home, 'restore.json');
const reportFile = (home: string): string => join(backupsFolder(home), 'last-restore.json');
const replacedFolder = (home: string): string => join(backupsFolder(home), '.replaced');

const pathsOf = ({ serverToken }: RestorePlan): readonly string[] => (serverToken === undefined ? REPLACED_PATHS : REPLACED_FILES);

/** The home must be locked, and no daemon may use it. */
export const swapIn = async (home: string, plan: RestorePlan): Promise<void> => {
  await rm(replacedFolder(home), { recursive: true, force: true });
  await mkdir(replacedFolder(home), { recursive: true, mode: 0o700 });
  const replaced: string[] = [];
  for (const path of pathsOf(plan)) if (await exists(join(home, path))) replaced.push(path);
  const marker: Marker = { ...plan, replaced };
  await atomicWrite(markerFile(home), JSON.stringify(marker), { modeWhenNew: 0o600 });
  for (const path of pathsOf(plan)) {
    await move(join(home, path), join(replacedFolder(home), path));
    await move(join(plan.staged, path), join(home, path));
  }
  await syncFolder(home);
};

/** The restore that is under way; undefined where none is. */
export const openRestore = async (home: string): Promise<RestorePlan | undefined> => readMarker(home);

/** The restored data has started: there is no way back but the safety backup. */
export const confirmSwap = async (home: string, at: string): Promise<void> => {
  const marker = await readMarker(home);
  if (marker) await reportRestore(home, marker, { status: 'restored', at, reason: null });
  await rm(markerFile(home), { force: true });
  await syncFolder(home);
  await rm(replacedFolder(home), { recursive: true, force: true });
  if (marker) await rm(marker.staged, { recursive: true, force: true });
};

/** Goes back to the files of before, where a restore did not come to its end. False where none is open. A server has gone back before. */
export const revertOpenSwap = async (home: string, at: string, reason: string): Promise<boolean> => {
  const marker = await readMarker(home);
  if (!marker) return false;
  const old = replacedFolder(home);
  for (const path of pathsOf(marker)) {
    const wasThere = marker.replaced.includes(path);
    // Not moved yet, or moved back already.
    if (wasThere && !(await exists(join(old, path)))) continue;
    await rm(join(home, path), { recursive: true, force: true });
    if (wasThere) await move(join(old, path), join(home, path));
  }
  await syncFolder(home);
  await reportRestore(home, marker, { status: 'reverted', at, reason });
  await rm(markerFile(home), { force: true });
  await syncFolder(home);
  await rm(old, { recursive: true, force: true });
  await rm(marker.staged, { recursive: true, force: true });
  return true;
};

/** How the last restore of this home ended; undefined where none was. */
export const lastRestore = async (home: string): Promise<RestoreReport | undefined> => {
  const found = await readJson(reportFile(home));
  // Written by `reportRestore`, below.
  return isTable(found) && typeof found.filename === 'string' ? (found as Record<string, unknown> & RestoreReport) : undefined;
};

/** Notes how a restore ended, also one that never replaced anything. */
export const reportRestore = (home: string, { actor, filename, safety }: Omit<RestorePlan, 'staged'>, end: Pick<RestoreReport, 'status' | 'at' | 'reason'>): Promise<void> =>
  atomicWrite(reportFile(home), JSON.stringify({ filename, ...end, safety_backup: safety, actor } satisfies RestoreReport), { modeWhenNew: 0o600 });

const readMarker = async (home: string): Promise<Marker | undefined> => {
  const found = await readJson(markerFile(home));
  // Written whole by `swapIn`, or not at all.
  return isTable(found) && Array.isArray(found.replaced) ? (found as Record<string, unknown> & Marker) : undefined;
};

const readJson = async (file: string): Promise<unknown> => {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
};

const move = async (from: string, to: string): Promise<void> => {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  try {
    await rename(from, to);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error; // there is no such part
  }
};

const exists = async (path: string): Promise<boolean> => (await lstat(path).catch(() => undefined)) !== undefined;
