/** Entries and relations as the routes answer them. */
import { Nullable, OneOf, type Plain, TaintLabel, Type, Uuid } from '@svc/api';
import { type EntryRow, LEVELS } from '../contract.js';
import type { Match } from '../graph/graph.js';
import type { Found } from '../search/search.js';

const Time = Type.String({ format: 'date-time' });
export const Count = Type.Integer({ minimum: 0 });
export const LevelText = OneOf(LEVELS, {
  description: 'Importance level: `user` for what concerns a person, `agent` for what an agent should know, `session` for what is forgotten after [proactive_memory] session_ttl_hours',
});

export const Memory = Type.Object(
  {
    id: Uuid,
    content: Type.String(),
    level: LevelText,
    category: Nullable(Type.String()),
    tags: Type.Array(Type.String()),
    metadata: Type.Record(Type.String(), Type.Unknown()),
    agent_id: Nullable(Uuid, { description: 'null: for all agents of the owner' }),
    user_id: Nullable(Type.String(), { description: 'A label for the person spoken of' }),
    source: Type.String({ description: 'How it came here: api, tool, conversation, import or wiki' }),
    origin: Nullable(Type.Object({ labels: Type.Array(TaintLabel), source: Type.String() }), { description: 'Set for text that somebody else wrote, such as a web page' }),
    session_id: Nullable(Type.String(), { description: 'The conversation in which it was said' }),
    run_id: Nullable(Type.String()),
    role: Nullable(Type.String(), { description: 'Who said it: user or assistant' }),
    confidence: Type.Number({ minimum: 0, maximum: 1, description: 'Falls with the time since it was last used' }),
    created_at: Time,
    updated_at: Time,
    accessed_at: Time,
    access_count: Count,
    valid_from: Time,
    superseded_by: Nullable(Type.String(), { description: 'The entry that says what holds now' }),
    superseded_at: Nullable(Time),
    archived: Type.Boolean(),
  },
  { 'x-name': 'MemoryEntry' },
);
export type Memory = Plain<typeof Memory>;

export const FoundMemory = Type.Object(
  {
    ...Memory.properties,
    score: Type.Number({ minimum: 0, maximum: 1, description: 'How well it fits, compared with the best possible' }),
    why: Type.Array(OneOf(['words', 'vector', 'relation', 'time']), { description: 'What found it: its words, its meaning (vector), or an entity of the graph that the question names' }),
  },
  { 'x-name': 'FoundMemoryEntry' },
);

const orNull = (text: string): string | null => (text === '' ? null : text);

export const shown = (row: EntryRow, confidence: number): Memory => {
  const origin = row.origin === null ? null : (JSON.parse(row.origin) as NonNullable<Memory['origin']>);
  return {
    id: row.id,
    content: row.content,
    level: row.level as Memory['level'],
    category: row.category,
    tags: JSON.parse(row.tags) as string[],
    metadata: JSON.parse(row.metadata) as Record<string, unknown>,
    agent_id: orNull(row.agent_id),
    user_id: orNull(row.user_id),
    source: row.source,
    origin: origin && { labels: origin.labels, source: origin.source },
    session_id: orNull(row.session_id),
    run_id: orNull(row.run_id),
    role: orNull(row.role),
    confidence,
    created_at: row.created_at,
    updated_at: row.updated_at,
    accessed_at: row.accessed_at,
    access_count: row.access_count,
    valid_from: row.valid_from,
    superseded_by: row.superseded_by,
    superseded_at: row.superseded_at,
    archived: row.archived === 1,
  };
};

export const shownFound = ({ row, score, why }: Found, confidence: number) => ({ ...shown(row, confidence), score: Math.min(1, score), why: [...why] });

const Entity = Type.Object({ id: Uuid, name: Type.String(), entity_type: Type.String() });
export const Relation = Type.Object(
  {
    source: Entity,
    relation: Type.Object({
      type: Type.String(),
      confidence: Type.Number(),
      source: Type.String({ description: 'Where it is from: api, tool, or the id of an entry' }),
      is_past: Type.Boolean({ description: 'true: the entry that it is from was replaced or archived' }),
      created_at: Time,
      updated_at: Time,
    }),
    target: Entity,
  },
  { 'x-name': 'MemoryRelation' },
);

export const shownRelation = ({ edge, source, target, isPast }: Match): Plain<typeof Relation> => ({
  source: { id: source.id, name: source.name, entity_type: source.entity_type },
  relation: { type: edge.relation, confidence: edge.confidence, source: edge.source, is_past: isPast, created_at: edge.created_at, updated_at: edge.updated_at },
  target: { id: target.id, name: target.name, entity_type: target.entity_type },
});

/** What still holds the text of an entry that was erased. */
export const StillHeld = Type.Array(Type.Object({ kind: OneOf(['conversation', 'backups']), id: Nullable(Type.String()), note: Type.String() }), {
  description: 'What still holds what was erased: the conversation in which it was said, and backups made before',
});

export const stillHeld = (rows: readonly EntryRow[], recalledInto: readonly string[] = []): Plain<typeof StillHeld> => [
  ...[...new Set(rows.map((row) => row.session_id).filter((id) => id !== ''))].map((id) => ({
    kind: 'conversation' as const,
    id,
    note: 'It was said in this conversation; delete the conversation to erase it there.',
  })),
  ...recalledInto
    .filter((id) => !rows.some((row) => row.session_id === id))
    .map((id) => ({ kind: 'conversation' as const, id, note: 'It was recalled into this conversation and is erased there; an answer may repeat it.' })),
  { kind: 'backups' as const, id: null, note: 'Backups made before still hold it until they are deleted.' },
];
