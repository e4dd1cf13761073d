/**
 * Taking a snapshot, and noting what was written since.
 *
 * S1  A snapshot holds the files that svc has written, as they are before the call, and those that the call is about to write.
 * S2  `refs/svc/latest` is the newest known state: the next snapshot starts from it, so that what a call wrote is in the one after it.
 * S3  A snapshot costs the depth of its paths; only the first one of a process, and one before a command, looks at every tracked file.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Plain } from '@svc/api';
import type { FollowChanges, Followed, LeftOutPath, TakeSnapshot, Taken } from '../workers/operations.js';
import { comparedLooks, lastLook, noteChanges, storeLook } from './command-changes.js';
import { LATEST, type Leaf, MAIN, openStore, type Store } from './git-store.js';
import { bytesOf } from './compaction.js';
import { exclusionOf, MAX_TAKEN_BYTES } from './place.js';
import { type Look, lookAt, readState } from './working-folder.js';

type TakeInput = Plain<(typeof TakeSnapshot)['input']>;
type FollowInput = Plain<(typeof FollowChanges)['input']>;

export const take = async (input: TakeInput): Promise<Taken> => {
  const { folder, gitdir, paths, command, scope, message, atMs } = input;
  const store = openStore(input);
  if (!store.exists()) await store.init();
  const parent = await store.ref(MAIN);
  const start = await startTree(store, parent);
  const look = command === null ? undefined : lookAt(folder);
  const wanted = new Set(paths);
  for (const path of await changedTracked(store, start, gitdir, look, input.is_first || command !== null)) wanted.add(path);
  if (look && scope === 'workspace') for (const path of Object.keys(look)) wanted.add(path);
  const { leaves, leftOut } = await leavesOf(store, folder, wanted);
  const tree = leaves.size === 0 && start !== undefined ? start : await store.edit(start, leaves);
  const commit = await store.commit(tree, parent, withLeftOut(message, leftOut), atMs);
  await store.setRef(MAIN, commit);
  await store.setRef(LATEST, commit);
  if (look && command !== null) storeLook(gitdir, command, look);
  return {
    commit,
    left_out: leftOut.filter(({ path }) => paths.includes(path)),
    objects: looseObjects(gitdir),
    bytes: input.is_first ? bytesOf(gitdir) : store.written(),
    moved_aside: null,
    is_followed: command === null || look !== undefined,
  };
};

export const follow = async ({ gitdir, folder, paths, command, tool, atMs }: FollowInput): Promise<Followed> => {
  const store = openStore({ gitdir });
  const parent = await store.ref(MAIN);
  if (parent === undefined) return { created: 0, changed: 0, removed: 0, bytes: 0, left_out: 0 };
  const start = await startTree(store, parent);
  const before = command === null ? undefined : lastLook(gitdir, command);
  const after = before && lookAt(folder);
  const changes = before && after ? comparedLooks(before, after) : { created: [], changed: [], removed: [] };
  const { leaves, leftOut } = await leavesOf(store, folder, new Set([...paths, ...changes.created, ...changes.changed, ...changes.removed]));
  if (leaves.size > 0) {
    const tree = await store.edit(start, leaves);
    await store.setRef(LATEST, await store.commit(tree, parent, `after ${tool}\n`, atMs));
  }
  const isTracked = async (path: string): Promise<boolean> => start !== undefined && (await store.leaf(start, path)) !== undefined;
  if (before && after && command !== null) {
    await noteChanges({ gitdir, commit: parent, tool, before, changes, isTracked });
    storeLook(gitdir, command, after);
  }
  // The snapshot before holds what was there.
  const created: string[] = [];
  for (const path of command === null ? paths : []) if (readState(folder, path).kind !== 'none' && !(await isTracked(path))) created.push(path);
  if (created.length > 0) await noteChanges({ gitdir, commit: parent, tool, before: {}, changes: { created, changed: [], removed: [] }, isTracked });
  const tooMuch = leftOut.filter(({ why }) => why === 'too_many').length;
  return { created: changes.created.length, changed: changes.changed.length, removed: changes.removed.length, bytes: store.written(), left_out: tooMuch };
};

/** Undefined for a repository without a snapshot. */
const startTree = async (store: Store, parent: string | undefined): Promise<string | undefined> => {
  const latest = (await store.ref(LATEST)) ?? parent;
  return latest === undefined ? undefined : store.treeOf(latest);
};

/** Tracked files that may be other than the tree has them: by the look before, where there is one, else all. */
const changedTracked = async (store: Store, tree: string | undefined, gitdir: string, look: Look | undefined, isWanted: boolean): Promise<string[]> => {
  if (tree === undefined || !isWanted) return [];
  const tracked = [...(await store.flat(tree)).keys()];
  const earlier = look && lastLook(gitdir);
  return earlier ? tracked.filter((path) => look[path] === undefined || look[path] !== earlier[path]) : tracked;
};

/** Null for what is not there. What cannot be in a snapshot keeps what the tree has of it. */
const leavesOf = async (store: Store, folder: string, paths: ReadonlySet<string>): Promise<{ leaves: Map<string, Leaf | null>; leftOut: LeftOutPath[] }> => {
  const leaves = new Map<string, Leaf | null>();
  const leftOut: LeftOutPath[] = [];
  let bytes = 0;
  for (const path of paths) {
    bytes += Buffer.byteLength(path);
    const why = bytes > MAX_TAKEN_BYTES ? 'too_many' : exclusionOf(path);
    if (why !== undefined) {
      leftOut.push({ path, why });
      // The next call begins with it.
      if (why === 'too_many') leaves.set(path, null);
      continue;
    }
    const state = readState(folder, path);
    if (state.kind === 'file') bytes += state.data.byteLength;
    if (state.kind === 'left_out') leftOut.push({ path, why: state.why });
    // A version that is no longer what the folder has would be brought back as if it were.
    if (state.kind === 'file') leaves.set(path, { mode: state.mode, oid: await store.blob(state.data) });
    else leaves.set(path, null);
  }
  return { leaves, leftOut };
};

/** Everything that is tracked, as it is now: before files are restored. */
export const takeAll = (input: Omit<TakeInput, 'op' | 'paths' | 'command' | 'scope' | 'is_first'>): Promise<Taken> =>
  take({ ...input, op: 'take', paths: [], command: null, scope: 'written', is_first: true });

const MAX_NAMED = 20;

const withLeftOut = (message: string, leftOut: readonly LeftOutPath[]): string => {
  if (leftOut.length === 0) return message;
  const named = leftOut.slice(0, MAX_NAMED).map(({ path, why }) => `left-out: ${JSON.stringify(path.slice(0, 200))} ${why}`);
  if (leftOut.length > MAX_NAMED) named.push(`left-out: ${leftOut.length - MAX_NAMED} more`);
  return `${message.trimEnd()}\n${named.join('\n')}\n`;
};

/** One of the 256 folders stands for all: enough to say when to compact. */
const looseObjects = (gitdir: string): number => {
  try {
    return readdirSync(join(gitdir, 'objects', '17')).length * 256;
  } catch {
    return 0; // No object of that folder yet.
  }
};
