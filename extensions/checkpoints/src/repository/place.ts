/**
 * Where a snapshot repository is and what of the working folder it may hold.
 *
 * C1  Only svc's own repository is written: the folder's own .git is never opened.
 * C2  Names that git refuses to read stay out: one of them in a tree makes the whole repository unreadable.
 * C3  Excluded folders, files of more than 50 KB, and what is no file or link are left out, and named.
 * C4  Bytes are bounded, not entries: of names, of what one call adds, and of the repository.
 */

/** Real paths of both; `folder` needs not exist. */
export interface Place {
  readonly gitdir: string;
  readonly folder: string;
}

/** The interface's limit for one file of a snapshot. */
export const MAX_FILE_BYTES = 50 * 1024;
/** What the names of repositories end with that could not be read and were moved aside. */
export const BROKEN_ENDS: readonly string[] = ['.broken', '.broken-2', '.broken-3', '.broken-4', '.broken-5'];
/** Entries of a working folder that are looked at. */
export const MAX_ENTRIES = 50_000;
/** Of their names together: what is known of a folder is stored beside the repository. */
export const MAX_LOOK_BYTES = 8 * 1024 * 1024;
/** Of names and contents that one call adds to a repository. */
export const MAX_TAKEN_BYTES = 64 * 1024 * 1024;

/** The interface's list: folders of these names are skipped wherever they are. */
const EXCLUDED_FOLDERS = new Set(['node_modules', 'target', '.venv', 'venv', 'env', '.git', '__pycache__', 'dist', 'build']);

export const isExcludedFolder = (name: string): boolean => EXCLUDED_FOLDERS.has(name);

/** Letters that some file systems ignore in a name, which git ignores as well when it looks for `.git`. */
const IGNORED_IN_NAMES = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

/** A name that a tree must not have: git, and isomorphic-git when it reads one, refuse it. `.git` itself is excluded below. */
const isUnreadableInGit = (name: string): boolean => {
  const clean = name.replace(IGNORED_IN_NAMES, '');
  const [plain = ''] = clean.toLowerCase().split(':', 1);
  let end = plain.length;
  while (end > 0 && '. '.includes(plain[end - 1] ?? '')) end -= 1;
  const bare = plain.slice(0, end);
  return name.includes('\\') || name.includes('\ufffd') || clean === '.' || clean === '..' || (bare === '.git' && name !== '.git') || /^\.?git~[1-9]$/.test(bare);
};

/** Why a path below the folder is in no snapshot; undefined when it may be in one. `.git` may be a file as well. */
export const exclusionOf = (path: string): 'excluded' | 'bad_path' | undefined => {
  const parts = path.split('/');
  if (path === '' || path.includes('\0') || path.startsWith('/') || parts.some((part) => part === '' || isUnreadableInGit(part))) return 'bad_path';
  return parts.slice(0, -1).some(isExcludedFolder) || parts.at(-1) === '.git' ? 'excluded' : undefined;
};
