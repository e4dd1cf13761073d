/** manifest.json, the first entry of a backup: what is in it, with size and SHA-256 of each file. */
import { isTable } from '@svc/api';
import { backupErrors } from './errors.js';

export const MANIFEST_NAME = 'manifest.json';
export const MANIFEST_VERSION = 1;
export const MAX_MANIFEST_BYTES = 64 * 1_048_576;

export interface BackupFile {
  /** Relative to the home folder, with `/`. */
  readonly path: string;
  readonly size: number;
  /** Lower-case hex. */
  readonly sha256: string;
  /** Permission bits. */
  readonly mode: number;
}

export interface BackupManifest {
  readonly version: number;
  /** ISO 8601, UTC: when the snapshot of the database began. */
  readonly created_at: string;
  readonly hostname: string;
  readonly svc_version: string;
  /** Of the daemon that made it; the database in it is a SQLite file in either case. */
  readonly engine: 'sqlite' | 'postgres';
  readonly components: readonly string[];
  /** Rows of each table in the snapshot. */
  readonly tables: Readonly<Record<string, number>>;
  /** Of the content of each table, the same whichever engine; missing in backups of earlier versions. */
  readonly sums?: Readonly<Record<string, string>>;
  readonly files: readonly BackupFile[];
  /** What was left out, and why. */
  readonly left_out: readonly string[];
}

/** Throws `backup_broken` and `backup_newer`. `mine` is the version of this svc. */
export const parseManifest = (file: string, text: string, mine: string): BackupManifest => {
  let found: unknown;
  try {
    found = JSON.parse(text);
  } catch {
    throw backupErrors.broken(file, `its ${MANIFEST_NAME} is not JSON`);
  }
  if (!isTable(found) || !Number.isInteger(found.version)) throw backupErrors.broken(file, `its ${MANIFEST_NAME} has no version`);
  const made = typeof found.svc_version === 'string' ? found.svc_version : 'unknown';
  if (Number(found.version) > MANIFEST_VERSION || isNewer(made, mine)) throw backupErrors.newer(file, made, mine);
  if (!isManifest(found)) throw backupErrors.broken(file, `its ${MANIFEST_NAME} is incomplete`);
  return found;
};

const isManifest = (found: Record<string, unknown>): found is Record<string, unknown> & BackupManifest =>
  ['created_at', 'hostname', 'svc_version'].every((name) => typeof found[name] === 'string') &&
  (found.engine === 'sqlite' || found.engine === 'postgres') &&
  areTexts(found.components) &&
  areTexts(found.left_out) &&
  isTable(found.tables) &&
  Object.values(found.tables).every(isCount) &&
  (found.sums === undefined || (isTable(found.sums) && Object.values(found.sums).every((sum) => typeof sum === 'string'))) &&
  Array.isArray(found.files) &&
  found.files.every(isFile);

const areTexts = (value: unknown): boolean => Array.isArray(value) && value.every((one) => typeof one === 'string');
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;
const isFile = (value: unknown): boolean =>
  isTable(value) && typeof value.path === 'string' && isCount(value.size) && isCount(value.mode) && typeof value.sha256 === 'string' && /^[0-9a-f]{64}$/.test(value.sha256);

/** By the three numbers; a version that has none is not newer. */
const isNewer = (one: string, other: string): boolean => {
  const [left, right] = [numbersOf(one), numbersOf(other)];
  const at = left.findIndex((number, index) => number !== right[index]);
  return at >= 0 && (left[at] ?? 0) > (right[at] ?? 0);
};

const numbersOf = (version: string): number[] => (/^(\d+)\.(\d+)\.(\d+)/.exec(version)?.slice(1) ?? []).map(Number);
