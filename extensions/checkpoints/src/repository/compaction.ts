/**
 * Keeping a repository small: one pack with what the newest snapshots need.
 *
 * K1  The pack is written and verified by its index before a loose object goes; a kill in between leaves both, and the next compaction one.
 * K2  Ids stay: where older snapshots are dropped, git's own `shallow` file says that history begins there.
 */
import fs, { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import git from 'isomorphic-git';
import type { Plain } from '@svc/api';
import type { CompactRepository } from '../workers/operations.js';
import { objectFolders, sweepTemporary } from './command-changes.js';
import { LATEST, MAIN, openStore, type Store } from './git-store.js';

/** Packed, it should fill no more than this share of the limit: each snapshot after it adds to it. */
const GOAL = 0.7;

export const compact = async (input: Plain<(typeof CompactRepository)['input']>): Promise<Plain<(typeof CompactRepository)['output']>> => {
  const { gitdir } = input;
  const store = openStore(input);
  sweepTemporary(gitdir);
  if (!store.exists() || (await store.ref(MAIN)) === undefined) return { bytes: bytesOf(gitdir), snapshots: 0, dropped: 0 };
  const total = (await store.log()).length;
  let stays = total;
  for (;;) {
    await packNewest(input.gitdir, stays);
    const bytes = bytesOf(gitdir);
    if (bytes <= input.max_bytes * GOAL || stays === 1) return { bytes, snapshots: stays, dropped: total - stays };
    stays = Math.max(1, Math.floor(stays / 2));
  }
};

const packNewest = async (gitdir: string, count: number): Promise<void> => {
  const store = openStore({ gitdir });
  const log = await store.log();
  const newest = log.slice(0, count);
  const wanted = new Set<string>();
  const latest = await store.ref(LATEST);
  for (const { oid, commit } of newest) {
    wanted.add(oid);
    await addTree(store, commit.tree, wanted);
  }
  if (latest !== undefined) {
    wanted.add(latest);
    await addTree(store, await store.treeOf(latest), wanted);
  }
  const earlier = packsOf(gitdir);
  const { filename } = await git.packObjects({ fs, gitdir, oids: [...wanted], write: true });
  await git.indexPack({ fs, dir: gitdir, gitdir, filepath: join('objects', 'pack', filename) });
  const oldest = newest.at(-1);
  const shallow = join(gitdir, 'shallow');
  if (oldest && oldest.commit.parent.length > 0) writeFileSync(shallow, `${oldest.oid}\n`);
  for (const pack of earlier) {
    if (pack === filename.replace(/\.pack$/, '')) continue;
    for (const ending of ['.pack', '.idx']) rmSync(join(gitdir, 'objects', 'pack', pack + ending), { force: true });
  }
  for (const folder of objectFolders(gitdir)) rmSync(folder, { recursive: true, force: true });
};

const packsOf = (gitdir: string): string[] => {
  const folder = join(gitdir, 'objects', 'pack');
  return existsSync(folder) ? [...new Set(readdirSync(folder).map((name) => name.replace(/\.(pack|idx)$/, '')))] : [];
};

/** The tree and all below it. */
const addTree = async (store: Store, oid: string, wanted: Set<string>): Promise<void> => {
  if (wanted.has(oid)) return;
  wanted.add(oid);
  for (const entry of await store.entries(oid)) {
    if (entry.type === 'tree') await addTree(store, entry.oid, wanted);
    else wanted.add(entry.oid);
  }
};

export const bytesOf = (path: string): number => {
  const info = statSync(path, { throwIfNoEntry: false });
  if (!info) return 0;
  // What it takes of the disk, not what it holds: loose objects are mostly rounding.
  if (!info.isDirectory()) return Math.max(info.size, info.blocks * 512);
  return readdirSync(path).reduce((sum, name) => sum + bytesOf(join(path, name)), 0);
};
