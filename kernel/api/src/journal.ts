/**
 * The run journal: durable work of any kind (agent runs, workflows, deliveries, timers).
 * It knows no agent. What it promises:
 *
 * J1  A run is a row before it is acknowledged; `key` makes a resent request the same run.
 * J2  A step's intent is committed before its effect, its outcome straight after.
 * J3  In one lane at most one run is running or waiting; the others queue in order of arrival.
 * J4  Whoever lost its lease (fencing token) cannot write: the commit fails with `journal_lease_lost`.
 * J5  After a crash an unfinished run is claimed again with its steps; what has an outcome is not done again.
 */
import type { Actor } from './actor.js';
import type { WorkDecl } from './declare/work.js';
import type { TimelineInterval } from './timeline.js';
import type { Disposable } from './disposable.js';
import type { Write } from './storage.js';

export type RunStatus = 'queued' | 'running' | 'waiting' | 'done' | 'failed' | 'cancelled';
export type Replay = 'safe' | 'keyed' | 'never';

/** Why a run failed or was cancelled, as later requests show it. */
export interface RunError {
  readonly code: string;
  readonly message: string;
  /** HTTP status. */
  readonly status?: number;
  /** Whether the same request can succeed later. */
  readonly retry?: boolean;
  readonly hint?: string;
}

export const RUN_CAUSES = ['message', 'agent', 'cron', 'schedule', 'trigger', 'webhook', 'workflow', 'task', 'goal', 'channel', 'mcp', 'a2a', 'peer'] as const;

/** Why there is a run: a message of a person, another agent, a job … */
export interface RunCause {
  readonly kind: (typeof RUN_CAUSES)[number];
  /** Of the agent, the job, the webhook … */
  readonly id?: string;
}

export interface RunRoot {
  readonly id: string;
  readonly kind: string;
  readonly ownerId: string;
  readonly cause: RunCause | null;
  readonly status: RunStatus;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** Whose data a run or a stored answer holds, beside its owner's: a purge of either removes it. */
export interface RunSubject {
  /** What it is about, as its worker names it (an agent's id): `list` finds runs by it. */
  subject?: string;
  /** Id of the conversation that it belongs to. */
  session?: string;
}

export interface OpenRun extends RunSubject {
  /** Given by the caller where rows written in the same commit must name it; otherwise made here. */
  id?: string;
  /** Names the worker that claims it: `agent`, `delivery`… */
  kind: string;
  actor: Actor;
  /** Unique per owner and kind: an Idempotency-Key. The same key with another `fingerprint` is a conflict. */
  key?: string;
  /** Hash of the request, to distinguish a retry from another request with the same key. */
  fingerprint?: string;
  /** One running or waiting run per lane. */
  lane?: string;
  /** The run that began it, of any kind. Its root is that of its parent. */
  parentId?: string;
  /** Left out for a message of a person. */
  cause?: RunCause;
  /** True: it is queued, also where it could begin at once: whoever accepts it has no room to drive it. */
  isQueued?: boolean;
  /**
   * Work that gives precedence: a worker drives so many runs of one pool at once (`WorkOptions.pools`), and the rest wait in the queue.
   * In its lane, one that nobody has begun yet lets those without a pool go first.
   */
  pool?: string;
  /**
   * How many runs may be queued when this one must be: of its kind and subject, and of its kind; and how many its root may have begun
   * before, of all kinds, whether they have ended or not. Beyond, `open` throws `journal_queue_full`.
   */
  room?: { subject?: number; kind?: number; root?: number };
  input: unknown;
}

export interface JournalRun {
  readonly id: string;
  readonly kind: string;
  readonly ownerId: string;
  readonly key: string | null;
  readonly fingerprint: string | null;
  readonly lane: string | null;
  readonly parentId: string | null;
  /** The run at the beginning of all that led to this one: itself where no other run began it. */
  readonly rootId: string;
  /** null for a message of a person. */
  readonly cause: RunCause | null;
  readonly subject: string | null;
  readonly pool: string | null;
  readonly status: RunStatus;
  readonly input: unknown;
  /** What a finished run answers; JSON. */
  readonly result: unknown;
  readonly error: RunError | null;
  /** 1 for the first life of the run; one more after each recovery. */
  readonly attempt: number;
  readonly createdAt: string;
  /** When somebody first held it; null until then. */
  readonly begunAt: string | null;
  readonly updatedAt: string;
  readonly wait: { reason: string; wakeKey: string; until: string | null; data: unknown } | null;
}

/** A run that this process may write, with its fencing token. */
export interface LeasedRun extends JournalRun {
  readonly token: number;
  /** Aborted when somebody interrupts the run or its lease is lost. It survives a reload of the area that drives the run. */
  readonly signal: AbortSignal;
  /** Steps with and without outcome, in order; filled when a run is claimed, empty for a new one. */
  readonly steps: readonly JournalStep[];
}

export interface StepSpec {
  /** Unique in the run; ascending. */
  seq: number;
  kind: string;
  /** Names the effect to the outside: the call id a keyed tool uses as its idempotency key. */
  key: string;
  replay: Replay;
  /** What is about to be done; JSON, small. Content lives in entries, not here. */
  intent: unknown;
}

export interface JournalStep extends StepSpec {
  readonly status: 'intent' | 'done' | 'failed';
  readonly outcome: unknown;
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly attempt: number;
}

export interface StepOutcome {
  seq: number;
  status: 'done' | 'failed';
  outcome: unknown;
}

export interface Finish {
  status: 'done' | 'failed' | 'cancelled';
  result?: unknown;
  error?: RunError;
}

/** One commit of a run's progress: outcomes, the next intents, and perhaps its end. */
export interface Advance {
  outcomes?: readonly StepOutcome[];
  intents?: readonly StepSpec[];
  finish?: Finish;
  /** Replaces the run's input, so that data moved into an extension's own rows is not stored twice. */
  input?: unknown;
  also?: readonly Write[];
}

/** The first step of a run that starts immediately, in the commit that accepts it. */
export type FirstStep = Pick<Advance, 'intents' | 'input' | 'also'>;

export interface OpenedRun {
  readonly run: JournalRun;
  /** True when `key` named a run that already exists: nothing was written. */
  readonly replayed: boolean;
  /** Present when the lane was free and this process holds the run from its first commit. */
  readonly leased?: LeasedRun;
  /** True when the commit that accepted it carried its first step. */
  readonly hasBegun?: boolean;
}

/** Whose effect of which kind; without a key it simply happens. */
export interface OnceRequest {
  readonly actor: Actor;
  readonly kind: string;
  readonly key?: string;
  /** Hash of the request: the same key with another hash is a conflict (`journal_key_conflict`). */
  readonly fingerprint: string;
}

export interface RunFilter {
  actor: Actor;
  kind?: string;
  lane?: string;
  subject?: string;
  parentId?: string;
  /** The root and all that it led to. */
  rootId?: string;
  /** True: runs that no other run began; false: the others. */
  isTopLevel?: boolean;
  /** Of this pool; null: of none. */
  pool?: string | null;
  status?: readonly RunStatus[];
  /** ISO time: those that were accepted then or later. */
  since?: string;
  /** ISO time: those that ended then or later. */
  endedSince?: string;
  /** ISO time: those that were accepted before it and that nobody has claimed yet. */
  unclaimedBefore?: string;
  before?: string;
  limit?: number;
}

/** Counts over the newest runs that a filter finds. */
export interface RunSummary {
  /** How many were counted. */
  readonly runs: number;
  readonly byStatus: Readonly<Partial<Record<RunStatus, number>>>;
  /** Steps of those runs, by their kind. */
  readonly steps: Readonly<Record<string, number>>;
  /** From acceptance to end, of those that are done; null where none is. */
  readonly meanMs: number | null;
}

/** The runs that were accepted in an interval. */
export interface RunInterval {
  /** ISO time. */
  readonly start: string;
  readonly byStatus: Readonly<Partial<Record<RunStatus, number>>>;
  /** From acceptance to end, of those that are done, in milliseconds: half of them and 95 of 100 took no longer. null where none is done, or only runs before the newest 10,000 are. */
  readonly medianMs: number | null;
  readonly p95Ms: number | null;
}

/** Numbers of runs, by the name of their pool. */
export type Pools = Readonly<Record<string, number>>;

export interface WorkOptions {
  /** Maximum concurrent runs; a function is called each time. */
  readonly concurrency: number | (() => number);
  /** How many of these are runs of a pool at most, by its name. A pool that is not named here has no limit of its own. */
  readonly pools?: () => Pools;
  /**
   * Drives one run until it has ended, waits, or belongs to the next generation. What it throws gives the lease back:
   * the run is claimed again after a rest.
   */
  drive(run: LeasedRun): Promise<unknown>;
  /** Before a run is driven that was not opened here: of an earlier life, or of another process. */
  resume?(run: LeasedRun): Promise<void>;
}

/** The loop that claims and drives the runs of one kind, for as long as its generation is seen. */
export interface DurableWorker {
  /** Ids of the runs that it drives now. */
  readonly active: ReadonlySet<string>;
  hasRoom(): boolean;
  /** A place in a pool for a run that is being accepted; undefined where it has to be queued: the pool is full, or others of it wait. Call the answer when the run is taken, queued or refused. */
  reserve(pool: string): (() => void) | undefined;
  /** Drives a run that `open` has leased to this process. Resolves when this generation is done with it, and rejects for nothing that went wrong in it. */
  take(run: LeasedRun): Promise<void>;
  /** Looks for work. The journal also does this automatically. Safe to call at any time. */
  poke(): void;
}

export interface Journal {
  /** Does durable work of a kind of its own from now on. */
  worker(kind: WorkDecl, options: WorkOptions): DurableWorker;
  /**
   * An effect that happens once per owner, kind and key. `receipt` gives writes that the effect commits with its own;
   * whoever comes again with the key gets the result that stands there (plain data), for as long as ended runs are kept.
   * Name the agent and the conversation that the result is about: it is deleted with them.
   */
  once<T>(request: OnceRequest, effect: (receipt: (result: T, about?: RunSubject) => readonly Write[]) => Promise<T>): Promise<{ result: T; replayed: boolean }>;
  /**
   * Accepts work: one durable commit of the run and of `also` (which is skipped when the key replays).
   * `first` is asked when its lane is free, before the commit, which then carries its first step as well: one wait for
   * the disk instead of two. It does nothing outside. When it has none, throws, or what it gave conflicts, the run is accepted without.
   */
  open(request: OpenRun, also?: readonly Write[], first?: (run: LeasedRun) => Promise<FirstStep | undefined>): Promise<OpenedRun>;
  /** Commits progress under the lease. */
  advance(run: LeasedRun, progress: Advance): Promise<void>;
  /** Intent, effect, outcome: two commits around one effect. */
  step<T>(run: LeasedRun, spec: StepSpec, effect: () => Promise<{ value: T; outcome?: unknown; also?: readonly Write[] }>): Promise<T>;
  /** Puts the run to sleep, holding nothing, until `wake(wakeKey)` or `until` (ISO). Survives restart. */
  wait(run: LeasedRun, wait: { reason: string; wakeKey: string; until?: string; data?: unknown }, progress?: Advance): Promise<void>;
  /** True when a waiting run was found; it is queued again and can be claimed. `data` is in its `wait.data`. */
  wake(actor: Actor, wakeKey: string, data: unknown, also?: readonly Write[]): Promise<boolean>;
  /** Takes up to `limit` runs that may run: queued with a free lane, due waits, or leases that ran out. Of the pools in `most`, so many at most, and after those without one. */
  claim(kind: string, limit: number, most?: Pools): Promise<LeasedRun[]>;
  /** Releases the lease so that another generation or process continues; the run keeps its position. */
  release(run: LeasedRun): Promise<void>;
  /** Ends a run that nobody holds (queued or waiting). False when it is running or already over; with `unclaimed`, also when somebody ever held it. */
  cancel(actor: Actor, runId: string, why: RunError, also?: readonly Write[], only?: 'unclaimed'): Promise<boolean>;
  /**
   * Aborts the signal of a run with this error as its reason, whichever process holds it. Its row says it, too: a holder
   * elsewhere hears of it at once as a rule, else with its next beat, and whoever takes the run over, after a death of
   * its holder as well, knows it from the start. False when it is queued, waits or is over: then `cancel` ends it, or nothing has to.
   */
  interrupt(runId: string, reason: Error): Promise<boolean>;
  /** Called when work of this kind may be claimable: a lane became free, a wait was woken. */
  onReady(kind: string, fn: () => void): Disposable;
  get(actor: Actor, runId: string): Promise<JournalRun | undefined>;
  byKey(actor: Actor, kind: string, key: string): Promise<JournalRun | undefined>;
  /** What is at the beginning of all that led to a run, whatever the kinds of both; undefined where either is gone. */
  root(runId: string): Promise<RunRoot | undefined>;
  steps(actor: Actor, runId: string): Promise<JournalStep[]>;
  /** The same of several runs, by run; of a run without steps, nothing. */
  stepsOf(actor: Actor, runIds: readonly string[]): Promise<ReadonlyMap<string, readonly JournalStep[]>>;
  /** Of the newest 1,000 runs unless `limit` says more (10,000 at most). An extension names a kind of its own. */
  summary(filter: Omit<RunFilter, 'before'>): Promise<RunSummary>;
  /** How many runs a filter finds, by their status: all of them. An extension names a kind of its own. */
  tally(filter: Omit<RunFilter, 'before' | 'limit'>): Promise<Readonly<Partial<Record<RunStatus, number>>>>;
  /** The runs that a filter finds by when they were accepted, without intervals that had none. An extension names a kind of its own. */
  timeline(filter: Omit<RunFilter, 'before' | 'limit'> & { readonly since: string }, interval: TimelineInterval): Promise<RunInterval[]>;
  /** Newest first, 100 unless `limit` says more (1,000 at most); `before` is the last run of the previous page. An extension sees the kinds of its own, and names one of them. */
  list(filter: RunFilter): Promise<JournalRun[]>;
}
