/**
 * CPU work off the event loop, in two lanes: snapshots in `bulk` never keep hashing in `quick` waiting.
 *
 * W1  No thread before the first task, none after a minute without one.
 * W2  A full queue, a deadline and a cancelled caller are typed errors; a task that was abandoned is ended, not left running.
 * W3  A task's time is its own: it counts from when a thread takes it, however long others held the threads before.
 * W4  After `rotate(file)` no thread that has seen the old code takes another task of it.
 */
import { errnoOf } from '../config/errno.js';
import { availableParallelism } from 'node:os';
import { basename } from 'node:path';
import { isSvcError, type SvcError } from '@svc/api';
import type { Piscina } from 'piscina';
import type { TimerClock } from '../clock/clock.js';
import { workerErrors } from './errors.js';

const IDLE_MS = 60_000;
const TIMEOUT_MS = 60_000;

export type Lane = 'quick' | 'bulk';

export interface LaneLimits {
  maxThreads: number;
  maxQueue: number;
  /** JavaScript heap of one thread; Buffers are not counted. */
  memoryMb: number;
}

export interface WorkersOptions {
  clock: TimerClock;
  lanes?: Partial<Record<Lane, Partial<LaneLimits>>>;
}

export interface RunOptions {
  lane: Lane;
  timeoutMs?: number;
  signal?: AbortSignal;
}

export interface WorkerPools {
  /** Runs an export (`default` for the only one) of a file by its absolute, immutable path. Rejects with the errors of errors.ts. */
  run(file: string, exportName: string, input: unknown, options: RunOptions): Promise<unknown>;
  /** Threads that loaded `file` finish what they do and go. */
  rotate(file: string): Promise<void>;
  close(): Promise<void>;
}

interface Pool {
  readonly piscina: Piscina;
  readonly loaded: Set<string>;
  /** Tasks that run or wait. */
  tasks: number;
  readonly maxTasks: number;
  /** Tasks that have a thread. Piscina gets no more than it has threads for: it does not tell when a task it queued begins. */
  running: number;
  readonly maxThreads: number;
  /** Those that come next, oldest first. */
  readonly waiting: Set<() => void>;
}

interface PoolsState {
  readonly options: WorkersOptions;
  readonly pools: Map<Lane, Promise<Pool>>;
  /** Pools that finish their last tasks. Not by piscina's `close`, which drops what is queued. */
  readonly leaving: Set<Pool>;
  closed: boolean;
}

export const createWorkers = (options: WorkersOptions): WorkerPools => {
  const state: PoolsState = { options, pools: new Map(), leaving: new Set(), closed: false };
  return {
    run: (file, exportName, input, runOptions) => run(state, file, exportName, input, runOptions),
    rotate: (file) => rotate(state, file),
    close: async () => {
      state.closed = true;
      const pools = [...(await Promise.all(state.pools.values())), ...state.leaving];
      state.pools.clear();
      state.leaving.clear();
      await Promise.all(
        pools.map(async (pool) => {
          // Each finds the pools closed.
          for (const proceed of pool.waiting) proceed();
          await pool.piscina.destroy();
        }),
      );
    },
  };
};

const limitsOf = (lane: Lane, { lanes }: WorkersOptions): LaneLimits => {
  const cores = availableParallelism();
  const base = lane === 'quick' ? { maxThreads: Math.max(1, cores - 1), maxQueue: 1_024, memoryMb: 256 } : { maxThreads: Math.max(1, Math.floor(cores / 2)), maxQueue: 256, memoryMb: 512 };
  return { ...base, ...lanes?.[lane] };
};

const poolOf = (state: PoolsState, lane: Lane): Promise<Pool> => {
  const present = state.pools.get(lane);
  if (present) return present;
  const opened = open(limitsOf(lane, state.options));
  // A pool that could not be opened is not kept: whoever asks next tries again.
  opened.catch(() => state.pools.delete(lane));
  state.pools.set(lane, opened);
  return opened;
};

/** Asked again when a rotation took the pool away while it was awaited: a pool that left must get no task. */
const currentPool = async (state: PoolsState, lane: Lane): Promise<Pool> => {
  for (;;) {
    const opening = poolOf(state, lane);
    const pool = await opening;
    if (state.closed) throw workerErrors.closed();
    if (state.pools.get(lane) === opening) return pool;
  }
};

const open = async (limits: LaneLimits): Promise<Pool> => {
  const { Piscina } = await import('piscina');
  const piscina = new Piscina({
    minThreads: 0,
    maxThreads: limits.maxThreads,
    idleTimeout: IDLE_MS,
    resourceLimits: { maxOldGenerationSizeMb: limits.memoryMb },
    // Worker functions are pure: they get nothing of the daemon's environment.
    env: {},
  });
  // Each failure also rejects the task it belongs to; without a listener it would end the process.
  piscina.on('error', () => undefined);
  return { piscina, loaded: new Set(), tasks: 0, maxTasks: limits.maxThreads + limits.maxQueue, running: 0, maxThreads: limits.maxThreads, waiting: new Set() };
};

const run = async (state: PoolsState, file: string, exportName: string, input: unknown, { lane, timeoutMs = TIMEOUT_MS, signal }: RunOptions): Promise<unknown> => {
  if (state.closed) throw workerErrors.closed();
  const name = `${basename(file)}${exportName === 'default' ? '' : `:${exportName}`}`;
  const pool = await currentPool(state, lane);
  if (signal?.aborted) throw workerErrors.cancelled(name).with({ cause: signal.reason });
  if (pool.tasks >= pool.maxTasks) throw workerErrors.busy(lane);
  pool.loaded.add(file);
  pool.tasks++;
  try {
    await turn(state, pool, name, signal);
    try {
      return await execute(state, pool, { file, exportName, name, input, timeoutMs, signal });
    } finally {
      pool.running--;
      const [next] = pool.waiting;
      next?.();
    }
  } finally {
    pool.tasks--;
    await endIfIdle(state, pool);
  }
};

/** Resolves when a thread is free, and has taken it. */
const turn = async (state: PoolsState, pool: Pool, name: string, signal: AbortSignal | undefined): Promise<void> => {
  if (pool.running >= pool.maxThreads) {
    await new Promise<void>((resolve) => {
      const proceed = (): void => {
        pool.waiting.delete(proceed);
        signal?.removeEventListener('abort', proceed);
        if (!state.closed && signal?.aborted !== true) pool.running++;
        resolve();
      };
      pool.waiting.add(proceed);
      signal?.addEventListener('abort', proceed, { once: true });
    });
    if (state.closed) throw workerErrors.closed();
    if (signal?.aborted) throw workerErrors.cancelled(name).with({ cause: signal.reason });
  } else pool.running++;
};

interface Task {
  readonly file: string;
  readonly exportName: string;
  readonly name: string;
  readonly input: unknown;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

const execute = async (state: PoolsState, pool: Pool, { file, exportName, name, input, timeoutMs, signal }: Task): Promise<unknown> => {
  const controller = new AbortController();
  let verdict: SvcError | undefined;
  const end = (why: SvcError): void => {
    verdict ??= why;
    controller.abort();
  };
  const onAbort = (): void => end(workerErrors.cancelled(name).with({ cause: signal?.reason }));
  signal?.addEventListener('abort', onAbort, { once: true });
  const cancel = state.options.clock.schedule(timeoutMs, () => end(workerErrors.timeout(name, timeoutMs)));
  try {
    return await pool.piscina.run(input, { filename: file, name: exportName, signal: controller.signal });
  } catch (error) {
    throw verdict ?? asWorkerError(error, name, state.closed);
  } finally {
    cancel();
    signal?.removeEventListener('abort', onAbort);
  }
};

const asWorkerError = (error: unknown, name: string, isClosed: boolean): SvcError => {
  if (isSvcError(error)) return error;
  if (isClosed) return workerErrors.closed().with({ cause: error });
  if (errnoOf(error) === 'ERR_WORKER_OUT_OF_MEMORY') return workerErrors.out_of_memory(name);
  return workerErrors.failed(name).with({ cause: error });
};

const rotate = async (state: PoolsState, file: string): Promise<void> => {
  for (const [lane, opening] of [...state.pools]) {
    const pool = await opening;
    if (!pool.loaded.has(file) || state.pools.get(lane) !== opening) continue;
    // The next task opens a fresh pool; this one ends when its queue is empty.
    state.pools.delete(lane);
    state.leaving.add(pool);
    await endIfIdle(state, pool);
  }
};

const endIfIdle = async (state: PoolsState, pool: Pool): Promise<void> => {
  if (pool.tasks > 0 || !state.leaving.delete(pool)) return;
  await pool.piscina.destroy();
};
