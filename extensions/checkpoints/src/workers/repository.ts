/** The thread of snapshots: the only code that touches a snapshot repository or restores files. One call at a time for each repository (repositories.ts). */
import { existsSync, lstatSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join, parse } from 'node:path';
import type { Plain } from '@svc/api';
import { compact } from '../repository/compaction.js';
import { compare, list } from '../repository/history.js';
import { BROKEN_ENDS } from '../repository/place.js';
import { restore } from '../repository/restore.js';
import { follow, take } from '../repository/snapshot.js';
import { errnoOf } from '../repository/working-folder.js';
import type { BeReady, Failed, OperationInput } from './operations.js';

const operate = async (input: OperationInput | Plain<typeof BeReady.input>): Promise<object> => {
  if (input.op === 'ready') return {};
  const place = placeOf(input.folder);
  if (typeof place === 'object') return place;
  const real = { ...input, folder: place };
  // isomorphic-git would follow a file or a link to another repository.
  const repository = lstatSync(input.gitdir, { throwIfNoEntry: false });
  if (repository && !repository.isDirectory()) return { failed: 'broken', detail: `${input.gitdir} is no folder` } satisfies Failed;
  try {
    return await carryOut(real);
  } catch (error) {
    if (!isDamage(error)) throw error;
    const detail = error instanceof Error ? error.message : String(error);
    return real.op === 'take' ? takeAnew(real) : ({ failed: 'broken', detail } satisfies Failed);
  }
};

const carryOut = (input: OperationInput): Promise<object> => {
  switch (input.op) {
    case 'take':
      return take(input);
    case 'follow':
      return follow(input);
    case 'restore':
      return restore(input);
    case 'list':
      return list(input);
    case 'compare':
      return compare(input);
    case 'compact':
      return compact(input);
  }
};

/** The real path of a working folder, or why it is none: a link, a mount, the home folder and / are refused. It may not exist yet. */
const placeOf = (folder: string): string | Failed => {
  const refused = (why: string): Failed => ({ failed: 'bad_root', detail: `${folder} ${why}` });
  const above = dirname(folder);
  const parent = existsSync(above) ? realpathSync(above) : above;
  const real = join(parent, basename(folder));
  const info = lstatSync(real, { throwIfNoEntry: false });
  if (real === parse(real).root || real === homedir()) return refused('is not a working folder');
  if (!info) return real;
  if (info.isSymbolicLink()) return refused('is a link');
  if (!info.isDirectory()) return refused('is no folder');
  if (info.dev !== lstatSync(parent).dev) return refused('is a mount');
  return real;
};

/** What the file system refuses has a code in capitals; anything else says that the repository's own content is wrong. */
const isDamage = (error: unknown): boolean => error instanceof Error && !/^E[A-Z0-9]+$/.test(errnoOf(error) ?? '');

/** Where it goes; copies of earlier times stay. Beyond the limit the newest of them gives way: the oldest hold the most history. */
const asideOf = (gitdir: string): string => {
  const paths = BROKEN_ENDS.map((end) => gitdir + end);
  return paths.find((path) => !existsSync(path)) ?? paths.at(-1) ?? gitdir;
};

/** History that can't be read is moved aside, not deleted: `git fsck` may still help. */
const takeAnew = async (input: Extract<OperationInput, { op: 'take' }>): Promise<object> => {
  const aside = asideOf(input.gitdir);
  if (!existsSync(input.gitdir)) throw new Error('a new snapshot repository could not be started');
  rmSync(aside, { recursive: true, force: true });
  renameSync(input.gitdir, aside);
  return { ...(await take(input)), moved_aside: aside };
};

export default operate;
