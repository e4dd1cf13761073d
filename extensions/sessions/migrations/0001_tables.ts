import type { Migration, MigrationBuilder } from '@svc/api';

const REPLACED = ['0001_init', '0002_thinking', '0003_catalogue', '0004_branches', '0005_versions', '0006_titles', '0007_models', '0008_shares', '0009_tags', '0010_bin'];

/** All tables of this area. */
export const sessionTables: Migration = {
  name: '0001_tables',
  replaces: REPLACED,
  up(m) {
    addSessions(m);
    addEntries(m);
    addCatalogue(m);
    addShares(m);
  },
};

const COUNT = { kind: 'integer', notNull: true, default: 0 } as const;

const addSessions = (m: MigrationBuilder): void => {
  m.createTable('sessions', {
    id: { kind: 'text', primaryKey: true },
    agent_id: { kind: 'text', notNull: true },
    owner_id: { kind: 'text', notNull: true },
    label: { kind: 'text' },
    created_at: { kind: 'text', notNull: true },
    // Whether the model thinks before it answers in this session; null is what the agent's manifest says.
    thinking: { kind: 'integer' },
    // What lists show of a session.
    aside: { kind: 'integer' },
    messages: COUNT,
    context_chars: COUNT,
    input_tokens: COUNT,
    output_tokens: COUNT,
    cost_micros: COUNT,
    first_words: { kind: 'text' },
    first_at: { kind: 'text' },
    last_at: { kind: 'text' },
    last_role: { kind: 'text' },
    // Where a session that continues another one has left it.
    branched_from: { kind: 'text' },
    branched_through: { kind: 'integer' },
    // Sessions that were branched from each other are versions of one conversation, and one of them is chosen.
    conversation_id: { kind: 'text' },
    unchosen: { kind: 'integer' },
    // What a model calls a conversation.
    title: { kind: 'text' },
    // A conversation can have a model of its own, and be put away.
    model_provider: { kind: 'text' },
    model_name: { kind: 'text' },
    archived: { kind: 'integer' },
    // Short words that a conversation can be found by.
    tags: { kind: 'text' },
  });
  m.createIndex('sessions', ['agent_id', 'created_at']);
  m.createIndex('sessions', ['aside', 'created_at', 'id']);
  for (const whose of ['agent_id', 'owner_id']) m.createIndex('sessions', [whose, 'aside', 'created_at', 'id']);
  for (const whose of ['agent_id', 'owner_id']) m.createIndex('sessions', [whose, 'label', 'created_at'], { where: 'label IS NOT NULL' });
  m.createIndex('sessions', ['conversation_id'], { where: 'conversation_id IS NOT NULL' });
  m.createIndex('sessions', ['owner_id', 'aside', 'unchosen', 'created_at', 'id']);
  m.createIndex('sessions', ['owner_id', 'aside', 'archived', 'unchosen', 'last_at', 'id']);
};

const addEntries = (m: MigrationBuilder): void => {
  m.createTable(
    'entries',
    {
      session_id: { kind: 'text', notNull: true },
      seq: { kind: 'integer', notNull: true },
      kind: { kind: 'text', notNull: true },
      run_id: { kind: 'text' },
      body: { kind: 'json', notNull: true },
      at: { kind: 'text', notNull: true },
      // One that waits to be read into the catalogue.
      pending: { kind: 'integer', notNull: true, default: 1 },
    },
    { primaryKey: ['session_id', 'seq'] },
  );
  m.createIndex('entries', ['at'], { where: 'pending = 1' });
};

/** What searches find, and which ids are gone. */
const addCatalogue = (m: MigrationBuilder): void => {
  m.createTable('closed', {
    id: { kind: 'text', primaryKey: true },
    closed_at: { kind: 'text', notNull: true },
    erased: COUNT,
    // What was deleted can come back for a while.
    keep_until: { kind: 'text' },
    bin: { kind: 'text' },
  });
  m.createIndex('closed', ['erased', 'closed_at']);
  m.createTable('shelves', { owner_id: { kind: 'text', primaryKey: true }, number: { kind: 'integer', notNull: true, unique: true } });
  m.createTable(
    'spans',
    {
      owner_id: { kind: 'text', notNull: true },
      span: { kind: 'integer', notNull: true },
      size: { kind: 'integer', notNull: true },
      first_at: { kind: 'text', notNull: true },
      last_at: { kind: 'text', notNull: true },
    },
    { primaryKey: ['owner_id', 'span'] },
  );
  m.createTable('said', {
    id: { kind: 'integer', primaryKey: true },
    session_id: { kind: 'text', notNull: true },
    seq: { kind: 'integer', notNull: true },
    role: { kind: 'text', notNull: true },
    at: { kind: 'text', notNull: true },
    text: { kind: 'text', notNull: true },
    words: { kind: 'words' },
  });
  m.createIndex('said', ['session_id']);
};

/** Links to conversations that people can read without a login. */
const addShares = (m: MigrationBuilder): void => {
  m.createTable('shares', {
    id: { kind: 'text', primaryKey: true },
    owner_id: { kind: 'text', notNull: true },
    agent_id: { kind: 'text', notNull: true },
    session_id: { kind: 'text', notNull: true },
    token_hash: { kind: 'text', notNull: true, unique: true },
    title: { kind: 'text', notNull: true },
    through_seq: { kind: 'integer', notNull: true },
    created_at: { kind: 'text', notNull: true },
    as_of: { kind: 'text', notNull: true },
    valid_from: { kind: 'text', notNull: true },
    expires_at: { kind: 'text' },
  });
  m.createIndex('shares', ['owner_id', 'created_at']);
  m.createIndex('shares', ['agent_id']);
  m.createIndex('shares', ['session_id']);
};
