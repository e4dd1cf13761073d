/** A bare git repository by isomorphic-git: objects, two refs, and nothing of the working folder. No index: a snapshot costs the depth of its paths, not the number of files. */
import fs from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import git, { type ReadCommitResult, type TreeEntry } from 'isomorphic-git';
import type { Place } from './place.js';
import type { Mode } from './working-folder.js';

export const MAIN = 'refs/heads/main';
/** The newest state of what svc has written, between two snapshots. */
export const LATEST = 'refs/svc/latest';
const AUTHOR = { name: 'svc', email: 'svc@localhost', timezoneOffset: 0 };

/** Of a disk: what a small file fills. */
const BLOCK = 4_096;

/** Files of the repository are whole or not there: a kill in the middle leaves no object that cannot be read. */
const wholeFiles = (wrote: (bytes: number) => void) => ({
  ...fs.promises,
  writeFile: async (path: string, data: Uint8Array | string, options?: object) => {
    wrote(Math.ceil(data.length / BLOCK) * BLOCK);
    const temporary = `${path}.${process.pid}.tmp`;
    try {
      await writeFile(temporary, data, options);
      await rename(temporary, path);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  },
});

export interface Leaf {
  readonly mode: Mode;
  readonly oid: string;
}

/** One use of a repository; its cache ends with it. */
export interface Store {
  readonly gitdir: string;
  /** Bytes of the disk that this use has filled. */
  written(): number;
  /** Makes the repository when there is none. */
  init(): Promise<void>;
  exists(): boolean;
  ref(name: string): Promise<string | undefined>;
  setRef(name: string, oid: string): Promise<void>;
  blob(data: Uint8Array): Promise<string>;
  readBlob(oid: string): Promise<Uint8Array>;
  /** The tree with these leaves set, or taken out where they are null. */
  edit(tree: string | undefined, leaves: ReadonlyMap<string, Leaf | null>): Promise<string>;
  entries(tree: string): Promise<TreeEntry[]>;
  /** All leaves by path. */
  flat(tree: string): Promise<Map<string, Leaf>>;
  /** The leaf at a path. */
  leaf(tree: string, path: string): Promise<Leaf | undefined>;
  commit(tree: string, parent: string | undefined, message: string, atMs: number): Promise<string>;
  readCommit(oid: string): Promise<ReadCommitResult>;
  treeOf(commit: string): Promise<string>;
  log(depth?: number): Promise<ReadCommitResult[]>;
  /** The whole id of an abbreviated one. Throws isomorphic-git's NotFoundError, AmbiguousError. */
  expand(oid: string): Promise<string>;
}

export const openStore = ({ gitdir }: Pick<Place, 'gitdir'>): Store => {
  let written = 0;
  const files = wholeFiles((bytes) => {
    written += bytes;
  });
  const base = { fs: { promises: files }, gitdir, cache: {} };
  const readTree = async (oid: string): Promise<TreeEntry[]> => (await git.readTree({ ...base, oid })).tree;
  const store: Store = {
    gitdir,
    written: () => written,
    init: async () => {
      await git.init({ ...base, dir: dirname(gitdir), bare: true, defaultBranch: 'main' });
    },
    exists: () => fs.existsSync(join(gitdir, 'HEAD')),
    ref: (name) => git.resolveRef({ ...base, ref: name }).catch((error: unknown) => (isMissing(error) ? undefined : Promise.reject(error))),
    setRef: (ref, value) => git.writeRef({ ...base, ref, value, force: true }),
    blob: (blob) => git.writeBlob({ ...base, blob }),
    readBlob: async (oid) => (await git.readBlob({ ...base, oid })).blob,
    edit: (tree, leaves) => edit(tree, leaves),
    entries: readTree,
    flat: async (tree) => {
      const found = new Map<string, Leaf>();
      await walk(tree, '', found);
      return found;
    },
    leaf: async (tree, path) => {
      let at = tree;
      const parts = path.split('/');
      for (const [index, part] of parts.entries()) {
        const entry = (await readTree(at)).find((one) => one.path === part);
        if (!entry) return undefined;
        if (index === parts.length - 1) return entry.type === 'blob' ? { mode: entry.mode as Mode, oid: entry.oid } : undefined;
        if (entry.type !== 'tree') return undefined;
        at = entry.oid;
      }
      return undefined;
    },
    commit: (tree, parent, message, atMs) => {
      const by = { ...AUTHOR, timestamp: Math.floor(atMs / 1000) };
      return git.writeCommit({ ...base, commit: { tree, parent: parent === undefined ? [] : [parent], author: by, committer: by, message } });
    },
    readCommit: (oid) => git.readCommit({ ...base, oid }),
    treeOf: async (oid) => (await git.readCommit({ ...base, oid })).commit.tree,
    log: (depth) => git.log({ ...base, ref: MAIN, ...(depth === undefined ? {} : { depth }) }),
    expand: (oid) => git.expandOid({ ...base, oid }),
  };

  const walk = async (tree: string, prefix: string, found: Map<string, Leaf>): Promise<void> => {
    for (const { path, type, oid, mode } of await readTree(tree)) {
      if (type === 'tree') await walk(oid, `${prefix}${path}/`, found);
      // Modes of blobs are what `blob` and `edit` wrote.
      else if (type === 'blob') found.set(prefix + path, { mode: mode as Mode, oid });
    }
  };

  const edit = async (tree: string | undefined, leaves: ReadonlyMap<string, Leaf | null>): Promise<string> => {
    const entries = new Map((tree === undefined ? [] : await readTree(tree)).map((entry) => [entry.path, entry]));
    const below = new Map<string, Map<string, Leaf | null>>();
    for (const [path, leaf] of leaves) {
      const slash = path.indexOf('/');
      const name = slash < 0 ? path : path.slice(0, slash);
      if (slash < 0) {
        if (leaf) entries.set(name, { path: name, type: 'blob', ...leaf });
        else if (entries.get(name)?.type === 'blob') entries.delete(name);
      } else below.set(name, (below.get(name) ?? new Map<string, Leaf | null>()).set(path.slice(slash + 1), leaf));
    }
    for (const [name, inside] of below) {
      const present = entries.get(name);
      const isTree = present?.type === 'tree';
      // A file that stands where the path of a deleted one went through stays.
      if (!isTree && [...inside.values()].every((leaf) => leaf === null)) continue;
      const oid = await edit(isTree ? present.oid : undefined, inside);
      if (oid === EMPTY_TREE) entries.delete(name);
      else entries.set(name, { path: name, type: 'tree', mode: '040000', oid });
    }
    return git.writeTree({ ...base, tree: [...entries.values()] });
  };
  return store;
};

const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

export const isMissing = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'NotFoundError';
