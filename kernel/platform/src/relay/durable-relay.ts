/**
 * Gives durable listeners what was committed, in order, at least once.
 *
 * E1  An event is kept only when the manifest of an installed extension names it under `events.durable`.
 * E2  A listener's offset moves after it has taken the event. It begins with what comes after it was first seen.
 * E3  One daemon of those on a database does this at a time (relay-lease.ts); the others look every few seconds whether it is their turn.
 * E4  While a listener is off or failing its events wait. One that fell behind what is kept is told of the gap.
 * E5  The first event after a pause is delivered at once. Those that follow within 50 ms are delivered together, so that a
 *     thousand a second cost twenty rounds of commits, not a thousand.
 */
import type { Db, Logger, Write } from '@svc/api';
import { derivedFrom, type EventHub, type InstalledStore } from '@svc/core';
import type { TimerClock } from '../clock/clock.js';
import { conflictOf } from '../storage/contract/errors.js';
import type { RelayLease } from './relay-lease.js';

/** Which events are kept for whom, as the manifests of what is installed say. */
export interface DurableEvents {
  isStored(event: string): boolean;
  isDurable(extensionId: string, event: string): boolean;
}

export const durableEventsOf = (installed: Pick<InstalledStore, 'all'>): DurableEvents => {
  const byListener = derivedFrom(installed, (all) => new Map(all.map(({ id, manifest }) => [id, new Set(manifest.events?.durable)])));
  const stored = derivedFrom(installed, (all) => new Set(all.flatMap(({ manifest }) => manifest.events?.durable ?? [])));
  return {
    isStored: (event) => stored().has(event),
    isDurable: (id, event) => byListener().get(id)?.has(event) ?? false,
  };
};

export interface DurableRelay {
  open(db: Db, lease: RelayLease): Promise<void>;
  /** Something was committed, or a listener came back. */
  poke(): void;
  /** To be called every few seconds: finds what others committed, and a lease that ran out. */
  tick(): Promise<void>;
  close(): Promise<void>;
}

export interface RelayDeps {
  readonly installed: InstalledStore;
  readonly hub: Pick<EventHub, 'deliverTo' | 'takesBatch'>;
  readonly clock: Pick<TimerClock, 'mono' | 'schedule' | 'sleep'>;
  readonly log: Logger;
}

interface Kept {
  readonly seq: number;
  readonly name: string;
  readonly data: string;
}

interface Listener {
  readonly id: string;
  events: ReadonlySet<string>;
  offset: number;
  /** Whether its offset has been read. */
  isPlaced: boolean;
  pumping: Promise<void> | undefined;
  again: boolean;
}

interface Opened {
  readonly db: Db;
  readonly lease: RelayLease;
}

const BATCH = 250;
const GATHER_MS = 50;
const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 60_000;

export const createDurableRelay = (deps: RelayDeps): DurableRelay => {
  const listeners = new Map<string, Listener>();
  const closing = new AbortController();
  let opened: Opened | undefined;
  let isHolder = false;
  /** Numbering failed: the next tick tries again. */
  let isLate = true;
  let driving: Promise<void> | undefined;
  let again = false;
  /** Numbers what is new and wakes the listeners; whoever has just become the holder reads how far the last one came. */
  const drive = async ({ db, lease }: Opened): Promise<void> => {
    const wasHolder = isHolder;
    isHolder = await lease.number();
    if (!isHolder || closing.signal.aborted) return;
    if (!wasHolder) await readOffsets(db, [...listeners.values()]);
    for (const listener of listeners.values()) if (listener.isPlaced) start(deps, { db, lease }, listener, closing.signal);
  };
  const look = async (): Promise<void> => {
    if (!opened || closing.signal.aborted || listeners.size === 0) return;
    again = true;
    const at = opened;
    driving ??= (async () => {
      while (again && !closing.signal.aborted) {
        again = false;
        await drive(at);
      }
    })()
      .then(() => {
        isLate = false;
      })
      .catch((cause: unknown) => {
        isLate = true;
        deps.log.warn('durable events could not be numbered; svc tries again', { cause });
      })
      .finally(() => {
        driving = undefined;
      });
    await driving;
  };
  let lookedAt = Number.NEGATIVE_INFINITY;
  let cancelNext: (() => void) | undefined;
  const lookNow = (): void => {
    cancelNext = undefined;
    lookedAt = deps.clock.mono();
    void look();
  };
  const poke = (): void => {
    // The holder hears of it over the bus, or looks by itself: what others do here would only ask whose turn it is.
    if (cancelNext || closing.signal.aborted || (!isHolder && !isLate)) return;
    const waitMs = lookedAt + GATHER_MS - deps.clock.mono();
    if (waitMs <= 0) lookNow();
    else cancelNext = deps.clock.schedule(waitMs, lookNow);
  };
  for (const { id } of deps.installed.all()) follow(deps, listeners, id);
  const following = deps.installed.onChange((id) => {
    const added = follow(deps, listeners, id);
    if (!added || !opened) return;
    readOffsets(opened.db, [added]).then(poke, (cause: unknown) => deps.log.error('a new durable listener could not be added; it receives events after the next start', { listener: id, cause }));
  });
  return {
    open: async (db, lease) => {
      isHolder = listeners.size > 0 && (await lease.number());
      await readOffsets(db, [...listeners.values()]);
      opened = { db, lease };
    },
    poke,
    // Nobody else commits to a database of one daemon: what it commits it is told of.
    tick: async () => (isHolder && !isLate && opened?.lease.isSole === true ? undefined : look()),
    close: async () => {
      closing.abort();
      cancelNext?.();
      await following.dispose();
      await driving;
      await Promise.all([...listeners.values()].map((listener) => listener.pumping));
      if (isHolder) await opened?.lease.release().catch((cause: unknown) => deps.log.warn('the lease of durable events could not be released; it will expire', { cause }));
    },
  };
};

/** Brings the listener of one extension in line with its manifest; gives it when it is new. */
function follow(deps: RelayDeps, listeners: Map<string, Listener>, id: string): Listener | undefined {
  const events = new Set(deps.installed.get(id)?.manifest.events?.durable ?? []);
  const known = listeners.get(id);
  if (events.size === 0) listeners.delete(id);
  else if (known) known.events = events;
  else {
    const added: Listener = { id, events, offset: 0, isPlaced: false, pumping: undefined, again: false };
    listeners.set(id, added);
    return added;
  }
  return undefined;
}

async function readOffsets(db: Db, listeners: readonly Listener[]): Promise<void> {
  if (listeners.length === 0) return;
  const known = new Map((await db.system('delivery of events').select<{ listener: string; seq: number }>({ from: 'offsets' })).map((row) => [row.listener, row.seq]));
  const newest = await db.system('delivery of events').readOne<{ seq: number | null }>('SELECT MAX(seq) AS seq FROM kernel__events');
  for (const listener of listeners) {
    listener.offset = known.get(listener.id) ?? newest?.seq ?? 0;
    if (!known.has(listener.id)) await db.commit([db.insert('offsets', [{ listener: listener.id, seq: listener.offset }], { ifAbsent: true })]);
    listener.isPlaced = true;
  }
}

const offsetOf = (db: Db, { id, offset }: Listener): Write => db.upsert('offsets', ['listener'], [{ listener: id, seq: offset }]);

function start(deps: RelayDeps, opened: Opened, listener: Listener, signal: AbortSignal): void {
  listener.again = true;
  listener.pumping ??= pump(deps, opened, listener, signal)
    .catch((cause: unknown) => deps.log.error('durable events could not be relayed; svc tries again at the next commit', { listener: listener.id, cause }))
    .finally(() => {
      listener.pumping = undefined;
      // Asked between its last look and now, when its listener came back, say: nobody else would look again.
      if (listener.again && !signal.aborted) start(deps, opened, listener, signal);
    });
}

async function pump(deps: RelayDeps, { db, lease }: Opened, listener: Listener, signal: AbortSignal): Promise<void> {
  while (listener.again && !signal.aborted) {
    listener.again = false;
    const rows = await db.system('delivery of events').read<Kept>('SELECT seq, name, data FROM kernel__events WHERE seq > ? ORDER BY seq LIMIT ?', [listener.offset, BATCH]);
    const [first] = rows;
    if (first && first.seq > listener.offset + 1) await notifyGap(deps, db, listener, first.seq);
    for (const batch of batchesOf(deps, listener, rows)) {
      if (!(await deliver(deps, listener, batch, signal))) return;
      listener.offset = batch.at(-1)?.seq ?? listener.offset;
    }
    // What it does not listen to is behind it, too.
    listener.offset = rows.at(-1)?.seq ?? listener.offset;
    // Somebody else has taken over, and goes on from what is stored.
    if (rows.length > 0 && !(await moveOn(db, lease, listener))) return;
    if (rows.length === BATCH) listener.again = true;
  }
}

type Batch = [Kept, ...Kept[]];

/** What it listens to, one by one, or those of one name that follow each other where it takes them together. */
function batchesOf({ hub }: RelayDeps, { id, events }: Listener, rows: readonly Kept[]): Batch[] {
  const batches: Batch[] = [];
  for (const row of rows.filter(({ name }) => events.has(name))) {
    const last = batches.at(-1);
    if (last?.[0].name === row.name && hub.takesBatch(id, row.name)) last.push(row);
    else batches.push([row]);
  }
  return batches;
}

async function moveOn(db: Db, lease: RelayLease, listener: Listener): Promise<boolean> {
  try {
    await db.commit([lease.guard(), offsetOf(db, listener)]);
    return true;
  } catch (error) {
    if (conflictOf(error)?.reason === 'expect') return false;
    throw error;
  }
}

/** Numbers have no holes but those of removed events. */
async function notifyGap(deps: RelayDeps, db: Db, listener: Listener, firstRetained: number): Promise<void> {
  const oldest = await db.system('delivery of events').readOne<{ seq: number | null }>('SELECT MIN(seq) AS seq FROM kernel__events');
  if ((oldest?.seq ?? 0) !== firstRetained || listener.offset === 0) return;
  await deps.hub.deliverTo(listener.id, 'events.gap', { after: listener.offset, before: firstRetained });
}

/** False when the listener is off: it is asked again when it is back. */
async function deliver(deps: RelayDeps, listener: Listener, batch: Batch, signal: AbortSignal): Promise<boolean> {
  const [{ name, seq }] = batch;
  for (let waitMs = FIRST_RETRY_MS; !signal.aborted; waitMs = Math.min(waitMs * 2, LAST_RETRY_MS)) {
    try {
      return await deps.hub.deliverTo(listener.id, name, ...batch.map(({ data }) => JSON.parse(data) as unknown));
    } catch (cause) {
      deps.log.warn('a durable listener failed and will receive the event again', { listener: listener.id, event: name, seq, wait_ms: waitMs, cause });
      await deps.clock.sleep(waitMs, signal).catch(() => undefined); // the daemon is stopping
    }
  }
  return false;
}
