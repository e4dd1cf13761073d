/** Entries as rows: made, indexed, taken away with everything that was made of them. */
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { foldedText, isSvcError, type Origin, type Write } from '@svc/api';
import type { EntryRow, Level } from '../contract.js';
import { memoryErrors } from '../errors.js';
import type { MemoryDeps } from '../memory-deps.js';
import { dateWords, type WeighedText, weighTerms } from '../search/terms.js';
import { factOf } from './facts.js';
import { secretIn } from './secrets.js';

export const MAX_CONTENT = 20_000;
const NEIGHBOUR_WEIGHT = 0.1;
const DATE_WEIGHT = 0.4;
/** Places are random, so that two daemons never wait for each other's next number. */
const PLACES = 2 ** 47;

export interface Draft {
  readonly ownerId: string;
  readonly content: string;
  readonly agentId?: string;
  readonly userId?: string;
  readonly level?: Level;
  readonly category?: string | null;
  readonly tags?: readonly string[];
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly source: 'api' | 'tool' | 'conversation' | 'import' | 'wiki';
  readonly origin?: Origin;
  readonly sessionId?: string;
  readonly runId?: string;
  readonly role?: string;
  readonly confidence?: number;
  readonly createdAt?: string;
  readonly updatedAt?: string;
  readonly topic?: string;
  /** What was said before and after it: a little of it is found by these words, too. */
  readonly neighbours?: string;
}

/** Without control characters; ends of lines and tabs stay. */
export const cleaned = (content: string): string =>
  content
    .replace(/\r\n?/g, '\n')
    .replace(/[^\P{Cc}\n\t]/gu, '')
    .trim();

/** Throws `memory_empty`, `memory_too_large`. */
export const checkedContent = (content: string): string => {
  const text = cleaned(content);
  if (!/[^\s\p{C}]/u.test(text)) throw memoryErrors.empty();
  if (text.length > MAX_CONTENT) throw memoryErrors.too_large(text.length, MAX_CONTENT);
  return text;
};

/** The same for what a model wants to remember: throws `memory_secret`. A person decides for themselves. */
export const checkedByModel = (content: string): string => {
  const text = checkedContent(content);
  const rule = secretIn(text);
  if (rule !== undefined) throw memoryErrors.secret(rule);
  return text;
};

/** Of what makes two entries the same: scope and folded text. */
export const digestOf = (row: Pick<EntryRow, 'agent_id' | 'user_id' | 'level' | 'content' | 'topic'>): string =>
  createHash('sha256')
    .update([row.agent_id, row.user_id, row.level, row.topic, foldedText(row.content).replace(/\s+/g, ' ').trim()].join('\u0000'))
    .digest('hex')
    .slice(0, 40);

export const rowOf = ({ clock, ids }: Pick<MemoryDeps, 'clock' | 'ids'>, draft: Draft): EntryRow => {
  const now = clock.iso();
  const created = draft.createdAt ?? now;
  const updated = draft.updatedAt ?? created;
  const row = {
    place: Math.floor(ids.random() * PLACES),
    id: ids.uuid(),
    owner_id: draft.ownerId,
    agent_id: draft.agentId ?? '',
    user_id: draft.userId ?? '',
    level: draft.level ?? ((draft.userId ?? '') === '' ? 'agent' : 'user'),
    category: draft.category ?? null,
    content: draft.content,
    tags: JSON.stringify(draft.tags ?? []),
    metadata: JSON.stringify(draft.metadata ?? {}),
    source: draft.source,
    origin: draft.origin ? JSON.stringify(draft.origin) : null,
    session_id: draft.sessionId ?? '',
    run_id: draft.runId ?? '',
    role: draft.role ?? '',
    confidence: draft.confidence ?? 1,
    decayed: draft.confidence ?? 1,
    created_at: created,
    updated_at: updated,
    accessed_at: updated,
    access_count: 0,
    valid_from: created,
    fact: draft.source === 'wiki' ? '' : (factOf(draft.content)?.key ?? ''),
    superseded_by: null,
    superseded_at: null,
    archived: 0,
    archived_at: null,
    topic: draft.topic ?? '',
  };
  return { ...row, digest: digestOf(row) };
};

/** Whether a row has all that a draft says; `source` aside, and what it leaves open may be anything. */
export const isIdentical = (row: EntryRow, draft: Draft): boolean =>
  row.content === draft.content &&
  row.role === (draft.role ?? row.role) &&
  (draft.category === undefined || row.category === draft.category) &&
  row.confidence === (draft.confidence ?? row.confidence) &&
  row.created_at === (draft.createdAt ?? row.created_at) &&
  row.updated_at === (draft.updatedAt ?? row.updated_at) &&
  (draft.origin === undefined || isDeepStrictEqual(row.origin === null ? null : JSON.parse(row.origin), draft.origin)) &&
  (draft.tags === undefined || isDeepStrictEqual(JSON.parse(row.tags), draft.tags)) &&
  (draft.metadata === undefined || isDeepStrictEqual(JSON.parse(row.metadata), draft.metadata));

/** What an entry is found by. */
const partsOf = (row: EntryRow, neighbours: string): WeighedText[] => [
  { text: row.content, weight: 1 },
  { text: [row.topic, row.user_id, row.category ?? '', row.role === '' ? '' : row.role, ...(JSON.parse(row.tags) as string[])].join(' '), weight: 1 },
  { text: dateWords(row.created_at), weight: DATE_WEIGHT },
  { text: neighbours, weight: NEIGHBOUR_WEIGHT },
];

export const termWrites = ({ db }: Pick<MemoryDeps, 'db'>, row: EntryRow, neighbours = ''): Write[] => {
  const terms = [...weighTerms(partsOf(row, neighbours))];
  return terms.length === 0
    ? []
    : [
        db.insert(
          'terms',
          terms.map(([term, weight]) => ({ owner_id: row.owner_id, term, place: row.place, weight })),
          { ifAbsent: true },
        ),
      ];
};

/** Takes entries with their words, vectors and history, and where they were recalled. Edges: graph/fact-edges.ts. */
export const removalOf = ({ db }: Pick<MemoryDeps, 'db'>, ownerId: string, rows: ReadonlyArray<Pick<EntryRow, 'place'>>): Write[] => {
  if (rows.length === 0) return [];
  const places = rows.map(({ place }) => place);
  return [
    db.remove('terms', { place: places, owner_id: ownerId }),
    db.remove('vectors', { place: places, owner_id: ownerId }),
    db.remove('history', { place: places, owner_id: ownerId }),
    db.remove('recalls', { place: places, owner_id: ownerId }),
    db.remove('entries', { place: places, owner_id: ownerId }),
  ];
};

export const isConflict = (error: unknown): boolean => isSvcError(error) && error.code === 'storage_conflict';
