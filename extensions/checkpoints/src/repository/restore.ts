/**
 * Bringing files back.
 *
 * R1  The present state is a snapshot first, so that a restore can be undone.
 * R2  Only files of the snapshot are written; what came later stays.
 * R3  What could not be brought back is named, each path with its reason.
 */
import type { Plain } from '@svc/api';
import type { LeftOutPath, RestoreFiles, Why } from '../workers/operations.js';
import { lostSince } from './command-changes.js';
import { type Leaf, openStore, type Store } from './git-store.js';
import { commitsSince, findCommit, isFailed } from './history.js';
import { exclusionOf } from './place.js';
import { follow, takeAll } from './snapshot.js';
import { errnoOf, readState, writeState } from './working-folder.js';

type Input = Plain<(typeof RestoreFiles)['input']>;
type Output = Plain<(typeof RestoreFiles)['output']>;

const MAX_NOT_KEPT = 1_000;

export const restore = async (input: Input): Promise<Output> => {
  const store = openStore(input);
  const commit = await findCommit(store, input.commit);
  if (isFailed(commit)) return commit;
  const files = await store.flat(await store.treeOf(commit));
  // A repository that lost a file's content is noticed before anything is written.
  for (const { oid } of files.values()) await store.readBlob(oid);
  const { commit: safety } = await takeAll(input);
  const restored: string[] = [];
  const skipped: LeftOutPath[] = [];
  let unchanged = 0;
  for (const [path, leaf] of files) {
    const came = await bringBack(store, input, path, leaf);
    if (came === 'unchanged') unchanged += 1;
    else if (came === undefined) restored.push(path);
    else skipped.push({ path, why: came });
  }
  await follow({ ...input, op: 'follow', paths: restored, command: null, tool: 'restore' });
  const { lost, more } = lostSince(input.gitdir, await commitsSince(store, commit, safety));
  const notKept = lost.filter(({ path }) => !files.has(path));
  return { commit, safety_commit: safety, restored, unchanged, skipped, not_kept: notKept.slice(0, MAX_NOT_KEPT), not_kept_more: more + Math.max(0, notKept.length - MAX_NOT_KEPT) };
};

/** Undefined when it was written. */
const bringBack = async (store: Store, { folder, id }: Input, path: string, { mode, oid }: Leaf): Promise<Why | 'unchanged' | undefined> => {
  const why = exclusionOf(path);
  if (why !== undefined) return why;
  const data = await store.readBlob(oid);
  const present = readState(folder, path);
  if (present.kind === 'file' && present.mode === mode && Buffer.compare(present.data, data) === 0) return 'unchanged';
  try {
    writeState(folder, path, mode, data, `.svc-restore-${id}.tmp`);
    return undefined;
  } catch (error) {
    switch (errnoOf(error)) {
      case 'EISDIR':
        return 'folder_in_place';
      case 'ELOOP':
      case 'ENOTDIR':
        return 'through_a_link';
      case 'ENOSPC':
      case 'EDQUOT':
        return 'disk_full';
      default:
        return 'not_writable';
    }
  }
};
