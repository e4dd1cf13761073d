/**
 * The journal as one generation sees it. Leases it still holds when it closes are
 * given back, so that the next generation goes on with those runs at once; one that
 * arrives later (it was asked for before) goes the same way. Giving back is always allowed.
 */
import type { Disposable, DurableWorker, Journal, LeasedRun, Logger, WorkDecl } from '@svc/api';
import type { LiveRegistry, Owner } from '@svc/core';
import type { TimerClock } from '@svc/platform/clock/clock';
import type { PlatformJournal } from '@svc/platform/journal/journal';
import { daemonErrors } from './errors.js';
import { createDurableWorker, type WorkerDeps } from './gate/durable-worker.js';

export interface JournalFacadeParts {
  readonly journal: PlatformJournal;
  readonly ready: LiveRegistry;
  readonly clock: TimerClock;
  readonly log: Logger;
}

export function journalFacade({ journal, ready, clock, log }: JournalFacadeParts, owner: Owner): Journal {
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
    if (owner.lifetime.state === 'closed') throw daemonErrors.extension_stopped(owner.id);
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
  const own: Journal = {
    worker: (decl, options) => {
      const worker = createDurableWorker({ ...workerDeps(owner, clock), journal: own, log }, decl, options);
      ready.add(owner, { label: `worker of ${decl.name}`, begin: () => beginWorker(journal, clock, decl, worker) });
      return worker;
    },
    once: (request, effect) => open(journal).once(request, effect),
    open: async (request, also) => {
      const { leased, ...opened } = await open(journal).open(request, also);
      const [kept] = leased ? await keep([leased]) : [];
      return kept ? { ...opened, leased: kept } : opened;
    },
    advance: async (run, progress) => {
      await open(journal).advance(run, progress);
      if (progress.finish) held.delete(run.id);
    },
    step: (run, spec, effect) => open(journal).step(run, spec, effect),
    wait: async (run, wait, progress) => {
      await open(journal).wait(run, wait, progress);
      held.delete(run.id);
    },
    wake: (wakeKey, data, also) => open(journal).wake(wakeKey, data, also),
    claim: async (kind, limit) => [...(await keep(await open(journal).claim(kind, limit)))],
    release: async (run) => {
      held.delete(run.id);
      await journal.release(run);
    },
    cancel: (runId, why, also) => open(journal).cancel(runId, why, also),
    interrupt: (runId, reason) => journal.interrupt(runId, reason),
    onReady: (kind, fn) => ready.add(owner, { label: `runs of kind ${kind} are ready`, begin: () => journal.onReady(kind, fn) }),
    get: (runId) => journal.get(runId),
    byKey: (actor, kind, key) => journal.byKey(actor, kind, key),
    steps: (runId) => journal.steps(runId),
    list: (filter) => journal.list(filter),
  };
  return own;
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

const workerDeps = ({ lifetime }: Owner, clock: TimerClock): Pick<WorkerDeps, 'hold' | 'later' | 'pause' | 'closing'> => ({
  hold: (label) => {
    const leave = lifetime.enter(label);
    return leave ? { release: leave } : null;
  },
  later: (ms, fn) => {
    if (lifetime.state !== 'open') return;
    const waiting = lifetime.add('another look for durable work', () => cancel());
    const cancel = clock.schedule(ms, () => {
      void waiting.dispose();
      fn();
    });
  },
  pause: (ms) => clock.sleep(ms, lifetime.signal).catch(() => undefined), // the generation closes: its runs are handed on
  closing: lifetime.signal,
});
