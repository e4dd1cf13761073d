/** Which runs this generation drives: new ones as they are accepted, others as the journal offers them. */
import type { Hold, Journal, LeasedRun, Logger, Streams } from '@svc/api';
import type { LoopEnd } from './agent-loop.js';
import { RUN_KIND } from './run-input.js';

export interface DispatcherDeps {
  readonly journal: Journal;
  readonly streams: Pick<Streams, 'open' | 'publish' | 'flush' | 'state'>;
  readonly log: Logger;
  readonly maxActive: () => number;
  /** Null while this generation drains. */
  hold(label: string): Hold | null;
  /** Nothing when this generation has closed: the next one looks for itself. */
  later(ms: number, fn: () => void): void;
  /** Ends early when this generation closes. */
  pause(ms: number): Promise<void>;
  drive(run: LeasedRun): Promise<LoopEnd>;
  /** What a client may already have seen of a run that begins another attempt. */
  restore(run: LeasedRun): Promise<void>;
}

export interface Dispatcher {
  readonly active: ReadonlySet<string>;
  hasRoom(): boolean;
  /** Takes a run that `open` leased to this process. */
  take(run: LeasedRun): void;
  /** Claims what may run; safe to call at any time. */
  poke(): void;
  /** Resolves when nothing is driven any more. */
  idle(): Promise<void>;
}

const CLAIM_BATCH = 32;
const CLAIM_RETRY_MS = 1_000;
/** A run that cannot even be begun is offered again at once: it must not go round without a rest. */
const DRIVE_RETRY_MS = 1_000;

export const createDispatcher = (deps: DispatcherDeps): Dispatcher => {
  const active = new Set<string>();
  const driving = new Set<Promise<void>>();
  let claiming: Promise<void> | undefined;
  let again = false;
  let isRetryDue = false;
  /** More could be claimed than there was room for: nobody else would say so again. */
  let isFull = false;

  const start = (run: LeasedRun, hold: Hold, isNew: boolean): void => {
    active.add(run.id);
    const done = driveOne(deps, run, isNew).finally(() => {
      active.delete(run.id);
      driving.delete(done);
      hold.release();
      if (isFull) poke();
    });
    driving.add(done);
  };

  const poke = (): void => {
    again = true;
    if (claiming) return;
    claiming = claim()
      .catch((cause: unknown) => {
        deps.log.error('runs could not be claimed; it is tried again', { cause });
        if (isRetryDue) return;
        isRetryDue = true;
        deps.later(CLAIM_RETRY_MS, () => {
          isRetryDue = false;
          poke();
        });
      })
      .finally(() => {
        claiming = undefined;
        // Asked between its last look and now: nobody else would look again.
        if (again) poke();
      });
  };

  const claim = async (): Promise<void> => {
    for (;;) {
      again = false;
      const room = deps.maxActive() - active.size;
      isFull = room <= 0;
      const hold = isFull ? null : deps.hold('claiming runs');
      if (!hold) return;
      const runs = await deps.journal.claim(RUN_KIND, Math.min(room, CLAIM_BATCH)).finally(() => hold.release());
      for (const run of runs) {
        const held = deps.hold(`run ${run.id}`);
        if (held) start(run, held, false);
        else await deps.journal.release(run);
      }
      if (runs.length < Math.min(room, CLAIM_BATCH) && !again) return;
    }
  };

  return {
    active,
    hasRoom: () => active.size < deps.maxActive(),
    take: (run) => {
      const hold = deps.hold(`run ${run.id}`);
      if (hold) start(run, hold, true);
      else void deps.journal.release(run);
    },
    poke,
    idle: async () => {
      while (driving.size > 0) await Promise.all(driving);
    },
  };
};

async function driveOne(deps: DispatcherDeps, run: LeasedRun, isNew: boolean): Promise<void> {
  try {
    if (!isNew) await deps.restore(run);
    const end = await deps.drive(run);
    // Whoever claims it next writes its topic, perhaps in another process.
    if (end !== 'ended') deps.streams.letGo(run.id, run.token);
  } catch (cause) {
    deps.log.error('a run could not be driven and is given back', { run: run.id, cause });
    deps.streams.letGo(run.id, run.token);
    await deps.pause(DRIVE_RETRY_MS);
    await deps.journal.release(run);
  }
}
