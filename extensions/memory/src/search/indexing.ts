/**
 * Vectors of entries that have none of the present model, made in the background.
 *
 * V4  It is work in the journal: it goes on after a restart where it was, and search goes on meanwhile.
 * V5  Within the budget of the owner's agents; what fails is shown, and tried again an hour later or with the next entry.
 */
import type { Actors, Clock, Db, Journal, LeasedRun, Logger } from '@svc/api';
import { Indexing, type EntryRow, MemoryChanged } from '../contract.js';
import type { MemoryDeps } from '../memory-deps.js';
import type { Embedding } from './embedding.js';
import { packVector } from './vector-text.js';

export interface IndexingDeps extends Pick<MemoryDeps, 'events'> {
  readonly journal: Journal;
  readonly actors: Pick<Actors, 'of' | 'only'>;
  readonly db: Db;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly embedding: Embedding;
  readonly log: Logger;
  readonly closing: AbortSignal;
}

export interface Indexer {
  /** Makes missing vectors of this owner, soon. */
  poke(ownerId: string): void;
  /** Of everybody who has entries. */
  pokeAll(): Promise<void>;
  /** Makes all vectors of an agent anew: what is left to do is what has none, so that a restart goes on with it. Meanwhile words find its entries. */
  reindex(ownerId: string, agentId: string): Promise<void>;
}

/** Few enough that a slow model answers them in time. */
const BATCH = 16;
/** Less than a daemon that stops waits for: one that hangs holds up none. */
const BATCH_MS = 8_000;
const MAX_CHARS = 8_000;
/** Vectors that are removed in one commit. */
const REMOVED = 500;
const PROBE = 'one text';

export const createIndexer = (deps: IndexingDeps): Indexer => {
  const open = new Set<string>();
  const worker = deps.journal.worker(Indexing, {
    concurrency: 1,
    drive: async (run) => {
      open.delete(run.ownerId);
      await indexOrEnd(deps, run);
    },
  });
  const begin = async (ownerId: string): Promise<void> => {
    try {
      const { leased } = await deps.journal.open({ kind: Indexing.name, actor: deps.actors.of(ownerId), lane: `memory-index:${ownerId}`, input: {} });
      if (leased) await worker.take(leased);
    } catch (cause) {
      open.delete(ownerId);
      deps.log.warn('vectors of memory could not be begun', { cause });
    }
  };
  const poke = (ownerId: string): void => {
    if (open.has(ownerId) || deps.embedding.kind() === 'none') return;
    open.add(ownerId);
    void begin(ownerId);
  };
  return {
    poke,
    pokeAll: async () => {
      if (deps.embedding.kind() === 'none') return;
      const model = (await deps.embedding.model()) ?? '';
      const owners = await deps.db
        .system('owners of entries without a vector')
        .read<{ owner_id: string }>(
          `SELECT DISTINCT e.owner_id AS owner_id FROM ${deps.db.table('entries')} e LEFT JOIN ${deps.db.table('vectors')} v ON v.place = e.place AND v.model = ? WHERE v.place IS NULL AND e.archived = 0`,
          [model],
        );
      for (const { owner_id: ownerId } of owners) poke(ownerId);
    },
    reindex: async (ownerId, agentId) => {
      await removeVectors(deps, ownerId, agentId);
      poke(ownerId);
    },
  };
};

const removeVectors = async ({ db, actors, events }: IndexingDeps, ownerId: string, agentId: string): Promise<void> => {
  const reader = db.as(actors.only('memory', ownerId));
  for (let after: number | undefined = -1; after !== undefined; ) {
    const rows: Array<{ place: number }> = await reader.read<{ place: number }>(
      `SELECT v.place AS place FROM ${db.table('vectors')} v JOIN ${db.table('entries')} e ON e.place = v.place WHERE e.agent_id = ? AND v.place > CAST(? AS BIGINT) ORDER BY v.place LIMIT ${REMOVED}`,
      [agentId, after],
    );
    const places = rows.map(({ place }) => Number(place));
    after = places.at(-1);
    if (places.length > 0) await db.commit([db.remove('vectors', { place: places, owner_id: ownerId }), events.event(MemoryChanged, { ownerId, places, change: 'changed' })]);
  }
};

const indexOrEnd = async (deps: IndexingDeps, run: LeasedRun): Promise<void> => {
  try {
    const indexed = await index(deps, run);
    await deps.journal.advance(run, { finish: { status: 'done', result: { indexed } } });
  } catch (cause) {
    if (deps.closing.aborted) throw cause;
    deps.log.warn('vectors of memory could not be made; words are searched alone', { cause });
    await deps.journal.advance(run, { finish: { status: 'failed', error: { code: 'memory_not_indexed', message: cause instanceof Error ? cause.message : 'No vectors could be made.' } } });
  }
};

const inTime = async <T>({ clock, closing, embedding }: IndexingDeps, run: LeasedRun, work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
  const late = new AbortController();
  const done = new AbortController();
  void clock.sleep(BATCH_MS, done.signal).then(
    () => {
      embedding.late(BATCH_MS);
      late.abort(new Error(`no vectors came within ${BATCH_MS} ms`));
    },
    () => undefined,
  );
  try {
    return await work(AbortSignal.any([run.signal, closing, late.signal]));
  } finally {
    done.abort();
  }
};

type Unindexed = Pick<EntryRow, 'place' | 'content' | 'agent_id'>;

const index = async (deps: IndexingDeps, run: LeasedRun): Promise<number> => {
  const actor = deps.actors.of(run.ownerId);
  const reader = deps.db.as(deps.actors.only('memory', run.ownerId));
  let model = await deps.embedding.model();
  // A provider says with its first answer what it is.
  if (model === undefined) {
    const probe = await inTime(deps, run, (signal) => deps.embedding.embed(actor, '', [PROBE], 'document', signal));
    if (!probe) return 0;
    model = probe.model;
    if (probe.settle.length > 0) await deps.db.commit(probe.settle);
  }
  let indexed = 0;
  for (let after = -1; ; ) {
    const rows = await reader.read<Unindexed>(
      `SELECT e.place AS place, e.content AS content, e.agent_id AS agent_id FROM ${deps.db.table('entries')} e LEFT JOIN ${deps.db.table('vectors')} v ON v.place = e.place AND v.model = ? WHERE v.place IS NULL AND e.archived = 0 AND e.place > CAST(? AS BIGINT) ORDER BY e.place LIMIT ${BATCH}`,
      [model, after],
    );
    const last = rows.at(-1);
    if (!last) return indexed;
    const texts = rows.map(({ content }) => content.slice(0, MAX_CHARS));
    const made = await inTime(deps, run, (signal) => deps.embedding.embed(actor, last.agent_id, texts, 'document', signal));
    if (!made) return indexed;
    const vectors = rows.map(({ place }, at) => ({ place: Number(place), owner_id: run.ownerId, model: made.model, vector: packVector(made.vectors[at] ?? []) ?? '' }));
    const changed = deps.events.event(MemoryChanged, { ownerId: run.ownerId, places: vectors.map(({ place }) => place), change: 'changed' });
    await deps.db.commit([deps.db.upsert('vectors', ['place'], vectors), ...made.settle, changed]);
    indexed += rows.length;
    after = Number(last.place);
    await deps.clock.sleep(0, run.signal);
  }
};
