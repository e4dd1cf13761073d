/**
 * The loop that does durable work of one kind (decision 0003): runs as they are opened here, others as the journal offers them.
 *
 * W1  No more at once than `concurrency`; what found no room is claimed as soon as something has ended.
 * W2  While its generation drains it takes nothing: what it is given or has claimed goes back, for the next generation.
 * W3  A claim that fails is tried again, after 1 s to 60 s. A run that cannot be driven goes back after a rest of 1 s.
 * W4  Of a pool, no more at once than its number; the rest stay in the queue, in order, and hold nothing. Those without a pool do not wait for them.
 */
import type { DurableWorker, Hold, Journal, LeasedRun, Logger, Pools, WorkDecl } from '@svc/api';
import type { WorkOptions } from '@svc/api/internal';

export interface WorkerDeps {
  readonly journal: Pick<Journal, 'claim' | 'release'>;
  readonly log: Logger;
  /** Null while the generation drains. */
  hold(label: string): Hold | null;
  /** Nothing when the generation has closed: the next one looks for itself. */
  later(ms: number, fn: () => void): void;
  /** Ends early when the generation closes. */
  pause(ms: number): Promise<void>;
  /** Aborted when the generation has no more time. */
  readonly closing: AbortSignal;
}

const CLAIM_BATCH = 32;
const FIRST_CLAIM_RETRY_MS = 1_000;
const LAST_CLAIM_RETRY_MS = 60_000;
/** A run that cannot even be begun is offered again at once: it must not go round without a rest. */
const DRIVE_RETRY_MS = 1_000;

export const createDurableWorker = (deps: WorkerDeps, { name: kind }: WorkDecl, options: WorkOptions): DurableWorker => {
  const active = new Set<string>();
  const { concurrency } = options;
  const limit = typeof concurrency === 'number' ? () => concurrency : concurrency;
  /** More could be claimed than there was room for: nobody else would say so again. */
  let isFull = false;
  const pools = createPoolRoom(options.pools ?? (() => ({})));

  const start = async (run: LeasedRun, hold: Hold, isNew: boolean): Promise<void> => {
    active.add(run.id);
    pools.enter(run.pool);
    try {
      await driveOne(deps, options, run, isNew);
    } finally {
      active.delete(run.id);
      hold.release();
      if (pools.leave(run.pool) || isFull) poke();
    }
  };

  const claim = async (): Promise<'more' | 'none'> => {
    const room = limit() - active.size;
    isFull = room <= 0;
    const hold = isFull ? null : deps.hold(`claiming ${kind}`);
    if (!hold) return 'none';
    const wanted = Math.min(room, CLAIM_BATCH);
    const most = pools.claiming();
    const runs = await deps.journal.claim(kind, wanted, most).finally(() => hold.release());
    pools.claimed(most, runs);
    for (const run of runs) {
      const held = deps.hold(`${kind} ${run.id}`);
      if (held) void start(run, held, false);
      else await deps.journal.release(run);
    }
    return runs.length < wanted ? 'none' : 'more';
  };

  const poke = createPoke(deps, kind, claim);
  return {
    active,
    hasRoom: () => active.size < limit(),
    reserve: (pool) => {
      if (!pools.hasRoom(pool)) return undefined;
      pools.enter(pool);
      return () => {
        if (pools.leave(pool)) poke();
      };
    },
    take: async (run) => {
      const hold = deps.hold(`${kind} ${run.id}`);
      if (hold) await start(run, hold, true);
      else await giveBack(deps, run);
    },
    poke,
  };
};

/** W4. How many runs of each pool are driven, and which pools have more that wait. */
const createPoolRoom = (limits: () => Pools) => {
  const driven = new Map<string, number>();
  const behind = new Set<string>();
  const leftIn = (pool: string, most: number): number => Math.max(0, most - (driven.get(pool) ?? 0));
  return {
    enter: (pool: string | null): void => {
      if (pool !== null) driven.set(pool, (driven.get(pool) ?? 0) + 1);
    },
    /** True where others of the pool wait for its room. */
    leave: (pool: string | null): boolean => {
      if (pool === null) return false;
      driven.set(pool, (driven.get(pool) ?? 1) - 1);
      return behind.has(pool);
    },
    /** What may be claimed. Until that has come, whoever is accepted queues. */
    claiming: (): Pools => {
      const left = Object.entries(limits()).map(([pool, most]) => [pool, leftIn(pool, most)] as const);
      for (const [pool] of left) behind.add(pool);
      return Object.fromEntries(left);
    },
    /** Where fewer came than there was room for, no more wait. */
    claimed: (asked: Pools, runs: readonly LeasedRun[]): void => {
      for (const [pool, room] of Object.entries(asked)) if (runs.filter((run) => run.pool === pool).length < room) behind.delete(pool);
    },
    hasRoom: (pool: string): boolean => {
      const most = limits()[pool];
      return most === undefined || (!behind.has(pool) && leftIn(pool, most) > 0);
    },
  };
};

/** One look at a time; whoever asks meanwhile gets another after it. */
const createPoke = (deps: WorkerDeps, kind: string, claim: () => Promise<'more' | 'none'>): (() => void) => {
  let isLooking = false;
  let again = false;
  let isRetryDue = false;
  let retryMs = FIRST_CLAIM_RETRY_MS;
  const look = async (): Promise<void> => {
    do again = false;
    while ((await claim()) === 'more' || again);
    retryMs = FIRST_CLAIM_RETRY_MS;
  };
  const poke = (): void => {
    again = true;
    if (isLooking) return;
    isLooking = true;
    look()
      .catch((cause: unknown) => {
        deps.log.error('durable work could not be claimed; svc tries again', { kind, wait_ms: retryMs, cause });
        again = false;
        if (isRetryDue) return;
        isRetryDue = true;
        deps.later(retryMs, () => {
          isRetryDue = false;
          poke();
        });
        retryMs = Math.min(retryMs * 2, LAST_CLAIM_RETRY_MS);
      })
      .finally(() => {
        isLooking = false;
        // Asked between its last look and now: nobody else would look again.
        if (again) poke();
      });
  };
  return poke;
};

async function driveOne(deps: WorkerDeps, { drive, resume }: WorkOptions, run: LeasedRun, isNew: boolean): Promise<void> {
  try {
    if (!isNew) await resume?.(run);
    await drive(run);
  } catch (cause) {
    if (!deps.closing.aborted) {
      deps.log.error('a run could not be executed and is released', { kind: run.kind, run: run.id, cause });
      await deps.pause(DRIVE_RETRY_MS);
    }
    await giveBack(deps, run);
  }
}

/** Nobody waits for it: a lease that cannot be given back runs out, and whoever looks then claims the run. */
const giveBack = (deps: WorkerDeps, run: LeasedRun): Promise<void> =>
  deps.journal.release(run).catch((cause: unknown) => deps.log.warn('a lease could not be released; it will expire', { kind: run.kind, run: run.id, cause }));
