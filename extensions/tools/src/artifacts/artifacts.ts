/**
 * Results that are too long for a model are stored whole, and read back page by page.
 *
 * R1  An artifact is read by the agent whose call made it, for that agent's owner, and by nobody else.
 * R2  Its id is made of the run and the call: a call that a restart repeats replaces its artifact, and never adds a second one.
 * R3  Where its text came from is stored with it and given with each page.
 * R4  It goes with its session, its agent and its owner, when it is too old, and when the agent has newer ones that need the room.
 * R5  A text is written and read in pieces: no copy of it as a whole is made.
 */
import { createHash } from 'node:crypto';
import type { CallFacts, Clock, Db, Origin, TaintLabel, Write } from '@svc/api';
import { withoutHalf } from '../result-size.js';
import type { ArtifactRow, PieceRow } from './artifact-rows.js';

export interface ArtifactLimits {
  readonly max_artifact_bytes: number;
  readonly max_agent_bytes: number;
  readonly artifact_max_age_days: number;
}

export interface StoredArtifact {
  readonly id: string;
  readonly bytes: number;
  readonly chars: number;
  /** Of the whole result. */
  readonly totalChars: number;
}

export interface ArtifactPage {
  readonly tool: string;
  readonly text: string;
  readonly offset: number;
  /** Where the next page begins; null at the end. */
  readonly next: number | null;
  readonly chars: number;
  readonly totalChars: number;
  readonly origin?: Origin;
}

type Maker = Pick<CallFacts, 'callId' | 'runId' | 'agentId' | 'sessionId' | 'actor'>;
/** Whose artifacts are looked at. */
export type ArtifactOwner = Pick<CallFacts, 'agentId' | 'actor'>;

export interface Artifacts {
  idOf(call: Pick<Maker, 'runId' | 'callId'>): string;
  store(call: Maker, result: { readonly tool: string; readonly text: string; readonly origin?: Origin }): Promise<StoredArtifact>;
  /** Undefined where this agent has none of this id. */
  read(owner: ArtifactOwner, id: string, offset: number, length: number): Promise<ArtifactPage | undefined>;
  /** Writes that delete those of a session. */
  forget(sessionId: string): readonly Write[];
  /** Deletes those that are too old. */
  prune(): Promise<void>;
}

export interface ArtifactDeps {
  readonly db: Db;
  readonly clock: Pick<Clock, 'iso' | 'now'>;
  readonly limits: () => ArtifactLimits;
}

export const ARTIFACT_ID = /^art_[0-9a-f]{32}$/;
const PIECE_CHARS = 65_536;
/** One commit holds so many; others write between them. */
const PIECES_PER_COMMIT = 16;
/** Of one agent. */
const MAX_ARTIFACTS = 1_000;
const PRUNED_AT_ONCE = 200;
const DAY_MS = 86_400_000;

export const createArtifacts = ({ db, clock, limits }: ArtifactDeps): Artifacts => {
  const removal = (ids: readonly string[]) => [db.remove('artifact_pieces', { artifact_id: ids }), db.remove('artifacts', { id: ids })];

  const makeRoom = async (agentId: string, newest: string): Promise<void> => {
    const rows = await db.system('how much the results of an agent take').select<Pick<ArtifactRow, 'id' | 'bytes'>>({
      from: 'artifacts',
      columns: ['id', 'bytes'],
      where: { agent_id: agentId },
      order: [{ column: 'created_at', descending: true }],
      limit: MAX_ARTIFACTS + 100,
    });
    let left = limits().max_agent_bytes - (rows.find(({ id }) => id === newest)?.bytes ?? 0);
    const others = rows.filter(({ id }) => id !== newest);
    const old = others.filter(({ bytes }, index) => {
      left -= bytes;
      return left < 0 || index >= MAX_ARTIFACTS - 1;
    });
    if (old.length > 0) await db.commit(removal(old.map(({ id }) => id)));
  };

  return {
    idOf,
    store: async (call, { tool, text, origin }) => {
      const id = idOf(call);
      const { agentId, sessionId, actor } = call;
      const of = { owner_id: actor.ownerId, agent_id: agentId, session_id: sessionId };
      const most = Math.min(limits().max_artifact_bytes, limits().max_agent_bytes);
      await db.commit(removal([id]));
      let bytes = 0;
      let chars = 0;
      for (let n = 0; chars < text.length; ) {
        const pieces: PieceRow[] = [];
        for (; pieces.length < PIECES_PER_COMMIT && chars < text.length; n++) {
          const piece = fitting(text.slice(chars, chars + PIECE_CHARS), most - bytes);
          if (piece === '') break;
          pieces.push({ artifact_id: id, n, ...of, piece: JSON.stringify(piece) });
          bytes += Buffer.byteLength(piece);
          chars += piece.length;
        }
        if (pieces.length > 0) await db.commit([db.insert('artifact_pieces', pieces)]);
        if (pieces.length < PIECES_PER_COMMIT || bytes >= most) break;
      }
      const from = { labels: origin ? origin.labels.join(' ') : null, source: origin?.source ?? null, from_session: origin?.sessionId ?? null };
      await db.commit([db.insert('artifacts', [{ id, ...of, tool, bytes, chars, total_chars: text.length, ...from, created_at: clock.iso() }])]);
      await makeRoom(agentId, id);
      return { id, bytes, chars, totalChars: text.length };
    },
    read: async ({ agentId, actor }, id, offset, length) => {
      const row = await db.as(actor).first<ArtifactRow>({ from: 'artifacts', where: { id, agent_id: agentId, owner_id: actor.ownerId } });
      if (!row) return undefined;
      const end = Math.min(row.chars, offset + length);
      const about = { tool: row.tool, offset, chars: row.chars, totalChars: row.total_chars, ...originOf(row) };
      if (offset >= end) return { ...about, text: '', next: null };
      const first = Math.floor(offset / PIECE_CHARS);
      const pieces = await db.as(actor).select<Pick<PieceRow, 'n' | 'piece'>>({
        from: 'artifact_pieces',
        columns: ['n', 'piece'],
        where: { artifact_id: id, n: { gte: first, lte: Math.floor((end - 1) / PIECE_CHARS) } },
        order: [{ column: 'n' }],
        limit: 10_000,
      });
      const read = pieces.map(({ piece }) => String(JSON.parse(piece))).join('');
      const text = withoutHalf(read.slice(offset - first * PIECE_CHARS, end - first * PIECE_CHARS));
      return { ...about, text, next: offset + text.length < row.chars ? offset + text.length : null };
    },
    forget: (sessionId) => [db.remove('artifact_pieces', { session_id: sessionId }), db.remove('artifacts', { session_id: sessionId })],
    prune: async () => {
      const before = new Date(clock.now() - limits().artifact_max_age_days * DAY_MS).toISOString();
      for (;;) {
        const old = await db.system('results that are too old').select<{ id: string }>({ from: 'artifacts', columns: ['id'], where: { created_at: { lt: before } }, limit: PRUNED_AT_ONCE });
        if (old.length === 0) return;
        await db.commit(removal(old.map(({ id }) => id)));
      }
    },
  };
};

/** Nobody who does not know the run can name it, and a call that is repeated has the same. */
const idOf = ({ runId, callId }: Pick<Maker, 'runId' | 'callId'>): string => `art_${createHash('sha256').update(`${runId}|${callId}`).digest('hex').slice(0, 32)}`;

/** As much of it as fits, in whole characters. */
const fitting = (piece: string, bytes: number): string => {
  if (Buffer.byteLength(piece) <= bytes) return piece;
  let [low, high] = [0, piece.length];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (Buffer.byteLength(piece.slice(0, middle)) <= bytes) low = middle;
    else high = middle - 1;
  }
  return withoutHalf(piece.slice(0, low));
};

// The column holds what `store` wrote.
const originOf = ({ labels, source, from_session: sessionId }: ArtifactRow): { origin?: Origin } =>
  labels === null ? {} : { origin: { labels: labels.split(' ').filter((label) => label !== '') as TaintLabel[], source: source ?? '', ...(sessionId === null ? {} : { sessionId }) } };
