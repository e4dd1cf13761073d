/** All that sessions keep. Every query that touches people's data takes the actor. */
import { type Actor, type Db, type Row, type Write, idGroups } from '@svc/api';
import type { Entry, EntryDraft, RestoredSession, SessionCount, SessionRef } from './contract.js';
import { readEntries } from './entry-reads.js';
import { sessionsErrors } from './errors.js';
import { checkedTags, tagsText } from './tagging/tags.js';

export interface SessionRow {
  readonly id: string;
  readonly agentId: string;
  readonly ownerId: string;
  readonly label: string | null;
  readonly createdAt: string;
  readonly thinking: boolean | null;
  readonly model: { readonly provider: string; readonly model: string } | null;
  readonly isAside: boolean;
  readonly seq: number;
  /** Identifies the newest entry, so that a cache can tell whether it is still the same log. */
  readonly mark: string;
}

export interface SessionStore {
  counts(actor: Actor, agentIds: readonly string[], since: string): Promise<Record<string, SessionCount>>;
  total(actor: Actor): Promise<number>;
  /** Of an agent that the actor may see. */
  conversations(agentId: string): Promise<number>;
  find(actor: Actor, sessionId: string): Promise<SessionRow | undefined>;
  /** Entries after `after`, oldest first, at most `limit`. */
  entries(sessionId: string, after: number, limit: number): Promise<Entry[]>;
  lastSummary(sessionId: string): Promise<Entry | undefined>;
  /** One that is there stays as it is; one that was taken away conflicts. */
  insertSession(row: { id: string; agentId: string; ownerId: string; label: string | null; at: string; aside?: boolean | undefined }): Write;
  /** Whether the session was taken away. */
  isClosed(sessionId: string): Promise<boolean>;
  /** The first of them follows on the entry that the ref names as the newest, where it names one; whoever came between makes it a conflict. */
  insertEntries(ref: SessionRef, drafts: readonly EntryDraft[], at: string): Write[];
  /** The rows of conversations that were held elsewhere, with their entries. */
  restore(ownerId: string, sessions: readonly RestoredSession[]): Write[];
  newestOf(actor: Actor, sessionIds: readonly string[]): Promise<Record<string, number>>;
  agentOf(sessionId: string): Promise<string | undefined>;
  /** Newest first, two at most. */
  labelled(actor: Actor, agentId: string, label: string): Promise<SessionRow[]>;
  setThinking(sessionId: string, isOn: boolean | null): Write;
  setModel(sessionId: string, model: SessionRow['model']): Write;
  /** Names a session and the versions of its conversation that have no title yet. */
  setTitle(sessionId: string, title: string): Write;
  titleOf(sessionId: string): Promise<string | null>;
  eraseRecalled(sessionId: string, by: string, ids: ReadonlySet<string>): Promise<number>;
  discard(sessionId: string): Write[];
}

interface RawEntry {
  seq: number;
  kind: Entry['kind'];
  run_id: string | null;
  body: string;
  at: string;
}

/** Why entries are read with no actor. */
const ENTRIES = 'entries of a session that was looked up for its actor';
/** In place of what was recalled and is forgotten. */
const ERASED = '[erased]';
const ENTRY_COLUMNS = ['seq', 'kind', 'run_id', 'body', 'at'];

export const createSessionStore = (db: Db): SessionStore => {
  const sessions = db.table('sessions');
  const entries = db.table('entries');
  const closed = db.table('closed');
  // The assignment that changes nothing makes it one row for one that exists, too.
  const insertSession: SessionStore['insertSession'] = (row) =>
    db.sql(
      `INSERT INTO ${sessions}(id, agent_id, owner_id, label, created_at, aside) SELECT ?, ?, ?, ?, ?, ? WHERE NOT EXISTS (SELECT 1 FROM ${closed} WHERE id = ?) ON CONFLICT (id) DO UPDATE SET id = excluded.id`,
      [row.id, row.agentId, row.ownerId, row.label, row.at, row.aside ? 1 : null, row.id],
      { expect: 1 },
    );
  // Nobody else added to it meanwhile: the entries that follow would have other numbers.
  const FOLLOWS = `UPDATE ${sessions} SET id = id WHERE id = ? AND (SELECT MAX(e.seq) FROM ${entries} e WHERE e.session_id = ?) = ?`;
  return {
    counts: async (actor, agentIds, since) => {
      const reads = idGroups(agentIds).map((group) =>
        db.as(actor).read<{ agent_id: string; n: number | string; recent: number | string }>(
          `SELECT agent_id, COUNT(*) AS n, SUM(CASE WHEN created_at >= ? THEN 1 ELSE 0 END) AS recent FROM ${sessions}
           WHERE agent_id IN (${group.map(() => '?').join(', ')}) GROUP BY agent_id`,
          [since, ...group],
        ),
      );
      // PostgreSQL gives counts as text.
      return Object.fromEntries((await Promise.all(reads)).flat().map(({ agent_id, n, recent }) => [agent_id, { all: Number(n), recent: Number(recent) }]));
    },
    total: (actor) => db.as(actor).count('sessions', { aside: null }),
    conversations: async (agentId) => {
      const sql = `SELECT COUNT(DISTINCT COALESCE(s.conversation_id, s.id)) AS n FROM ${sessions} s WHERE s.agent_id = ? AND s.aside IS NULL AND s.messages > 0`;
      return Number((await db.system('conversations of an agent that the actor may see').readOne<{ n: number | string }>(sql, [agentId]))?.n ?? 0);
    },
    find: async (actor, sessionId) => {
      const row = await db.as(actor).readOne<Row>(
        `SELECT s.id, s.agent_id, s.owner_id, s.label, s.created_at, s.thinking, s.model_provider, s.model_name, s.aside, e.seq AS seq, e.at AS at, e.run_id AS run_id
         FROM ${sessions} s LEFT JOIN ${entries} e ON e.session_id = s.id AND e.seq = (SELECT MAX(seq) FROM ${entries} WHERE session_id = s.id)
         WHERE s.id = ? AND NOT EXISTS (SELECT 1 FROM ${closed} c WHERE c.id = s.id)`,
        [sessionId],
      );
      return row ? toSession(row) : undefined;
    },
    entries: async (sessionId, after, limit) => (await readEntries<RawEntry>(db.system(ENTRIES), ENTRY_COLUMNS, sessionId, after, limit)).map((row) => toEntry(sessionId, row)),
    lastSummary: async (sessionId) => {
      const row = await db
        .system(ENTRIES)
        .first<RawEntry>({ from: 'entries', columns: ENTRY_COLUMNS, where: { session_id: sessionId, kind: 'summary' }, order: [{ column: 'seq', descending: true }] });
      return row ? toEntry(sessionId, row) : undefined;
    },
    insertSession,
    isClosed: async (sessionId) => (await db.system('sessions that were taken away').first({ from: 'closed', columns: ['id'], where: { id: sessionId } })) !== undefined,
    insertEntries: (ref, drafts, at) => {
      const rows = drafts.map((draft, index) => ({
        session_id: ref.id,
        seq: ref.seq + 1 + index,
        kind: draft.kind,
        run_id: draft.runId,
        body: JSON.stringify(bodyOf(draft)),
        at,
        pending: ref.aside ? 0 : 1,
      }));
      const [first, ...rest] = rows;
      if (!first) return [];
      if (ref.seq === 0 || ref.mark === undefined) return [db.insert('entries', rows)];
      const follows = db.sql(
        `INSERT INTO ${entries}(session_id, seq, kind, run_id, body, at, pending) SELECT ?, ?, ?, ?, ?, ?, ? WHERE EXISTS (SELECT 1 FROM ${entries} WHERE session_id = ? AND seq = ? AND seq || '/' || COALESCE(run_id, '') || '/' || at = ?)`,
        [first.session_id, first.seq, first.kind, first.run_id, first.body, first.at, first.pending, ref.id, ref.seq, ref.mark],
        { expect: 1 },
      );
      return rest.length === 0 ? [follows] : [follows, db.insert('entries', rest)];
    },
    restore: (ownerId, restored) => {
      const begun = restored.filter(({ after }) => after === 0);
      const rows = restored.flatMap((session) => restoredEntries(session));
      return [
        ...begun.map(({ id, agentId, label, createdAt }) => insertSession({ id, agentId, ownerId, label, at: createdAt })),
        ...(begun.length === 0 ? [] : [db.update('sessions', ['id'], begun.map(restoredColumns), { expect: 'each' })]),
        ...restored.filter(({ after }) => after > 0).map(({ id, after }) => db.sql(FOLLOWS, [id, id, after], { expect: 1 })),
        ...(rows.length === 0 ? [] : [db.insert('entries', rows)]),
      ];
    },
    newestOf: async (actor, sessionIds) => {
      const reads = idGroups(sessionIds).map((group) =>
        db
          .as(actor)
          .read<{ id: string; seq: number | null }>(
            `SELECT s.id, (SELECT MAX(e.seq) FROM ${entries} e WHERE e.session_id = s.id) AS seq FROM ${sessions} s WHERE s.id IN (${group.map(() => '?').join(', ')})`,
            group,
          ),
      );
      return Object.fromEntries((await Promise.all(reads)).flat().map(({ id, seq }) => [id, Number(seq ?? 0)]));
    },
    agentOf: async (sessionId) => (await db.system('whose agent a session is').first<{ agent_id: string }>({ from: 'sessions', columns: ['agent_id'], where: { id: sessionId } }))?.agent_id,
    labelled: async (actor, agentId, label) => {
      const rows = await db.as(actor).read<Row>(
        `SELECT s.id, s.agent_id, s.owner_id, s.label, s.created_at, s.thinking, s.model_provider, s.model_name, e.seq AS seq, e.at AS at, e.run_id AS run_id
         FROM ${sessions} s LEFT JOIN ${entries} e ON e.session_id = s.id AND e.seq = (SELECT MAX(seq) FROM ${entries} WHERE session_id = s.id)
         WHERE s.agent_id = ? AND s.label = ? ORDER BY s.created_at DESC, s.id LIMIT 2`,
        [agentId, label],
      );
      return rows.map(toSession);
    },
    setThinking: (sessionId, isOn) => db.update('sessions', ['id'], [{ id: sessionId, thinking: isOn === null ? null : isOn ? 1 : 0 }], { expect: 'each' }),
    setModel: (sessionId, model) => db.update('sessions', ['id'], [{ id: sessionId, model_provider: model?.provider ?? null, model_name: model?.model ?? null }], { expect: 'each' }),
    setTitle: (sessionId, title) =>
      db.sql(`UPDATE ${sessions} SET title = ? WHERE title IS NULL AND (id = ? OR conversation_id = (SELECT s.conversation_id FROM ${sessions} s WHERE s.id = ?))`, [title, sessionId, sessionId]),
    titleOf: async (sessionId) =>
      (await db.system('the title of a session that was looked up for its actor').first<{ title: string | null }>({ from: 'sessions', columns: ['title'], where: { id: sessionId } }))?.title ?? null,
    eraseRecalled: async (sessionId, by, ids) => {
      const rows = await db.system(ENTRIES).select<{ seq: number; body: string }>({ from: 'entries', columns: ['seq', 'body'], where: { session_id: sessionId, kind: 'recall' } });
      const erased = rows.flatMap(({ seq, body }) => {
        const draft = JSON.parse(body) as Partial<EntryDraft>;
        if (draft.recalled?.by !== by || !ids.has(draft.recalled.id)) return [];
        return [{ session_id: sessionId, seq, body: JSON.stringify({ ...draft, content: ERASED }) }];
      });
      if (erased.length > 0) await db.commit([db.update('entries', ['session_id', 'seq'], erased)]);
      return erased.length;
    },
    discard: (sessionId) => [db.remove('entries', { session_id: sessionId }), db.remove('said', { session_id: sessionId }), db.remove('sessions', { id: sessionId })],
  };
};

const restoredEntries = ({ id, after, entries }: RestoredSession): Row[] =>
  entries.map(({ at, ...draft }, index) => ({
    session_id: id,
    seq: after + 1 + index,
    kind: draft.kind,
    run_id: draft.runId,
    body: JSON.stringify(bodyOf(draft)),
    at,
    pending: 1,
  }));

const restoredColumns = ({ id, tags, isArchived, branch, isUnchosen }: RestoredSession): Row => ({
  id,
  tags: tagsText(checkedTags(tags)),
  archived: isArchived ? 1 : null,
  branched_from: branch?.from ?? null,
  branched_through: branch?.through ?? null,
  conversation_id: branch?.conversation ?? null,
  unchosen: isUnchosen ? 1 : null,
});

const toSession = (row: Row): SessionRow => ({
  id: String(row.id),
  agentId: String(row.agent_id),
  ownerId: String(row.owner_id),
  label: row.label === null ? null : String(row.label),
  createdAt: String(row.created_at),
  thinking: row.thinking === null ? null : Number(row.thinking) === 1,
  model: row.model_name === null ? null : { provider: String(row.model_provider), model: String(row.model_name) },
  isAside: row.aside === 1,
  seq: Number(row.seq ?? 0),
  mark: markOf({ seq: Number(row.seq ?? 0), runId: row.run_id === null ? null : String(row.run_id), at: String(row.at ?? '') }),
});

/** As `insertEntries` reads it from the database. */
export const markOf = ({ seq, runId, at }: Pick<Entry, 'seq' | 'runId' | 'at'>): string => `${seq}/${runId ?? ''}/${at}`;

const bodyOf = ({ kind: _kind, runId: _runId, ...body }: EntryDraft): object => body;

function toEntry(sessionId: string, row: RawEntry): Entry {
  try {
    return { ...(JSON.parse(row.body) as object), seq: row.seq, kind: row.kind, runId: row.run_id, at: row.at };
  } catch (cause) {
    throw sessionsErrors.row_unreadable(sessionId, row.seq).with({ cause });
  }
}
