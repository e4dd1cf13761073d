/**
 * Where a snapshot repository is and what of the working folder it may hold.
 *
 * C1  Only svc's own repository is written: the folder's own .git is never opened.
 * C2  Excluded folders, files of more than 50 KB, and what is no file or link are left out, and named.
 */

/** Real paths of both; `folder` needs not exist. */
export interface Place {
  readonly gitdir: string;
  readonly folder: string;
}

/** The interface's limit for one file of a snapshot. */
export const MAX_FILE_BYTES = 50 * 1024;
/** Entries of a working folder that are looked at. */
export const MAX_ENTRIES = 50_000;

/** The interface's list: folders of these names are skipped wherever they are. */
const EXCLUDED_FOLDERS = new Set(['node_modules', 'target', '.venv', 'venv', 'env', '.git', '__pycache__', 'dist', 'build']);

export const isExcludedFolder = (name: string): boolean => EXCLUDED_FOLDERS.has(name);

/** Why a path below the folder is in no snapshot; undefined when it may be in one. `.git` may be a file as well. */
export const exclusionOf = (path: string): 'excluded' | 'bad_path' | undefined => {
  const parts = path.split('/');
  if (path === '' || path.includes('\0') || path.startsWith('/') || parts.some((part) => part === '' || part === '.' || part === '..')) return 'bad_path';
  return parts.slice(0, -1).some(isExcludedFolder) || parts.at(-1) === '.git' ? 'excluded' : undefined;
};
