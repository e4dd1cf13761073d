/** What the parts of the journal share: the tables, this process's leases, and what it knows of lanes. */
import { setMaxListeners } from 'node:events';
import type { Db, Ids, LeasedRun, Logger } from '@svc/api';
import type { Bus } from '../bus/bus.js';
import { busOfOne } from '../bus/local-bus.js';
import type { TimerClock } from '../clock/clock.js';
import { createHeldRuns, type HeldRuns } from './leases/held-runs.js';
import { createLaneRegistry, type LaneRegistry } from './leases/lane-registry.js';
import { createReadySignals, type ReadySignals } from './ready-signals.js';
import type { Lease } from './rows/opening-writes.js';
import { CLAIMED, QUEUED } from './rows/run-rows.js';
import { createRunWrites, type RunWrites, type Tables } from './rows/run-writes.js';
import { createWakeTimer, type WakeTimer } from './wake-timer.js';

const DEFAULT_LEASE_MS = 30_000;
const DEFAULT_PATIENCE_MS = 60_000;
const POSITIONS_PER_MS = 1_000;

/** The first position that a run can have that arrives at this time. */
export const positionAt = (ms: number): number => ms * POSITIONS_PER_MS;

export interface JournalOptions {
  /** Made for `journalOwner`, with `journalMigrations` applied. */
  db: Db;
  clock: TimerClock;
  ids: Ids;
  log: Logger;
  /** Where other processes on this database hear at once what their next beat would find. */
  bus?: Bus;
  /** New for every start of the process: leases of any other are somebody else's. */
  instanceId: string;
  /** SQL for the database's own time in milliseconds: leases go by it, whatever the clock of a process says. */
  nowSql: () => string;
  /** The life before this one in the same home, which is known to be over: its leases are, too. */
  predecessor?: string | undefined;
  /** How long a process may be silent before others take its runs. */
  leaseMs?: number;
  /** How long commits of held runs are tried again through a database that cannot be written; asked for each time, 60 s when left out. */
  patienceMs?: (() => number) | undefined;
  /** True when nobody else can be alive on this database: leases of other instances are then over at once. */
  soleWriter: boolean;
}

export interface JournalParts {
  readonly db: Db;
  readonly tables: Tables;
  readonly writes: RunWrites;
  readonly clock: TimerClock;
  readonly ids: Ids;
  readonly log: Logger;
  readonly instanceId: string;
  readonly soleWriter: boolean;
  readonly predecessor: string;
  readonly lanes: LaneRegistry;
  readonly signals: ReadySignals;
  readonly timer: WakeTimer;
  readonly held: HeldRuns;
  readonly bus: Bus;
  /** Claims of this process that are on their way, by run; each resolves when the run is held here or is not. */
  readonly claiming: Map<string, Promise<unknown>>;
  /** Leases that are given up and that the database could not take back yet, by run. */
  readonly owed: Map<string, LeasedRun>;
  readonly leaseMs: number;
  readonly nowSql: () => string;
  readonly patienceMs: () => number;
  /** Aborted when this journal ends. */
  readonly closing: AbortSignal;
  close(): void;
  newLease(): Lease;
  /** Order of arrival; grows with every call. */
  nextPosition(): number;
  /** Fills the lane book from the database, once. */
  ready(): Promise<void>;
  /** A run ended or was taken out of its lane: here and, as far as the bus reaches, everywhere. */
  leaveLane(lane: string | null, runId: string): void;
  /** Work of this kind can be claimed, by whichever process. */
  offer(kind: string): void;
}

export const createParts = (options: JournalOptions): JournalParts => {
  const { db, clock, ids, log, instanceId, soleWriter, bus = busOfOne() } = options;
  const tables: Tables = { runs: db.table('runs'), steps: db.table('steps') };
  const signals = createReadySignals(log);
  const lanes = createLaneRegistry(signals.fire);
  const leaseMs = options.leaseMs ?? DEFAULT_LEASE_MS;
  const closing = new AbortController();
  // Each run that waits for the database listens.
  setMaxListeners(0, closing.signal);
  let loaded: Promise<void> | undefined;
  let lastPosition = 0;
  return {
    db,
    tables,
    writes: createRunWrites(db, tables, options.nowSql, instanceId),
    clock,
    ids,
    log,
    instanceId,
    soleWriter,
    predecessor: options.predecessor ?? '',
    leaseMs,
    nowSql: options.nowSql,
    patienceMs: options.patienceMs ?? (() => DEFAULT_PATIENCE_MS),
    closing: closing.signal,
    close: () => closing.abort(),
    lanes,
    signals,
    timer: createWakeTimer({ db, runs: tables.runs, clock, log, signals }),
    held: createHeldRuns(),
    claiming: new Map(),
    bus,
    leaveLane: (lane, runId) => {
      lanes.remove(lane, runId);
      if (lane !== null) bus.publish('journal', { is: 'left', lane, runId });
    },
    offer: (kind) => {
      signals.fire(kind);
      bus.publish('journal', { is: 'ready', kind });
    },
    owed: new Map(),
    newLease: () => ({ owner: instanceId, ms: leaseMs }),
    nextPosition() {
      lastPosition = Math.max(positionAt(clock.now()), lastPosition + 1);
      return lastPosition;
    },
    ready() {
      loaded ??= loadLanes(db, tables, lanes).then(
        (newest) => {
          lastPosition = Math.max(lastPosition, newest);
        },
        (error: unknown) => {
          loaded = undefined;
          throw error;
        },
      );
      return loaded;
    },
  };
};

/** Gives the newest position in any lane: a clock that was set back must not let a newcomer in first. */
/** Why runs are read with no actor: under `as` SQLite, which has counted nothing, takes the index of the owner and reads all that a person ever ran. The text filters by the actor itself. */
export const BY_INDEX = 'runs by the index of their list or key, not by that of their owner; the text filters by the actor';

export const loadLanes = async (db: Db, tables: Tables, lanes: LaneRegistry): Promise<number> => {
  const known = lanes.members();
  // That it has a lane is not asked for here: it would lead SQLite to the index of all lanes there ever were.
  const placed = (which: string): string => `SELECT id, lane, kind, status, position FROM ${tables.runs} WHERE ${which}`;
  const unfinished = await db.system('lanes of runs').read<{ id: string; lane: string | null; kind: string; status: string; position: number }>(`${placed(CLAIMED)} UNION ALL ${placed(QUEUED)}`);
  const rows = unfinished.flatMap(({ lane, ...row }) => (lane === null ? [] : [{ ...row, lane }]));
  const open = new Set(rows.map(({ id }) => id));
  // What was known before the rows were read and is not among them has ended, here or elsewhere.
  for (const { lane, runId } of known) if (!open.has(runId)) lanes.remove(lane, runId);
  for (const { id, lane, kind, status } of rows) lanes.put(lane, id, kind, status !== 'queued');
  return rows.reduce((newest, { position }) => Math.max(newest, position), 0);
};
