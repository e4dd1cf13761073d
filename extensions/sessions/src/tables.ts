/** The tables of sessions, and whose their rows are. */
import { defineTable, type RowOf } from '@svc/api';

/** The columns behind `thinking` are written by the catalogue (catalogue/catalogue.ts) from what was said. */
export const SessionRows = defineTable('sessions', '1.4.0', {
  columns: {
    id: { kind: 'text', primaryKey: true },
    agent_id: { kind: 'text', notNull: true },
    owner_id: { kind: 'text', notNull: true },
    label: { kind: 'text' },
    /** By a model; the label stands before it. */
    title: { kind: 'text' },
    created_at: { kind: 'text', notNull: true },
    /** Whether the model thinks before it answers in this session; null is what the agent's manifest says. */
    thinking: { kind: 'integer' },
    /** The model that answers in it; null is the agent's. */
    model_provider: { kind: 'text' },
    model_name: { kind: 'text' },
    /** 1: put away; lists leave it out unless they are asked for it. */
    archived: { kind: 'integer' },
    /** Between commas: see tagging/tags.ts. */
    tags: { kind: 'text' },
    /** 1: of a message beside a conversation. It is in no list and no search, and goes when its run ends. */
    aside: { kind: 'integer' },
    /** The session that it goes on from, and the last entry that both have. */
    branched_from: { kind: 'text' },
    branched_through: { kind: 'integer' },
    /** The first of the sessions that were branched from each other; null where there is only this one. */
    conversation_id: { kind: 'text' },
    /** 1: another version of its conversation was chosen. */
    unchosen: { kind: 'integer' },
    messages: { kind: 'integer', notNull: true, default: 0 },
    /** Letters that a model would read of it. */
    context_chars: { kind: 'integer', notNull: true, default: 0 },
    input_tokens: { kind: 'integer', notNull: true, default: 0 },
    output_tokens: { kind: 'integer', notNull: true, default: 0 },
    cost_micros: { kind: 'integer', notNull: true, default: 0 },
    /** The beginning of what was said first, in place of a label. */
    first_words: { kind: 'text' },
    first_at: { kind: 'text' },
    last_at: { kind: 'text' },
    /** Who speaks in the newest message that people see. */
    last_role: { kind: 'text' },
  },
  owner: 'owner_id',
  agent: 'agent_id',
  session: 'id',
  indexes: [
    ['agent_id', 'created_at'],
    ['aside', 'created_at', 'id'],
    ['owner_id', 'aside', 'created_at', 'id'],
    ['agent_id', 'aside', 'created_at', 'id'],
    ['owner_id', 'aside', 'unchosen', 'created_at', 'id'],
    ['owner_id', 'aside', 'archived', 'unchosen', 'last_at', 'id'],
    ['conversation_id'],
    ['agent_id', 'label', 'created_at'],
    ['owner_id', 'label', 'created_at'],
  ],
});

export const EntryRows = defineTable('entries', '1.1.0', {
  columns: {
    session_id: { kind: 'text', notNull: true },
    seq: { kind: 'integer', notNull: true },
    kind: { kind: 'text', notNull: true },
    run_id: { kind: 'text' },
    body: { kind: 'json', notNull: true },
    at: { kind: 'text', notNull: true },
    /** 1 until the catalogue has read it. */
    pending: { kind: 'integer', notNull: true, default: 1 },
  },
  primaryKey: ['session_id', 'seq'],
  through: { table: SessionRows, column: 'session_id' },
});

/** Sessions that were taken away: nothing is written under these ids again. */
export const ClosedRows = defineTable('closed', '1.1.0', {
  columns: {
    id: { kind: 'text', primaryKey: true },
    closed_at: { kind: 'text', notNull: true },
    /** 1 once every area has erased what it held of it. */
    erased: { kind: 'integer', notNull: true, default: 0 },
    /** Until then it can come back; null for what is erased at once. */
    keep_until: { kind: 'text' },
    /** Of what can come back: null on its way into the bin, `in` there, `back` on its way out. */
    bin: { kind: 'text' },
  },
  indexes: [['erased', 'closed_at']],
});

/** Whose messages stand where in `said`: from `number` times 2^32 on. */
export const ShelfRows = defineTable('shelves', '1.0.0', {
  columns: { owner_id: { kind: 'text', primaryKey: true }, number: { kind: 'integer', notNull: true, unique: true } },
  owner: 'owner_id',
});

/** The parts of a shelf, each of 8,192 places, with the times between which was said what stands there. */
export const SpanRows = defineTable('spans', '1.0.0', {
  columns: {
    owner_id: { kind: 'text', notNull: true },
    span: { kind: 'integer', notNull: true },
    size: { kind: 'integer', notNull: true },
    first_at: { kind: 'text', notNull: true },
    last_at: { kind: 'text', notNull: true },
  },
  primaryKey: ['owner_id', 'span'],
  owner: 'owner_id',
});

/** What people and models said, to be found by its words. */
export const SaidRows = defineTable('said', '1.0.0', {
  columns: {
    id: { kind: 'integer', primaryKey: true },
    session_id: { kind: 'text', notNull: true },
    seq: { kind: 'integer', notNull: true },
    role: { kind: 'text', notNull: true },
    at: { kind: 'text', notNull: true },
    /** Its beginning, for what a search shows. */
    text: { kind: 'text', notNull: true },
    words: { kind: 'words' },
  },
  through: { table: SessionRows, column: 'session_id' },
  indexes: [['session_id']],
});

/** Links to conversations. A token is stored as its hash alone. */
export const ShareRows = defineTable('shares', '1.0.0', {
  columns: {
    id: { kind: 'text', primaryKey: true },
    owner_id: { kind: 'text', notNull: true },
    agent_id: { kind: 'text', notNull: true },
    session_id: { kind: 'text', notNull: true },
    token_hash: { kind: 'text', notNull: true, unique: true },
    /** Of the page: what the conversation was called by a model, or how it began. Never the label. */
    title: { kind: 'text', notNull: true },
    /** The last entry that is shown. */
    through_seq: { kind: 'integer', notNull: true },
    created_at: { kind: 'text', notNull: true },
    /** When what is shown was the newest. */
    as_of: { kind: 'text', notNull: true },
    /** When the expiry was set. */
    valid_from: { kind: 'text', notNull: true },
    expires_at: { kind: 'text' },
  },
  owner: 'owner_id',
  agent: 'agent_id',
  session: 'session_id',
  indexes: [['owner_id', 'created_at'], ['agent_id'], ['session_id']],
});
export type ShareRow = RowOf<typeof ShareRows>;
