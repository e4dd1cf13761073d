/**
 * The run journal on the database: what it promises stands in the contract (J1 to J5).
 * Here is how: each promise is a condition inside one commit, validated by the database.
 */
import { type Actor, isSvcError, type Advance, type Journal, type LeasedRun, type PurgeSubject, type RunError, type StepSpec, type Write } from '@svc/api';
import { ownerScope } from '@svc/api/internal';
import { conflictOf } from '../storage/contract/errors.js';
import { claimRuns } from './leases/claims.js';
import { eraseRuns } from './erasing.js';
import { journalErrors } from './errors.js';
import { BY_INDEX, createParts, type JournalOptions, type JournalParts, positionAt } from './journal-parts.js';
import { listenForSignals, interrupt } from './interrupts.js';
import { commitAgain, type HeldCommit, stampFor } from './leases/patient-commits.js';
import { lookAround, releaseLease, startHeartbeat } from './leases/leases.js';
import { openRun } from './opening.js';
import { once } from './receipts.js';
import { getRun, listRuns, rootOf, runByKey, stepsOf, summaryOf, tallyOf, timelineOf } from './rows/run-reads.js';
import type { RunRow } from './rows/run-rows.js';

const MAX_PRUNED = 500;

/** Of a generation: what cannot be saved now is left to the next one. */
type IsLeaving = () => boolean;

export interface PlatformJournal extends Omit<Journal, 'worker' | 'stepsOf' | 'advance' | 'step' | 'wait'> {
  advance(run: LeasedRun, progress: Advance, isLeaving?: IsLeaving): Promise<void>;
  step<T>(run: LeasedRun, spec: StepSpec, effect: Effect<T>, isLeaving?: IsLeaving): Promise<T>;
  wait(run: LeasedRun, wait: Parameters<Journal['wait']>[1], progress?: Advance, isLeaving?: IsLeaving): Promise<void>;
  /** With `kinds`, of runs of these kinds only. */
  stepsOf(actor: Actor, runIds: readonly string[], kinds?: readonly string[]): ReturnType<Journal['stepsOf']>;
  /** Removes up to `limit` (500 at most) runs that ended before the ISO time. Resolves with how many. */
  prune(beforeIso: string, limit: number): Promise<number>;
  /**
   * Deletes what is held of a person, an agent or a conversation: runs, steps, stored answers. Resolves with how many runs
   * somebody still works on: they are interrupted, and go with a later call.
   */
  erase(subject: PurgeSubject): Promise<number>;
  /** Stops timers; leases stay until they run out or another process takes them. */
  close(): Promise<void>;
}

export const createJournal = (options: JournalOptions): PlatformJournal => {
  const parts = createParts(options);
  const stopHeartbeat = startHeartbeat(parts);
  const listening = [listenForSignals(parts), parts.bus.onGap(() => void lookAround(parts))];
  parts.timer.look();
  return {
    once: (request, effect) => once(parts, request, effect),
    open: (request, also = [], first = undefined) => openRun(parts, request, also, first),
    advance: (run, progress, isLeaving) => advance(parts, run, progress, isLeaving),
    step: (run, spec, effect, isLeaving) => step(parts, run, spec, effect, isLeaving),
    wait: (run, wait, progress = {}, isLeaving = undefined) => sleep(parts, { run, isLeaving }, wait, progress),
    wake: (actor, wakeKey, data, also = []) => wake(parts, actor, wakeKey, data, also),
    claim: (kind, limit, most) => claimRuns(parts, kind, limit, most),
    release: (run) => releaseLease(parts, run),
    interrupt: (runId, reason) => interrupt(parts, runId, reason),
    cancel: (actor, runId, why, also = [], only = undefined) => cancel(parts, actor, runId, { why, also, only }),
    onReady: (kind, fn) => parts.signals.on(kind, fn),
    get: (actor, runId) => getRun(parts, actor, runId),
    byKey: (actor, kind, key) => runByKey(parts, actor.ownerId, kind, key),
    root: (runId) => rootOf(parts, runId),
    steps: async (actor, runId) => (await stepsOf(parts, actor, [runId])).get(runId) ?? [],
    stepsOf: (actor, runIds, kinds) => stepsOf(parts, actor, runIds, kinds),
    list: (filter) => listRuns(parts, filter),
    summary: (filter) => summaryOf(parts, filter),
    tally: (filter) => tallyOf(parts, filter),
    timeline: (filter, interval) => timelineOf(parts, filter, interval),
    prune: (beforeIso, limit) => prune(parts, beforeIso, limit),
    erase: (subject) => eraseRuns(parts, subject),
    async close() {
      stopHeartbeat();
      for (const one of listening) one.dispose();
      parts.close();
      parts.timer.close();
      parts.signals.close();
    },
  };
};

const advance = async (parts: JournalParts, run: LeasedRun, progress: Advance, isLeaving?: IsLeaving): Promise<void> => {
  const holder = { run, isLeaving };
  const at = parts.clock.iso();
  if (progress.finish) await commitHeld(parts, holder, parts.writes.finish(run, progress.finish, at), progress, at);
  else await commitTouched(parts, holder, progress, at);
  if (!progress.finish) return;
  parts.held.drop(run);
  parts.leaveLane(run.lane, run.id);
};

type Holder = Pick<HeldCommit, 'run' | 'isLeaving'> & Partial<Pick<HeldCommit, 'stamp'>>;

/** Progress in the middle of a run: a new input travels in the guard's own statement. */
const commitTouched = (parts: JournalParts, holder: Holder, progress: Advance, at: string): Promise<void> => {
  const { run } = holder;
  const stamp = stampFor(parts, run, at);
  if (!('input' in progress)) return commitHeld(parts, { ...holder, stamp }, parts.writes.touch(run, stamp), progress, at);
  const { input, ...rest } = progress;
  return commitHeld(parts, { ...holder, stamp }, parts.writes.touchInput(run, input, stamp), rest, at);
};

/** The guard stands first, so its failure is told apart from that of what follows. */
const commitHeld = async (parts: JournalParts, { run, isLeaving, stamp }: Holder, guard: Write, progress: Advance, at: string): Promise<void> => {
  const own = [guard, ...parts.writes.progress(run, progress, at)];
  const writes = [...own, ...(progress.also ?? [])];
  try {
    // On the way of every message: no promise more than the commit's own.
    try {
      await parts.db.commit(writes);
    } catch (first) {
      await commitAgain(parts, { run, stamp, writes, isLeaving }, first);
    }
    if (stamp !== undefined) parts.held.stamp(run, stamp);
  } catch (error) {
    const conflict = conflictOf(error);
    if (conflict?.reason !== 'expect' || conflict.write === undefined || conflict.write >= own.length) throw error;
    if (conflict.write > 0) throw journalErrors.step_conflict(run.id).with({ cause: error });
    parts.held.lose(run);
    throw journalErrors.lease_lost(run.id).with({ cause: error });
  }
};

type Effect<T> = () => Promise<{ value: T; outcome?: unknown; also?: readonly Write[] }>;

const step = async <T>(parts: JournalParts, run: LeasedRun, spec: StepSpec, effect: Effect<T>, isLeaving?: IsLeaving): Promise<T> => {
  const before = run.steps.find(({ seq }) => seq === spec.seq);
  // The outcome of an earlier life stands for the value: callers keep in `outcome` what they need again.
  if (before?.status === 'done') return before.outcome as T;
  if (before?.status === 'intent' && before.replay === 'never') throw journalErrors.outcome_unknown(spec.kind);
  await advance(parts, run, { intents: [spec] }, isLeaving);
  let done: Awaited<ReturnType<Effect<T>>>;
  try {
    done = await effect();
  } catch (error) {
    await advance(parts, run, { outcomes: [{ seq: spec.seq, status: 'failed', outcome: failureOf(error) }] }, isLeaving);
    throw error;
  }
  const outcome = done.outcome === undefined ? done.value : done.outcome;
  await advance(parts, run, { outcomes: [{ seq: spec.seq, status: 'done', outcome }], also: done.also ?? [] }, isLeaving);
  return done.value;
};

/** Only what may be shown is kept; the rest of an error is for the log of whoever catches it. */
const failureOf = (error: unknown): { code: string; message: string } => (isSvcError(error) ? { code: error.code, message: error.message } : { code: 'failed', message: 'The step failed.' });

const sleep = async (parts: JournalParts, holder: Holder, wait: Parameters<Journal['wait']>[1], progress: Advance): Promise<void> => {
  const { run } = holder;
  const until = wait.until === undefined ? null : isoOf(wait.until);
  const at = parts.clock.iso();
  try {
    await commitHeld(parts, holder, parts.writes.wait(run, { reason: wait.reason, wakeKey: wait.wakeKey, until, data: wait.data }, at), progress, at);
  } finally {
    // A commit that failed may have taken effect all the same: the run must not sleep past its time.
    if (until !== null) parts.timer.until(until);
  }
  parts.held.drop(run);
  // Another process may have interrupted it meanwhile: then it is queued instead.
  if (!parts.soleWriter) parts.signals.fire(run.kind);
};

const isoOf = (text: string): string => {
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) throw journalErrors.bad_time(text);
  return new Date(ms).toISOString();
};

const wake = async (parts: JournalParts, actor: Actor, wakeKey: string, data: unknown, also: readonly Write[]): Promise<boolean> => {
  const found = await parts.db
    .system(BY_INDEX)
    .read<Pick<RunRow, 'id' | 'kind' | 'lane'>>(`SELECT id, kind, lane FROM ${parts.tables.runs} WHERE wake_key = ? AND status = 'waiting' AND (? = 1 OR owner_id = ?)`, [
      wakeKey,
      ...ownerScope(actor),
    ]);
  if (found.length === 0) return false;
  const at = parts.clock.iso();
  const writes = found.map(({ id }) => parts.writes.wake(id, wakeKey, data, at));
  if (!(await commitUnlessGone(parts, writes, also))) return false;
  for (const run of found) queueAgain(parts, run);
  return true;
};

/** False when a row that the first writes expect was changed by someone else. */
const commitUnlessGone = async (parts: JournalParts, own: readonly Write[], also: readonly Write[]): Promise<boolean> => {
  try {
    await parts.db.commit([...own, ...also]);
    return true;
  } catch (error) {
    const conflict = conflictOf(error);
    if (conflict?.reason === 'expect' && conflict.write !== undefined && conflict.write < own.length) return false;
    throw error;
  }
};

const queueAgain = (parts: JournalParts, run: Pick<RunRow, 'id' | 'kind' | 'lane'>): void => {
  parts.lanes.put(run.lane, run.id, run.kind, false);
  parts.offer(run.kind);
};

interface Cancelling {
  readonly why: RunError;
  readonly also: readonly Write[];
  readonly only: 'unclaimed' | undefined;
}

const cancel = async (parts: JournalParts, actor: Actor, runId: string, { why, also, only }: Cancelling): Promise<boolean> => {
  const run = await getRun(parts, actor, runId);
  if (run?.status !== 'queued' && run?.status !== 'waiting') return false;
  if (!(await commitUnlessGone(parts, [parts.writes.cancel(runId, why, parts.clock.iso(), only === 'unclaimed')], also))) return false;
  parts.leaveLane(run.lane, runId);
  return true;
};

const prune = async (parts: JournalParts, beforeIso: string, limit: number): Promise<number> => {
  const before = isoOf(beforeIso);
  // What changed last before then arrived before then, and those that arrived first are found by an index.
  const where = { status: ['done', 'failed', 'cancelled'], updated_at: { lt: before }, position: { lt: positionAt(Date.parse(before)) } };
  const old = await parts.db.system('runs to forget').select<{ id: string }>({ from: 'runs', columns: ['id'], where, limit: Math.min(limit, MAX_PRUNED) });
  await parts.db.commit(old.flatMap(({ id }) => parts.writes.forget(id)));
  return old.length;
};
