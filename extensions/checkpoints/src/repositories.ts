/**
 * The snapshot repositories of this daemon, one call at a time for each.
 *
 * Q1  A repository has one queue: git's refs know no two writers. Different repositories work side by side.
 * Q2  Whoever no longer waits for a snapshot does not get one: taken after the write, it would hold the wrong files.
 * Q3  Every queue is bounded; a full one is an error like any other.
 */
import { createHash } from 'node:crypto';
import type { Clock, Dir, Ids, Plain, WorkerDecl, Workers } from '@svc/api';
import { BROKEN_ENDS } from './repository/place.js';
import { BeReady } from './workers/operations.js';

const MAX_WAITING = 64;
/** A thread ends after a minute without work. */
const WARM_MS = 50_000;
/** The interface names a repository by the first 16 hexadecimal digits of SHA-256 of its folder's path. */
const NAME_DIGITS = 16;

export interface Repositories {
  readonly nameOf: (folder: string) => string;
  /** Absolute path of the repository. */
  readonly pathOf: (folder: string) => string;
  /** Runs one operation after those before it. `signal`: given up where it is aborted before its turn, or meanwhile. */
  run<D extends WorkerDecl>(operation: D, folder: string, input: Omit<Plain<D['input']>, 'gitdir' | 'folder' | 'atMs' | 'id'>, signal?: AbortSignal): Promise<Plain<D['output']>>;
  /** Starts the thread, where it has not been used for a while. Never rejects: a snapshot starts it too. */
  warm(): void;
  remove(folder: string): Promise<void>;
  /** Resolves when nothing waits. */
  idle(): Promise<void>;
}

export const createRepositories = ({ root, workers, clock, ids }: { root: Dir; workers: Workers; clock: Pick<Clock, 'now' | 'mono'>; ids: Pick<Ids, 'hex'> }): Repositories => {
  const queues = new Map<string, { tail: Promise<unknown>; waiting: number }>();
  const nameOf = (folder: string): string => createHash('sha256').update(folder.replace(/\/+$/, ''), 'utf8').digest('hex').slice(0, NAME_DIGITS);

  const inTurn = <T>(folder: string, work: () => Promise<T>): Promise<T> => {
    const name = nameOf(folder);
    const queue = queues.get(name) ?? { tail: Promise.resolve(), waiting: 0 };
    if (queue.waiting >= MAX_WAITING) return Promise.reject(new Error(`${MAX_WAITING} operations wait for the snapshot repository of ${folder}`));
    queue.waiting += 1;
    const done = queue.tail.then(work, work).finally(() => {
      queue.waiting -= 1;
      if (queue.waiting === 0) queues.delete(name);
    });
    queue.tail = done.catch(() => undefined);
    queues.set(name, queue);
    return done;
  };

  let usedAt = Number.NEGATIVE_INFINITY;
  return {
    nameOf,
    warm: () => {
      if (clock.mono() - usedAt < WARM_MS) return;
      usedAt = clock.mono();
      workers.run(BeReady, { op: 'ready' }).catch(() => undefined);
    },
    pathOf: (folder) => `${root.path}/${nameOf(folder)}`,
    run: (operation, folder, input, signal) =>
      inTurn(folder, async () => {
        signal?.throwIfAborted();
        usedAt = clock.mono();
        const whole = { ...input, gitdir: `${root.path}/${nameOf(folder)}`, folder, atMs: clock.now(), id: ids.hex(6) };
        // Every operation takes the four, beside what the caller gave by its type.
        return workers.run(operation, whole as Plain<typeof operation.input>, signal ? { signal } : {}) as Promise<Plain<(typeof operation)['output']>>;
      }),
    remove: (folder) =>
      inTurn(folder, async () => {
        for (const end of ['', ...BROKEN_ENDS]) await root.remove(nameOf(folder) + end);
      }),
    idle: async () => {
      while (queues.size > 0) await Promise.all([...queues.values()].map(({ tail }) => tail));
    },
  };
};
