/**
 * The catalogue: what lists show of sessions, and what searches find. It is read from the log afterwards, so that no message waits for it.
 *
 * K1  Each entry is read once: it says itself that it waits, and the commit that keeps what was read of it says that it was.
 *     Of two that read the same entry one conflicts and looks again. A crash in between leaves it waiting.
 * K2  What is taken away meanwhile is not kept: the entry must still be there in that commit.
 * K3  Whoever asks for a list or a search first has read what waits, up to a bound; a search says how far it has come.
 * K4  Of daemons on one database one reads what all of them wait for, and tells the others. Where that is lost, they read the
 *     same once more, and all but one conflict (K1).
 */
import { type Db, isSvcError, type Logger, type Write } from '@svc/api';
import type { Entry } from '../contract.js';
import type { CatalogueStore, PendingEntry } from './catalogue-store.js';
import { oneAtATime } from '../one-at-a-time.js';
import { addEntry, charsOf, type Facts, textOf } from './facts.js';
import { nextOrdinal, type SaidMessage, SPAN_PLACES, type Shelf, shelved, type ShelvedMessage } from './shelves.js';

export interface CatalogueDeps {
  readonly store: CatalogueStore;
  commit: Db['commit'];
  /** Entries after `after`, oldest first. */
  entries(sessionId: string, after: number, limit: number): Promise<readonly Entry[]>;
  /** Calls once, later. */
  later(ms: number, fn: () => Promise<void>): void;
  /** Milliseconds that are never set back. */
  mono(): number;
  /** Names this daemon among those that read. */
  readonly self: string;
  /** Tells the other daemons that this one reads. */
  notify(): void;
  readonly log: Logger;
}

export interface Catalogue {
  /** Something was said, or is about to be. */
  touched(): void;
  /** Reads what waits, at most `batches` of it. Resolves with when the oldest was said that still waits. */
  catchUp(batches: number): Promise<string | undefined>;
  /** A daemon of this name reads what waits. */
  receivedFrom(name: string): void;
  /** Looks whether something waits that nobody here has said, as another process may. */
  look(): Promise<void>;
}

/** What was said is found after this long, unless somebody asks before. */
const DELAY_MS = 1_000;
const PAUSE_MS = 10;
/** A daemon that reads is heard of once a second; after this long without a word somebody else reads. */
const LEFT_TO_OTHERS_MS = 5_000;
const BATCH_ENTRIES = 200;
const BATCH_CHARS = 4_000_000;
const MAX_RACES = 5;
/** Entries behind a summary that are counted anew. */
const MAX_UNCOVERED = 1_000;
const RETRY_MS = 30_000;

export const createCatalogue = (deps: CatalogueDeps): Catalogue => {
  let isWaiting = false;
  let leftToOthersUntil = Number.NEGATIVE_INFINITY;
  const next = oneAtATime(() => readBatch(deps));
  const schedule = (ms: number): void => {
    if (isWaiting) return;
    isWaiting = true;
    deps.later(ms, tick);
  };
  const tick = async (): Promise<void> => {
    isWaiting = false;
    const leftMs = leftToOthersUntil - deps.mono();
    if (leftMs > 0) return schedule(leftMs);
    try {
      const { count, hasMore } = await next();
      if (count === 0) return;
      deps.notify();
      // Others have their turn in between, and a stop waits for one batch at most. What trickles in is read once a second.
      schedule(hasMore ? PAUSE_MS : DELAY_MS);
    } catch (cause) {
      deps.log.warn('messages could not be indexed; svc tries again', { cause });
      schedule(RETRY_MS);
    }
  };
  return {
    touched: () => schedule(DELAY_MS),
    catchUp: async (batches) => {
      for (let batch = 0; batch < batches; batch++) {
        if ((await deps.store.oldestPending()) === undefined || (await next()).count === 0) return undefined;
      }
      return deps.store.oldestPending();
    },
    // Of two that read one leaves it to the other: it is the same one on both sides.
    receivedFrom: (name) => {
      if (name < deps.self) leftToOthersUntil = deps.mono() + LEFT_TO_OTHERS_MS;
    },
    look: async () => {
      if ((await deps.store.oldestPending()) !== undefined) schedule(0);
    },
  };
};

interface ReadBatch {
  readonly count: number;
  readonly hasMore: boolean;
}

async function readBatch(deps: CatalogueDeps): Promise<ReadBatch> {
  for (let races = 0; ; races++) {
    const { entries: waiting, hasMore } = await deps.store.pending(BATCH_ENTRIES, BATCH_CHARS);
    if (waiting.length === 0) return { count: 0, hasMore };
    try {
      await deps.commit([...(await factWrites(deps, waiting)), ...(await saidWrites(deps, waiting))]);
      return { count: waiting.length, hasMore };
    } catch (error) {
      // Somebody else reads them too, or has taken them away.
      if (races === MAX_RACES || !isSvcError(error) || error.code !== 'storage_conflict') throw error;
    }
  }
}

async function factWrites(deps: CatalogueDeps, waiting: readonly PendingEntry[]): Promise<Write[]> {
  const writes: Write[] = [];
  for (const ofSession of grouped(waiting, ({ sessionId }) => sessionId).values()) {
    const [first] = ofSession;
    if (!first) continue;
    const inOrder = ofSession.toSorted((a, b) => a.seq - b.seq);
    writes.push(deps.store.setFacts(first.sessionId, await factsAfter(deps, first, inOrder)));
    writes.push(
      ...deps.store.markRead(
        first.sessionId,
        inOrder.map(({ seq }) => seq),
      ),
    );
  }
  return writes;
}

/** A summary takes the place of what it covers. */
async function factsAfter(deps: CatalogueDeps, { facts: before, sessionId }: PendingEntry, entries: readonly PendingEntry[]): Promise<Facts> {
  const facts = entries.reduce((sum, { entry }) => addEntry(sum, entry), before);
  const summary = entries.findLast(({ entry }) => entry.kind === 'summary');
  if (!summary) return facts;
  const uncovered = await deps.entries(sessionId, summary.entry.coversThrough ?? 0, MAX_UNCOVERED);
  const last = entries.at(-1)?.seq ?? 0;
  const chars = uncovered.filter(({ seq, kind }) => seq <= last && kind !== 'summary' && kind !== 'note').reduce((sum, entry) => sum + charsOf(entry), summary.entry.chars);
  return { ...facts, contextChars: chars };
}

async function saidWrites(deps: CatalogueDeps, waiting: readonly PendingEntry[]): Promise<Write[]> {
  const byOwner = grouped(waiting.filter(isFindable), ({ ownerId }) => ownerId);
  if (byOwner.size === 0) return [];
  const known = await deps.store.shelves([...byOwner.keys()]);
  let highest: number | undefined;
  const writes: Write[] = [];
  for (const [ownerId, messages] of byOwner) {
    let shelf = known.get(ownerId);
    if (!shelf) {
      highest = 1 + (highest ?? (await deps.store.highestNumber()));
      shelf = { number: highest, span: undefined };
      writes.push(deps.store.insertShelf(ownerId, shelf.number));
    }
    writes.push(...shelfWrites(deps.store, ownerId, shelf, messages.map(toSaid)));
  }
  return writes;
}

const isFindable = ({ isAside, isInherited, entry }: PendingEntry): boolean => !isAside && !isInherited && (entry.kind === 'user' || entry.kind === 'assistant') && textOf(entry) !== '';

const toSaid = ({ sessionId, agentId, seq, entry }: PendingEntry): SaidMessage => ({ sessionId, agentId, seq, role: entry.kind === 'user' ? 'user' : 'assistant', at: entry.at, text: textOf(entry) });

const shelfWrites = (store: CatalogueStore, ownerId: string, shelf: Shelf, messages: readonly SaidMessage[]): Write[] => {
  const first = nextOrdinal(shelf);
  const placed: ShelvedMessage[] = messages.map((message, index) => shelved(shelf, first + index, message));
  const bySpan = grouped(placed, ({ ordinal }) => Math.floor(ordinal / SPAN_PLACES));
  const grown = [...bySpan].map(([span, inSpan]) => store.growSpan(ownerId, span, (inSpan[0]?.ordinal ?? 0) % SPAN_PLACES, inSpan, shelf.span));
  return [...grown, store.insertSaid(shelf, placed)];
};

const grouped = <T, K>(items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> => {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item)) ?? [];
    group.push(item);
    groups.set(keyOf(item), group);
  }
  return groups;
};
