/** Reads and writes of the trail's tables. */
import { type Actor, type Db, type Reader, seesAll, type Where, type Write } from '@svc/api';
import { type ChainFields, fieldsOf, GENESIS } from './format/entry.js';
import { leafOf, rootOf, TILE } from './format/merkle.js';
import { Checkpoints, type CheckpointRow, type DetailRow, Details, Entries, type EntryRow, type SegmentRow, Segments } from './tables.js';

export interface Tip {
  /** 0 of an empty chain. */
  readonly id: number;
  readonly hash: string;
}

/** An entry with its text, however it is stored. `hash` is the one that is stored. */
export interface StoredEntry {
  readonly id: number;
  /** Null once it was trimmed. */
  readonly body: string | null;
  readonly hash: string;
}

export interface NewEntry extends ChainFields {
  readonly source: string;
  readonly body: string;
  readonly hash: string;
  /** Undefined where they were erased before. */
  readonly personal: Pick<DetailRow, 'owner_id' | 'salt' | 'detail'> | undefined;
}

export interface EntryFilter {
  readonly event_type?: string | undefined;
  readonly agent_id?: string | undefined;
  readonly q?: string | undefined;
}

export interface IdPage {
  readonly ids: readonly number[];
  readonly total: number;
  readonly next: string | null;
}

export interface AuditStore {
  /** Of all rows, whosever they are. */
  readonly reader: Reader;
  tip(): Promise<Tip>;
  append(entries: readonly NewEntry[], also: readonly Write[]): Promise<void>;
  /** Of these facts, those that are entered already. */
  known(sources: readonly string[]): Promise<ReadonlySet<string>>;
  /** Moves whole segments of 256 out of the rows. */
  seal(tip: Tip): Promise<void>;
  /** Newest first. */
  ids(actor: Actor, filter: EntryFilter, page: { limit: number; offset: number; after: string | undefined }): Promise<IdPage>;
  entries(ids: readonly number[]): Promise<Map<number, StoredEntry>>;
  details(actor: Actor, ids: readonly number[]): Promise<Map<number, DetailRow>>;
  /** Of all that are stored between two entries. */
  detailsBetween(first: number, last: number): Promise<DetailRow[]>;
  /** Entries whose details belong to somebody, or did until they were erased; at most 10,000, ascending. */
  heldBy(ownerId: string): Promise<number[]>;
  /** The chain says that their details were erased. */
  letGo(ids: readonly number[]): Promise<void>;
  segments(from: number, limit: number): Promise<SegmentRow[]>;
  segment(n: number): Promise<SegmentRow | undefined>;
  tileRoots(upTo: number): Promise<Uint8Array[]>;
  /** Rows that are in no segment yet, oldest first. */
  tail(): Promise<EntryRow[]>;
  /** How many rows the index has, and the first of them. */
  indexed(): Promise<{ count: number; first: number }>;
  checkpoints(): Promise<CheckpointRow[]>;
  newestCheckpoint(): Promise<CheckpointRow | undefined>;
  addCheckpoint(row: CheckpointRow): Promise<void>;
  /** Deletes what is older, and says which entries went: the first and the last. Before personal details go, `explain` is waited for. */
  trim(before: string, also: (first: number, last: number) => Write, explain: () => Promise<void>): Promise<void>;
}

const WHY = 'the audit trail';
const SEGMENTS_PER_READ = 16;
const MAX_CHECKPOINTS = 10_000;
const TRIM_AT_ONCE = 500;
const HELD_AT_ONCE = 10_000;

export const createStore = (db: Db): AuditStore => {
  const all = db.system(WHY);
  const { name: entries } = Entries;
  const segment = (n: number): Promise<SegmentRow | undefined> => all.first<SegmentRow>({ from: Segments.name, where: { n } });
  const rows = (first: number, limit: number): Promise<EntryRow[]> => all.select<EntryRow>({ from: entries, where: { id: { gte: first } }, order: [{ column: 'id' }], limit });
  const lastSegment = (): Promise<SegmentRow | undefined> => all.first<SegmentRow>({ from: Segments.name, columns: ['n', 'hashes', 'newest'], order: [{ column: 'n', descending: true }] });
  return {
    reader: all,
    tip: async () => {
      const newest = await all.first<EntryRow>({ from: entries, columns: ['id', 'hash'], order: [{ column: 'id', descending: true }] });
      if (newest?.hash) return { id: newest.id, hash: newest.hash };
      const sealed = await lastSegment();
      return sealed ? { id: (sealed.n + 1) * TILE, hash: hashAt(sealed, TILE - 1) } : { id: 0, hash: GENESIS };
    },
    append: async (added, also) => {
      const details = added.flatMap(({ id, event_type, agent_id, timestamp, personal }) => (personal ? [{ id, event_type, agent_id, at: timestamp, ...personal }] : []));
      await db.commit([
        db.insert(
          entries,
          added.map(({ id, source, event_type, agent_id, body, hash, prev_hash, personal }) => ({ id, source, event_type, agent_id, body, hash, prev_hash, holder: personal?.owner_id ?? null })),
        ),
        ...(details.length === 0 ? [] : [db.insert(Details.name, details)]),
        ...also,
      ]);
    },
    known: async (sources) => new Set((await all.select<EntryRow>({ from: entries, columns: ['source'], where: { source: [...sources] } })).map(({ source }) => source)),
    seal: async ({ id }) => {
      for (let n = ((await lastSegment())?.n ?? -1) + 1; (n + 1) * TILE <= id; n += 1) await db.commit(sealing(db, n, await rows(n * TILE + 1, TILE)));
    },
    ids: (actor, filter, page) => findIds(db, actor, filter, page),
    entries: async (ids) => {
      const found = new Map<number, StoredEntry>();
      const sealed = new Set<number>();
      for (const { id, body, hash } of await all.select<EntryRow>({ from: entries, where: { id: [...ids] } })) {
        if (hash === null) sealed.add(Math.floor((id - 1) / TILE));
        else found.set(id, { id, body, hash });
      }
      for (const n of sealed) {
        const row = await segment(n);
        const bodies = row?.bodies?.split('\n');
        for (const id of ids) {
          const place = id - 1 - n * TILE;
          if (row && place >= 0 && place < TILE) found.set(id, { id, body: bodies?.[place] ?? null, hash: hashAt(row, place) });
        }
      }
      return found;
    },
    details: async (actor, ids) => new Map((await db.as(actor).select<DetailRow>({ from: Details.name, where: { id: [...ids] } })).map((row) => [row.id, row])),
    detailsBetween: (first, last) =>
      all.select<DetailRow>({ from: Details.name, columns: ['id', 'salt', 'detail'], where: { id: { gte: first, lte: last } }, order: [{ column: 'id' }], limit: HELD_AT_ONCE }),
    heldBy: (ownerId) => heldBy(all, ownerId),
    letGo: async (ids) => {
      for (let at = 0; at < ids.length; at += TRIM_AT_ONCE)
        await db.commit([
          db.update(
            entries,
            ['id'],
            ids.slice(at, at + TRIM_AT_ONCE).map((id) => ({ id, holder: null })),
          ),
        ]);
    },
    segments: (from, limit) => all.select<SegmentRow>({ from: Segments.name, where: { n: { gte: from } }, order: [{ column: 'n' }], limit: Math.min(limit, SEGMENTS_PER_READ) }),
    segment,
    tileRoots: async (upTo) => {
      const roots: Uint8Array[] = [];
      for (;;) {
        const page = await all.select<SegmentRow>({ from: Segments.name, columns: ['n', 'root'], where: { n: { gte: roots.length, lt: upTo } }, order: [{ column: 'n' }], limit: 10_000 });
        for (const { n, root } of page) roots[n] = Buffer.from(root, 'hex');
        if (page.length < 10_000) return roots;
      }
    },
    tail: async () => rows((((await lastSegment())?.n ?? -1) + 1) * TILE + 1, 10_000),
    indexed: async () => ({ count: await all.count(entries), first: (await rows(1, 1))[0]?.id ?? 0 }),
    checkpoints: () => all.select<CheckpointRow>({ from: Checkpoints.name, order: [{ column: 'size' }], limit: MAX_CHECKPOINTS }),
    newestCheckpoint: () => all.first<CheckpointRow>({ from: Checkpoints.name, order: [{ column: 'size', descending: true }] }),
    addCheckpoint: async (row) => void (await db.commit([db.upsert(Checkpoints.name, ['size', 'key_id'], [{ ...row }])])),
    trim: (before, also, explain) => trim(db, before, also, explain),
  };
};

export const hashAt = ({ hashes }: Pick<SegmentRow, 'hashes'>, place: number): string => hashes.slice(place * 64, place * 64 + 64);

export const hashesOf = (row: Pick<SegmentRow, 'hashes'>): string[] => Array.from({ length: row.hashes.length / 64 }, (_, place) => hashAt(row, place));

const sealing = (db: Db, n: number, rows: readonly EntryRow[]): Write[] => {
  const hashes = rows.map(({ hash }) => hash ?? '');
  const bodies = rows.map(({ body }) => body ?? '');
  if (rows.length !== TILE || hashes.includes('') || rows[0]?.id !== n * TILE + 1) throw new Error(`segment ${n} of the audit trail is not whole: rows are missing`);
  const root = rootOf(hashes.map(leafOf));
  return [
    db.insert(Segments.name, [{ n, bodies: bodies.join('\n'), hashes: hashes.join(''), root: Buffer.from(root).toString('hex'), newest: fieldsOf(bodies.at(-1) ?? '')?.timestamp ?? '' }]),
    db.update(
      Entries.name,
      ['id'],
      rows.map(({ id }) => ({ id, body: null, hash: null, prev_hash: null })),
    ),
  ];
};

/** Whoever sees all finds erased entries too, but by their words. */
const findIds = async (db: Db, actor: Actor, { event_type: type, agent_id: agent, q = '' }: EntryFilter, { limit, offset, after }: Parameters<AuditStore['ids']>[2]): Promise<IdPage> => {
  const where: Where = { ...(type === undefined ? {} : { event_type: type }), ...(agent === undefined ? {} : { agent_id: agent }) };
  const isWhole = seesAll(actor) && q.trim() === '';
  const search = q.trim() === '' ? undefined : { text: q, columns: ['detail', 'event_type'] };
  const [reader, from] = isWhole ? [db.system(WHY), Entries.name] : [db.as(actor), Details.name];
  const [{ rows, next }, total] = await Promise.all([
    reader.page<{ id: number }>({
      from,
      columns: ['id'],
      where,
      ...(search ? { search } : {}),
      order: [{ column: 'id', descending: true }],
      limit,
      ...(after === undefined ? { offset } : { after }),
    }),
    reader.count(from, where, search),
  ]);
  return { ids: rows.map(({ id }) => id), total, next };
};

/** Piece by piece: no index is written with each entry for what is asked so rarely. */
const heldBy = async (all: Reader, ownerId: string): Promise<number[]> => {
  const held: number[] = [];
  const newest = (await all.first<EntryRow>({ from: Entries.name, columns: ['id'], order: [{ column: 'id', descending: true }] }))?.id ?? 0;
  let from = (await all.first<EntryRow>({ from: Entries.name, columns: ['id'], order: [{ column: 'id' }] }))?.id ?? 0;
  for (; from <= newest && held.length < HELD_AT_ONCE; from += HELD_AT_ONCE) {
    const where: Where = { id: { gte: from, lt: from + HELD_AT_ONCE }, holder: ownerId };
    held.push(...(await all.select<EntryRow>({ from: Entries.name, columns: ['id'], where, order: [{ column: 'id' }], limit: HELD_AT_ONCE })).map(({ id }) => id));
  }
  return held;
};

/** What is told of the personal goes by its own age, the rest by whole segments. */
const trim = async (db: Db, before: string, also: (first: number, last: number) => Write, explain: () => Promise<void>): Promise<void> => {
  const all = db.system('trimming the audit trail');
  for (let isExplained = false; ; isExplained = true) {
    const old = await all.select<DetailRow>({ from: Details.name, columns: ['id'], where: { at: { lt: before } }, limit: TRIM_AT_ONCE });
    if (old.length > 0 && !isExplained) await explain();
    if (old.length > 0) await db.commit([db.remove(Details.name, { id: old.map(({ id }) => id) })]);
    if (old.length < TRIM_AT_ONCE) break;
  }
  for (;;) {
    const [first] = await all.select<EntryRow>({ from: Entries.name, columns: ['id', 'hash'], order: [{ column: 'id' }], limit: 1 });
    const n = Math.floor(((first?.id ?? 1) - 1) / TILE);
    const segment = await all.first<SegmentRow>({ from: Segments.name, columns: ['n', 'newest'], where: { n } });
    if (!segment || segment.newest >= before) return;
    const ids = { gte: n * TILE + 1, lte: (n + 1) * TILE };
    await db.commit([db.update(Segments.name, ['n'], [{ n, bodies: null }]), db.remove(Entries.name, { id: ids }), db.remove(Details.name, { id: ids }), also(n * TILE + 1, (n + 1) * TILE)]);
  }
};
