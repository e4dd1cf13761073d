/**
 * Which files of a home are in a backup.
 *
 * H1  Only the parts named here, and of them only files: links, pipes and sockets are left out and listed.
 * H2  What the reader of an archive would refuse is not written: both ask `faultOfPath`. A backslash is a letter of a name here.
 * H3  What cannot be read, and a file that is mostly a hole, is left out and listed; the rest is backed up.
 * H4  No key: a file `*.key` stays where it is. So the secrets of the vault are in a backup as they are on the disk, sealed.
 */
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf } from '../config/errno.js';

export const CONFIG_PATH = 'config.toml';
export const DATABASE_PATH = 'data/svc.db';

/** Component by component: what a person would call it, and where it is. Areas store their own files in `data/ext/<id>`. */
export const HOME_PARTS: Readonly<Record<string, string>> = {
  templates: 'templates',
  workspaces: 'workspaces',
  checkpoints: 'checkpoints',
  uploads: 'data/uploads',
  'extension data': 'data/ext',
  extensions: 'data/extensions',
};

/** What a restore replaces of a home whose database is a server's. */
export const REPLACED_FILES: readonly string[] = [CONFIG_PATH, ...Object.values(HOME_PARTS), `${DATABASE_PATH}-identity.json`, 'data/config-last-good.json', 'data/switched-off'];

/** What a restore replaces: the parts of a backup, and what belongs to the database that goes. */
export const REPLACED_PATHS: readonly string[] = [...REPLACED_FILES, ...['', '-wal', '-shm', '-journal'].map((end) => `${DATABASE_PATH}${end}`)];

export const isKeyFile = (name: string): boolean => name.endsWith('.key');

/** Undefined for a path that a backup may have; otherwise why it may not, to stand behind the path. */
export const faultOfPath = (path: string): string | undefined => {
  if (path.startsWith('/')) return 'has an absolute path';
  if (path.includes('\0') || path.split('/').some((part) => part === '' || part === '.' || part === '..')) return 'leads out of the home folder';
  if (isKeyFile(path)) return 'is a key, which no backup holds';
  const isKnown = path === CONFIG_PATH || path === DATABASE_PATH || Object.values(HOME_PARTS).some((part) => path.startsWith(`${part}/`));
  return isKnown ? undefined : 'is not in a part of the home folder that a backup may have';
};

/** A hole takes no room here and all of it at a restore. */
const MAX_HOLE_BYTES = 1_073_741_824;
const BLOCK_BYTES = 512;

/** What node gives for bytes of a name that are no UTF-8. */
const isUnreadableName = (name: string): boolean => name.includes('\ufffd');

/** Written beside a file before it replaces it; what a crash left of it is nobody's. */
const isTemporary = (name: string): boolean => name.startsWith('.svc-') && name.endsWith('.tmp');

export interface FoundFile {
  readonly path: string;
  readonly mode: number;
  readonly size: number;
}

export interface FoundFiles {
  readonly components: readonly string[];
  readonly files: readonly FoundFile[];
  readonly leftOut: readonly string[];
}

/** In order of path. */
export const findHomeFiles = async (home: string): Promise<FoundFiles> => {
  const files: FoundFile[] = [];
  const leftOut: string[] = [];
  const components: string[] = [];
  for (const [component, part] of Object.entries(HOME_PARTS)) {
    const before = files.length;
    await walk(home, part, files, leftOut);
    if (files.length > before) components.push(component);
  }
  return { components, files, leftOut };
};

/** Of a file or folder that is there. */
export const NOT_READABLE: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EIO', 'ELOOP', 'ENAMETOOLONG']);

const walk = async (home: string, folder: string, files: FoundFile[], leftOut: string[]): Promise<void> => {
  const entries = await readdir(join(home, folder), { withFileTypes: true }).catch((error: unknown) => {
    const code = errnoOf(error) ?? '';
    if (NOT_READABLE.has(code)) leftOut.push(`${folder}: it cannot be read (${code})`);
    else if (isUnreadableName(folder)) leftOut.push(`${folder}: its name is no UTF-8`);
    else if (!['ENOENT', 'ENOTDIR'].includes(code)) throw error; // it was never made, or was deleted meanwhile
    return [];
  });
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) await walk(home, path, files, leftOut);
    else if (isKeyFile(entry.name)) leftOut.push(`${path}: a key`);
    else if (isTemporary(entry.name)) continue;
    else if (!entry.isFile()) leftOut.push(`${path}: not a file`);
    else {
      const found = await lstat(join(home, path)).catch(() => undefined); // deleted meanwhile
      const why = found ? (faultOfPath(path) ?? holeOf(found)) : isUnreadableName(entry.name) ? 'its name is no UTF-8' : undefined;
      if (why !== undefined) leftOut.push(`${path}: ${why}`);
      else if (found) files.push({ path, mode: found.mode & 0o777, size: found.size });
    }
  }
};

const holeOf = ({ blocks, size }: { readonly blocks: number; readonly size: number }): string | undefined => {
  const taken = blocks * BLOCK_BYTES;
  return size - taken > MAX_HOLE_BYTES && taken < size / 2 ? `it is a file with holes: ${size} bytes, of which ${taken} are on the disk` : undefined;
};
