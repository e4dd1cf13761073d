/** A snapshot repository and a working folder on disk, and the thread's function called as the pool calls it. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Plain } from '@svc/api';
import type { CompareFiles, Failed, ListSnapshots, RestoreFiles, Taken } from '../src/workers/operations.js';
import operate from '../src/workers/repository.js';

type Restored = Exclude<Plain<(typeof RestoreFiles)['output']>, Failed>;
type Compared = Exclude<Plain<(typeof CompareFiles)['output']>, Failed>;
type Listed = Exclude<Plain<(typeof ListSnapshots)['output']>, Failed>;

const made: string[] = [];
export const removeRepositories = (): void => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
};

export const openRepository = (under = tmpdir()) => {
  const base = realpathSync(mkdtempSync(join(under, 'svc-checkpoints-')));
  made.push(base);
  const place = { gitdir: join(base, 'repo'), folder: join(base, 'work') };
  let count = 0;
  const now = () => ({ ...place, atMs: Date.UTC(2026, 10, 1) + 1000 * count++, id: `id${count}` });
  const path = (name: string): string => join(place.folder, name);
  return {
    ...place,
    path,
    write: (name: string, text: string | Uint8Array, mode = 0o644) => {
      mkdirSync(dirname(path(name)), { recursive: true });
      writeFileSync(path(name), text, { mode });
    },
    /** As the service asks before a tool writes `paths`, or runs a program. */
    take: (paths: string[], more: { command?: string; scope?: 'written' | 'workspace'; is_first?: boolean; message?: string } = {}) =>
      operate({
        op: 'take',
        ...now(),
        paths,
        command: more.command ?? null,
        scope: more.scope ?? 'written',
        message: more.message ?? 'before a test\n\ntool: test\n',
        is_first: more.is_first ?? false,
      }) as Promise<Taken>,
    follow: (paths: string[], command: string | null = null) => operate({ op: 'follow', ...now(), paths, command, tool: 'test' }),
    restore: (commit: string) => operate({ op: 'restore', ...now(), commit, message: 'before restore\n' }) as Promise<Restored>,
    refused: (commit: string) => operate({ op: 'restore', ...now(), commit, message: '' }) as Promise<Failed>,
    list: () => operate({ op: 'list', ...now(), limit: 1_000, offset: 0 }) as Promise<Listed>,
    compare: (commit: string) => operate({ op: 'compare', ...now(), commit }) as Promise<Compared>,
    compact: (maxBytes: number) => operate({ op: 'compact', ...now(), max_bytes: maxBytes }) as Promise<{ bytes: number; snapshots: number; dropped: number }>,
    /** The real git. */
    git: (...args: string[]): string => execFileSync('git', ['--git-dir', place.gitdir, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim(),
    fsck: (): void => void execFileSync('git', ['--git-dir', place.gitdir, 'fsck', '--full', '--strict'], { stdio: 'pipe' }),
  };
};
