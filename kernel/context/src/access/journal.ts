/**
 * The journal as one generation sees it. Leases it still holds when it closes are
 * given back, so that the next generation goes on with those runs at once; one that
 * arrives later (it was asked for before) goes the same way. Giving back is always allowed.
 *
 * K1  It begins, claims, lists and sees runs of the kinds that its manifest names, and no others.
 */
import type { Actor, Disposable, DurableWorker, Journal, JournalRun, LeasedRun, Logger, WorkDecl } from '@svc/api';
import { systemActor } from '@svc/api/internal';
import type { LiveRegistry, Contributor } from '@svc/core';
import type { TimerClock } from '@svc/platform/clock/clock';
import { journalErrors } from '@svc/platform/journal/errors';
import type { PlatformJournal } from '@svc/platform/journal/journal';
import { contextErrors } from '../errors.js';
import { createDurableWorker, type WorkerDeps } from '@svc/platform/journal/durable-worker';

export interface JournalFacadeParts {
  readonly journal: PlatformJournal;
  readonly ready: LiveRegistry;
  readonly clock: TimerClock;
  readonly log: Logger;
}

export function journalFacade({ journal, ready, clock, log }: JournalFacadeParts, owner: Contributor, kinds: readonly string[]): Journal {
  const own = (kind: string): string => {
    if (!kinds.includes(kind)) throw contextErrors.kind_not_own(owner.id, kind);
    return kind;
  };
  const find = async (actor: Actor, runId: string): Promise<JournalRun | undefined> => {
    const run = await open(journal).get(actor, runId);
    return run && kinds.includes(run.kind) ? run : undefined;
  };
  const held = new Map<string, LeasedRun>();
  let isGivenBack = false;
  const giveBack = async (runs: readonly LeasedRun[]): Promise<void> => {
    // One that cannot be given back must not keep the others.
    const given = await Promise.allSettled(runs.map((run) => journal.release(run)));
    const failed = given.find((one) => one.status === 'rejected');
    if (failed) throw failed.reason;
  };
  owner.lifetime.add('leases of runs', () => {
    isGivenBack = true;
    return giveBack([...held.values()]);
  });
  const open = <T>(result: T): T => {
    if (owner.lifetime.state === 'closed') throw contextErrors.extension_stopped(owner.id);
    return result;
  };
  /** What of these leases this generation may have: none once it has given its own back. */
  const keep = async (runs: readonly LeasedRun[]): Promise<readonly LeasedRun[]> => {
    if (isGivenBack) {
      await giveBack(runs);
      return [];
    }
    for (const run of runs) held.set(run.id, run);
    return runs;
  };
  /** A lease is held by whoever was given it: knowing a run's id and token is not enough. */
  const leaseOf = (run: LeasedRun): LeasedRun => {
    open(journal);
    const kept = held.get(run.id);
    if (kept?.token !== run.token) throw journalErrors.lease_lost(run.id);
    return kept;
  };
  const isLeaving = (): boolean => owner.lifetime.state !== 'open';
  const facade: Journal = {
    worker: (decl, options) => {
      own(decl.name);
      const worker = createDurableWorker({ ...workerDeps(owner, clock), journal: facade, log }, decl, options);
      ready.add(owner, { label: `worker of ${decl.name}`, begin: () => beginWorker(journal, clock, decl, worker) });
      return worker;
    },
    once: (request, effect) => {
      own(request.kind);
      return open(journal).once(request, effect);
    },
    open: async (request, also, first) => {
      own(request.kind);
      const { leased, ...opened } = await open(journal).open(request, also, first);
      const [kept] = leased ? await keep([leased]) : [];
      return kept ? { ...opened, leased: kept } : opened;
    },
    advance: async (given, progress) => {
      const target = open(journal);
      const run = leaseOf(given);
      await target.advance(run, progress, isLeaving);
      if (progress.finish) held.delete(run.id);
    },
    step: async (run, spec, effect) => open(journal).step(leaseOf(run), spec, effect, isLeaving),
    wait: async (given, wait, progress) => {
      const target = open(journal);
      const run = leaseOf(given);
      await target.wait(run, wait, progress, isLeaving);
      held.delete(run.id);
    },
    // Whoever knows the key was told it by the run's owner: a wait for another area is ended by that one.
    wake: (actor, wakeKey, data, also) => open(journal).wake(actor, wakeKey, data, also),
    claim: async (kind, limit, most) => [...(await keep(await open(journal).claim(own(kind), limit, most)))],
    release: async (given) => {
      const run = held.get(given.id);
      if (run?.token !== given.token) return;
      held.delete(run.id);
      await journal.release(run);
    },
    cancel: async (actor, runId, why, also, only) => ((await find(actor, runId)) ? open(journal).cancel(actor, runId, why, also, only) : false),
    interrupt: async (runId, reason) => ((await find(systemActor(owner.id), runId)) ? journal.interrupt(runId, reason) : false),
    onReady: (kind, fn) => ready.add(owner, { label: `runs of kind ${own(kind)} are ready`, begin: () => journal.onReady(kind, fn) }),
    get: find,
    byKey: async (actor, kind, key) => open(journal).byKey(actor, own(kind), key),
    // Why and when something began tells nothing of what it is.
    root: (runId) => open(journal).root(runId),
    steps: async (actor, runId) => ((await find(actor, runId)) ? journal.steps(actor, runId) : []),
    stepsOf: async (actor, runIds) => open(journal).stepsOf(actor, runIds, kinds),
    list: async (filter) => {
      own(filter.kind ?? '');
      return open(journal).list(filter);
    },
    summary: async (filter) => {
      own(filter.kind ?? '');
      return open(journal).summary(filter);
    },
    tally: async (filter) => {
      own(filter.kind ?? '');
      return open(journal).tally(filter);
    },
    timeline: async (filter, interval) => {
      own(filter.kind ?? '');
      return open(journal).timeline(filter, interval);
    },
  };
  return facade;
}

/** What is left of earlier lives is looked for once all of the generation is seen. */
const beginWorker = (journal: PlatformJournal, clock: TimerClock, { name }: WorkDecl, worker: DurableWorker): Disposable => {
  const listening = journal.onReady(name, worker.poke);
  const cancel = clock.schedule(0, worker.poke);
  return {
    dispose: () => {
      cancel();
      return listening.dispose();
    },
  };
};

const workerDeps = ({ lifetime }: Contributor, clock: TimerClock): Pick<WorkerDeps, 'hold' | 'later' | 'pause' | 'closing'> => ({
  hold: (label) => {
    const leave = lifetime.enter(label);
    return leave ? { release: leave } : null;
  },
  later: (ms, fn) => {
    if (lifetime.state !== 'open') return;
    const waiting = lifetime.add('retry of claiming durable work', () => cancel());
    const cancel = clock.schedule(ms, () => {
      void waiting.dispose();
      fn();
    });
  },
  pause: (ms) => clock.sleep(ms, lifetime.signal).catch(() => undefined), // the generation closes: its runs are handed on
  closing: lifetime.signal,
});
