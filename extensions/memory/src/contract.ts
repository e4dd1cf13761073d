/** What memory stores, and what it declares to other areas: an embedder gives texts a place by their meaning. */
import { Actor, defineEvent, defineService, defineTable, defineWork, method, OneOf, type Plain, type RowOf, type Service, Type } from '@svc/api';

const text = { kind: 'text', notNull: true } as const;
const optional = { kind: 'text' } as const;
const number = { kind: 'real', notNull: true } as const;

export const LEVELS = ['user', 'session', 'agent'] as const;
export type Level = (typeof LEVELS)[number];

/** An empty `agent_id` stands for all agents of the owner. Texts that may be missing are empty, so that they can be compared in SQL. */
export const EntryRows = defineTable('entries', '1.0.0', {
  columns: {
    /** Random: what the indexes of words and vectors name an entry by. */
    place: { kind: 'integer', primaryKey: true },
    id: { kind: 'text', notNull: true, unique: true },
    owner_id: text,
    agent_id: text,
    user_id: text,
    level: text,
    category: optional,
    content: text,
    tags: { kind: 'json', notNull: true },
    metadata: { kind: 'json', notNull: true },
    /** `api`, `tool`, `conversation`, `import`, `wiki`. */
    source: text,
    /** The labels and the source of its Origin, as JSON; null for text that nobody else wrote. */
    origin: { kind: 'json' },
    session_id: text,
    run_id: text,
    /** Who said it: `user` or `assistant`; empty for what was not said in a conversation. */
    role: text,
    /** Before decay. */
    confidence: number,
    /** As the last sweep computed it, for sorting and the cap. */
    decayed: number,
    created_at: text,
    updated_at: text,
    accessed_at: text,
    access_count: { kind: 'integer', notNull: true, default: 0 },
    valid_from: text,
    /** Hash of what makes two entries the same. */
    digest: text,
    /** Subject and relation of a fact that has one value at a time; empty for others. */
    fact: text,
    superseded_by: optional,
    superseded_at: optional,
    archived: { kind: 'integer', notNull: true, default: 0 },
    archived_at: optional,
    /** Of a page of the wiki: its name, folded. */
    topic: text,
  },
  owner: 'owner_id',
  agent: 'agent_id',
  indexes: [
    ['owner_id', 'archived', 'created_at'],
    ['owner_id', 'agent_id', 'created_at'],
    ['owner_id', 'digest'],
    ['owner_id', 'fact'],
    ['owner_id', 'topic'],
    ['agent_id'],
    ['session_id'],
    ['archived', 'archived_at'],
    ['level', 'created_at'],
  ],
});
export type EntryRow = RowOf<typeof EntryRows>;

export const HistoryRows = defineTable('history', '1.0.0', {
  columns: { id: { kind: 'text', primaryKey: true }, place: { kind: 'integer', notNull: true }, owner_id: text, content: text, replaced_at: text },
  owner: 'owner_id',
  through: { table: EntryRows, column: 'place' },
  indexes: [['place', 'replaced_at']],
});
export type HistoryRow = RowOf<typeof HistoryRows>;

/** Which entry has which word, and how much that counts. Rows of one owner, so that other people's words change no rank. */
export const TermRows = defineTable('terms', '1.0.0', {
  columns: { owner_id: text, term: text, place: { kind: 'integer', notNull: true }, weight: number },
  primaryKey: ['owner_id', 'term', 'place'],
  owner: 'owner_id',
  through: { table: EntryRows, column: 'place' },
  indexes: [['place']],
});

/** A vector in whole numbers from -127 to 127, as Base64. `model` is the identity of what made it. */
export const VectorRows = defineTable('vectors', '1.0.0', {
  columns: { place: { kind: 'integer', primaryKey: true }, owner_id: text, model: text, vector: text },
  owner: 'owner_id',
  through: { table: EntryRows, column: 'place' },
  indexes: [['owner_id', 'model', 'place'], ['model']],
});

/** Into which conversations an entry was recalled, so that erasing it reaches there. */
export const RecallRows = defineTable('recalls', '1.0.0', {
  columns: { place: { kind: 'integer', notNull: true }, session_id: text, owner_id: text, at: text },
  primaryKey: ['place', 'session_id'],
  owner: 'owner_id',
  session: 'session_id',
  through: { table: EntryRows, column: 'place' },
  indexes: [['session_id'], ['owner_id']],
});
export type RecallRow = RowOf<typeof RecallRows>;

/** An empty `agent_id` holds what all agents of the owner share: the keys `shared.*`. */
export const KvRows = defineTable('kv', '1.0.0', {
  columns: { owner_id: text, agent_id: text, key: text, value: { kind: 'json', notNull: true }, updated_at: text },
  primaryKey: ['owner_id', 'agent_id', 'key'],
  owner: 'owner_id',
  agent: 'agent_id',
  indexes: [['agent_id']],
});
export type KvRow = RowOf<typeof KvRows>;

export const EntityRows = defineTable('entities', '1.0.0', {
  columns: { id: { kind: 'text', primaryKey: true }, owner_id: text, agent_id: text, folded: text, name: text, entity_type: text, properties: { kind: 'json', notNull: true }, created_at: text },
  unique: [['owner_id', 'agent_id', 'folded']],
  owner: 'owner_id',
  agent: 'agent_id',
  indexes: [['agent_id']],
});
export type EntityRow = RowOf<typeof EntityRows>;

export const EdgeRows = defineTable('edges', '1.0.0', {
  columns: {
    id: { kind: 'text', primaryKey: true },
    owner_id: text,
    agent_id: text,
    source_id: text,
    relation: text,
    target_id: text,
    confidence: number,
    properties: { kind: 'json', notNull: true },
    /** Where it is from: `api`, `tool`, or the id of an entry. */
    source: text,
    run_id: text,
    created_at: text,
    updated_at: text,
  },
  unique: [['owner_id', 'agent_id', 'source_id', 'relation', 'target_id']],
  owner: 'owner_id',
  agent: 'agent_id',
  indexes: [['agent_id'], ['source_id'], ['target_id'], ['owner_id', 'source']],
});
export type EdgeRow = RowOf<typeof EdgeRows>;

/** Ids alone, nothing of what an entry says. Without places, anything of this owner may have changed. */
export const MemoryChanged = defineEvent(
  'memory.changed',
  '1.0.0',
  Type.Object({
    ownerId: Type.String(),
    agentId: Type.Optional(Type.String()),
    id: Type.Optional(Type.String()),
    places: Type.Optional(Type.Array(Type.Number())),
    change: OneOf(['added', 'changed', 'deleted']),
    key: Type.Optional(Type.String({ description: 'The key of a key-value pair that changed' })),
  }),
  { what: 'memory', permission: 'memory.read', owner: 'ownerId', id: 'id', agent: 'agentId', state: 'change' },
);
export type MemoryChange = Plain<(typeof MemoryChanged)['data']>;

/** Facts are taken from what was said in a run. */
export const Extraction = defineWork('memory-extraction', '1.0.0', {
  input: Type.Object({ agentId: Type.String(), sessionId: Type.String(), runId: Type.String() }),
  result: Type.Object({ added: Type.Integer() }),
});

/** Vectors are made for entries that have none. */
export const Indexing = defineWork('memory-index', '1.0.0', { input: Type.Object({}), result: Type.Object({ indexed: Type.Integer() }) });

/** The built-in embedder: no key, no network, no cost. */
export const Embedder = defineService('embedder', '1.0.0', {
  /** Identity of the vectors: those of another identity are never compared with them. */
  model: method([], Type.Object({ id: Type.String(), dimensions: Type.Integer() })),
  /** One vector for each text, in their order, of length 1; all zeros for a text that it knows no part of. */
  embed: method([Type.Array(Type.String())], Type.Array(Type.Array(Type.Number()))),
});
export type EmbedderService = Service<typeof Embedder>;

/** What other areas read and tidy. */
export const Memory = defineService('memory', '1.1.0', {
  /** Values of these keys of an agent; a key without a value is left out. */
  pairs: method([Actor, Type.String({ description: 'Agent id' }), Type.Array(Type.String())], Type.Record(Type.String(), Type.Unknown()), { what: 'reads what your agents remember' }),
  /** What an agent remembers: how many entries and keys, and the newest entries. */
  overview: method(
    [Actor, Type.String({ description: 'Agent id' }), Type.Integer({ description: 'Newest entries, at most' })],
    Type.Object({ entries: Type.Integer(), keys: Type.Array(Type.String()), newest: Type.Array(Type.String()) }),
    { what: 'reads what your agents remember' },
  ),
  /** Adds entries as POST /api/memory/agents/{id}/import takes them; of rows with a date, those identical to one that is there are not added again, of others those with a text that is there. Answers which are new, in their order. Throws `memory_bad_row`. */
  add: method([Actor, Type.String({ description: 'Agent id' }), Type.Array(Type.Record(Type.String(), Type.Unknown()))], Type.Array(Type.Boolean()), {
    what: 'adds to what your agents remember',
    changes: true,
  }),
  /** Sets keys of an agent. Throws `memory_bad_key`, `memory_value_too_large`, `memory_full`. */
  setPairs: method([Actor, Type.String({ description: 'Agent id' }), Type.Record(Type.String(), Type.Unknown())], Type.Void(), { what: 'changes what your agents remember', changes: true }),
  /** Archives entries that say the same as a newer one. Answers how many. */
  consolidate: method([Actor, Type.String({ description: 'Agent id' })], Type.Integer(), { what: 'archives duplicates of what your agents remember', changes: true }),
});
export type MemoryService = Service<typeof Memory>;
