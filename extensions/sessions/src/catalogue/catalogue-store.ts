/** What the catalogue reads of the log and keeps beside it. It acts for nobody: whoever asks is validated where lists and searches are answered. */
import { type Db, idGroups, type Row, type Write, wordList } from '@svc/api';
import { type Counted, charsOf, type Facts } from './facts.js';
import type { Entry, EntryKind } from '../contract.js';
import { placeOf, type Shelf, type ShelvedMessage, SPAN_PLACES } from './shelves.js';

export interface PendingEntry {
  readonly sessionId: string;
  readonly seq: number;
  readonly ownerId: string;
  readonly agentId: string;
  readonly isAside: boolean;
  /** It was said in another session, from which this one branched off. */
  readonly isInherited: boolean;
  /** Of its session, before this entry and those that wait with it. */
  readonly facts: Facts;
  readonly entry: Counted;
}

export interface CatalogueStore {
  /** Those that nobody has read, the oldest first: at most `limit`, and of letters hardly more than `maxChars`. `hasMore`: others may wait behind them. */
  pending(limit: number, maxChars: number): Promise<{ readonly entries: readonly PendingEntry[]; readonly hasMore: boolean }>;
  /** When the oldest of them was said. */
  oldestPending(): Promise<string | undefined>;
  shelves(ownerIds: readonly string[]): Promise<Map<string, Shelf>>;
  highestNumber(): Promise<number>;
  setFacts(sessionId: string, facts: Facts): Write;
  /** Conflicts when somebody else has read one of them, or they are gone. */
  markRead(sessionId: string, seqs: readonly number[]): Write[];
  insertShelf(ownerId: string, number: number): Write;
  /** Conflicts when the span has another size than was seen. */
  growSpan(ownerId: string, span: number, from: number, messages: readonly { readonly at: string }[], seen: Shelf['span']): Write;
  insertSaid(shelf: Pick<Shelf, 'number'>, messages: readonly ShelvedMessage[]): Write;
}

interface PendingRow extends Row {
  session_id: string;
  seq: number;
  kind: EntryKind;
  at: string;
  body: string | null;
  size: number;
}

/** Why rows are read with no actor. */
const INDEXING = 'indexing of messages';

export const createCatalogueStore = (db: Db): CatalogueStore => {
  const [entries, sessions, shelves, spans] = [db.table('entries'), db.table('sessions'), db.table('shelves'), db.table('spans')];
  const waiting = `FROM ${entries} e JOIN ${sessions} s ON s.id = e.session_id WHERE e.pending = 1 ORDER BY e.at, e.session_id, e.seq LIMIT ?`;
  return {
    pending: async (limit, maxChars) => {
      const sizes = await db.system(INDEXING).read<{ size: number }>(`SELECT LENGTH(e.body) AS size ${waiting}`, [limit]);
      const fitting = fittingCount(
        sizes.map(({ size }) => Number(size)),
        maxChars,
      );
      if (fitting === 0) return { entries: [], hasMore: false };
      const rows = await db.system(INDEXING).read<PendingRow>(
        `SELECT e.session_id, e.seq, e.kind, e.at, CASE WHEN e.kind = 'tool_result' THEN NULL ELSE e.body END AS body, LENGTH(e.body) AS size, s.owner_id, s.agent_id, s.aside, s.branched_through,
         s.messages, s.context_chars, s.input_tokens, s.output_tokens, s.cost_micros, s.first_words, s.first_at, s.last_at, s.last_role ${waiting}`,
        [fitting],
      );
      return { entries: rows.map(toPending), hasMore: fitting === limit || fitting < sizes.length };
    },
    oldestPending: async () => (await db.system(INDEXING).readOne<{ at: string }>(`SELECT at FROM ${entries} WHERE pending = 1 ORDER BY at LIMIT 1`))?.at,
    shelves: async (ownerIds) => {
      const reads = idGroups(ownerIds).map((group) =>
        db.system(INDEXING).read<Row>(
          `SELECT h.owner_id, h.number, p.span, p.size, p.first_at, p.last_at FROM ${shelves} h LEFT JOIN ${spans} p ON p.owner_id = h.owner_id AND p.span = (SELECT MAX(span) FROM ${spans} WHERE owner_id = h.owner_id)
           WHERE h.owner_id IN (${group.map(() => '?').join(', ')})`,
          group,
        ),
      );
      return new Map((await Promise.all(reads)).flat().map((row) => [String(row.owner_id), toShelf(row)]));
    },
    highestNumber: async () => Number((await db.system(INDEXING).readOne<{ n: number | null }>(`SELECT MAX(number) AS n FROM ${shelves}`))?.n ?? 0),
    setFacts: (sessionId, facts) => db.update('sessions', ['id'], [{ id: sessionId, ...columnsOf(facts) }], { expect: 'each' }),
    markRead: (sessionId, seqs) =>
      groupsOf(seqs).map((group) =>
        db.sql(`UPDATE ${entries} SET pending = 0 WHERE session_id = ? AND pending = 1 AND seq IN (${group.filled.map(() => '?').join(', ')})`, [sessionId, ...group.filled], { expect: group.count }),
      ),
    insertShelf: (ownerId, number) => db.insert('shelves', [{ owner_id: ownerId, number }]),
    growSpan: (ownerId, span, from, messages, seen) => {
      const times = messages.map(({ at }) => at).sort();
      const [first = '', last = ''] = [times[0], times.at(-1)];
      if (!seen || seen.index !== span) return db.insert('spans', [{ owner_id: ownerId, span, size: messages.length, first_at: first, last_at: last }]);
      return db.sql(
        `UPDATE ${spans} SET size = ?, first_at = ?, last_at = ? WHERE owner_id = ? AND span = ? AND size = ?`,
        [from + messages.length, first < seen.firstAt ? first : seen.firstAt, last > seen.lastAt ? last : seen.lastAt, ownerId, span, from],
        { expect: 1 },
      );
    },
    insertSaid: ({ number }, messages) =>
      db.insert(
        'said',
        messages.map(({ ordinal, words, ...row }) => ({ id: placeOf(number, ordinal), session_id: row.sessionId, seq: row.seq, role: row.role, at: row.at, text: row.text, words: wordList(words) })),
      ),
  };
};

const fittingCount = (sizes: readonly number[], maxChars: number): number => {
  let chars = 0;
  for (const [index, size] of sizes.entries()) {
    chars += size;
    if (chars > maxChars) return Math.max(1, index);
  }
  return sizes.length;
};

/** Filled up to a power of two by repeating the last: few statement texts. */
function groupsOf(seqs: readonly number[]): Array<{ filled: number[]; count: number }> {
  return seqs.length === 0 ? [] : [{ filled: [...seqs, ...new Array<number>(2 ** Math.ceil(Math.log2(seqs.length)) - seqs.length).fill(seqs.at(-1) ?? 0)], count: seqs.length }];
}

const toPending = (row: PendingRow): PendingEntry => {
  const isInherited = row.seq <= Number(row.branched_through ?? 0);
  const body = row.body === null ? {} : bodyOf(row.body, isInherited);
  return {
    sessionId: row.session_id,
    seq: row.seq,
    ownerId: String(row.owner_id),
    agentId: String(row.agent_id),
    isAside: row.aside === 1,
    isInherited,
    facts: toFacts(row),
    entry: { ...body, kind: row.kind, at: row.at, seq: row.seq, chars: row.body === null ? Number(row.size) : charsOf(body) },
  };
};

/** What an entry used is counted in the session where it was said. */
const bodyOf = (text: string, isInherited: boolean): Partial<Entry> => {
  const { used, ...rest } = JSON.parse(text) as Partial<Entry>; // as the store wrote it
  return isInherited || used === undefined ? rest : { ...rest, used };
};

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);

export const toFacts = (row: Row): Facts => {
  const role = row.last_role;
  return {
    messages: Number(row.messages),
    contextChars: Number(row.context_chars),
    inputTokens: Number(row.input_tokens),
    outputTokens: Number(row.output_tokens),
    costMicros: Number(row.cost_micros),
    firstWords: textOrNull(row.first_words),
    firstAt: textOrNull(row.first_at),
    lastAt: textOrNull(row.last_at),
    lastRole: role === 'user' || role === 'assistant' || role === 'note' ? role : null,
  };
};

export const columnsOf = (facts: Facts): Row => ({
  messages: facts.messages,
  context_chars: facts.contextChars,
  input_tokens: facts.inputTokens,
  output_tokens: facts.outputTokens,
  cost_micros: facts.costMicros,
  first_words: facts.firstWords,
  first_at: facts.firstAt,
  last_at: facts.lastAt,
  last_role: facts.lastRole,
});

const toShelf = (row: Row): Shelf => ({
  number: Number(row.number),
  span: row.span === null ? undefined : { index: Number(row.span), size: Math.min(Number(row.size), SPAN_PLACES), firstAt: String(row.first_at), lastAt: String(row.last_at) },
});
