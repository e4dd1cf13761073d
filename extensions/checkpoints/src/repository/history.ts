/** The snapshots of a repository, and what restoring one would change. */
import type { Plain } from '@svc/api';
import { createTwoFilesPatch } from 'diff';
import type { CompareFiles, Failed, FileDifference, ListSnapshots } from '../workers/operations.js';
import { createdSince } from './command-changes.js';
import { isMissing, type Leaf, MAIN, openStore, type Store } from './git-store.js';
import { type FileState, readState } from './working-folder.js';

type Difference = Plain<typeof FileDifference>;

const MAX_DIFF_BYTES = 200 * 1024;
const MAX_FILES = 500;

export const isFailed = (value: string | Failed): value is Failed => typeof value !== 'string';

/** A snapshot, by its whole or abbreviated id: an object of the repository that is no snapshot is not found either. */
export const findCommit = async (store: Store, asked: string): Promise<string | Failed> => {
  if (!store.exists()) return { failed: 'no_repository', detail: 'svc has taken no snapshot of this folder' };
  try {
    const oid = asked.length === 40 ? asked : await store.expand(asked);
    await store.readCommit(oid);
    return oid;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'AmbiguousError') return { failed: 'ambiguous_commit', detail: asked };
    if (isMissing(error) || code === 'ObjectTypeError') return { failed: 'unknown_commit', detail: asked };
    throw error;
  }
};

export const list = async (input: Plain<(typeof ListSnapshots)['input']>): Promise<Plain<(typeof ListSnapshots)['output']>> => {
  const store = openStore(input);
  if (!store.exists() || (await store.ref(MAIN)) === undefined) return { snapshots: [], total: 0 };
  const log = await store.log();
  return {
    total: log.length,
    snapshots: log
      .slice(input.offset, input.offset + input.limit)
      .map(({ oid, commit }) => ({ commit: oid, created_at: new Date(commit.committer.timestamp * 1000).toISOString(), message: commit.message.trimEnd() })),
  };
};

export const compare = async (input: Plain<(typeof CompareFiles)['input']>): Promise<Plain<(typeof CompareFiles)['output']>> => {
  const store = openStore(input);
  const commit = await findCommit(store, input.commit);
  if (isFailed(commit)) return commit;
  const { commit: facts } = await store.readCommit(commit);
  const all = [...(await store.flat(facts.tree))];
  const files: Difference[] = [];
  let room = MAX_DIFF_BYTES;
  for (const [path, leaf] of all) {
    const found = await differenceOf(store, input.folder, path, leaf, room);
    room -= found.diff?.length ?? 0;
    files.push(found);
  }
  // What differs is what one looks for.
  const { created, more } = createdSince(input.gitdir, await commitsSince(store, commit, (await store.ref(MAIN)) ?? commit));
  const held = new Set(files.map(({ path }) => path));
  const later = created.filter((path) => !held.has(path) && readState(input.folder, path).kind !== 'none').sort();
  files.sort((a, b) => Number(a.state === 'same') - Number(b.state === 'same') || (a.path < b.path ? -1 : 1));
  return {
    commit,
    created_at: new Date(facts.committer.timestamp * 1000).toISOString(),
    files: files.slice(0, MAX_FILES),
    total: files.length,
    created_later: later.slice(0, MAX_FILES),
    created_later_more: more + Math.max(0, later.length - MAX_FILES),
  };
};

const differenceOf = async (store: Store, folder: string, path: string, { mode, oid }: Leaf, room: number): Promise<Difference> => {
  const data = await store.readBlob(oid);
  const now = readState(folder, path);
  const isSame = now.kind === 'file' && now.mode === mode && Buffer.compare(now.data, data) === 0;
  const state = isSame ? 'same' : now.kind === 'none' ? 'missing' : 'changed';
  return { path, state, is_executable: mode === '100755', diff: isSame ? null : diffOf(path, now, data, room) };
};

const diffOf = (path: string, now: FileState, data: Uint8Array, room: number): string | null => {
  const before = now.kind === 'file' ? textOf(now.data) : now.kind === 'none' ? '' : undefined;
  const after = textOf(data);
  if (before === undefined || after === undefined) return null;
  const diff = createTwoFilesPatch(path, path, before, after, 'now', 'snapshot', { timeout: 500 });
  return diff !== undefined && diff.length <= room ? diff : null;
};

/** Undefined for binary content. */
const textOf = (data: Uint8Array): string | undefined => {
  if (data.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(data);
  } catch {
    return undefined;
  }
};

/** The snapshot that is gone back to, and all after it. */
export const commitsSince = async (store: Store, commit: string, newest: string): Promise<Set<string>> => {
  const since = new Set<string>([commit]);
  for (let at: string | undefined = newest; at !== undefined && at !== commit; [at] = (await store.readCommit(at)).commit.parent) since.add(at);
  return since;
};
