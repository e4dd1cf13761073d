/** The tables of the journal. Rows grow by expansion only: older code reads newer files. */
import type { Migration, MigrationBuilder } from '@svc/api';

export const journalOwner = { id: 'journal', tables: ['runs', 'steps'], isPlatform: true } as const;

const addIndexes = (m: MigrationBuilder): void => {
  m.createIndex('runs', ['owner_id', 'kind', 'request_key'], { unique: true, where: 'request_key IS NOT NULL' });
  // J3: the database itself lets one run of a lane be running or waiting.
  m.createIndex('runs', ['lane'], { unique: true, where: "status IN ('running', 'waiting')" });
  m.createIndex('runs', ['lane', 'status', 'position'], { where: 'lane IS NOT NULL' });
  m.createIndex('runs', ['kind', 'status', 'position']);
  m.createIndex('runs', ['wake_key'], { where: "status = 'waiting'" });
  m.createIndex('runs', ['wait_until'], { where: "status = 'waiting'" });
  m.createIndex('runs', ['subject', 'position'], { where: 'subject IS NOT NULL' });
  m.createIndex('runs', ['parent_id'], { where: 'parent_id IS NOT NULL' });
  // A start reads what is unfinished, however many runs have ended.
  m.createIndex('runs', ['status'], { where: "status IN ('queued', 'running', 'waiting')" });
  // The oldest first, for those that sweep; the newest first, for those that list.
  m.createIndex('runs', ['position']);
  // What one person's runs and one conversation's runs are listed by, however many others there are.
  m.createIndex('runs', ['owner_id', 'kind', 'position']);
  m.createIndex('runs', ['lane', 'position'], { where: 'lane IS NOT NULL' });
  m.createIndex('runs', ['session_id'], { where: 'session_id IS NOT NULL' });
  // What ended in the last minute, however much ended before.
  m.createIndex('runs', ['kind', 'updated_at'], { where: "status IN ('done', 'failed', 'cancelled')" });
  m.createIndex('runs', ['root_id', 'position'], { where: 'root_id IS NOT NULL' });
};

export const journalMigrations: readonly Migration[] = [
  {
    name: '0001_tables',
    replaces: ['0001_init', '0002_subject', '0002_interrupts', '0003_unfinished', '0004_lists', '0005_sessions', '0006_ended', '0007_roots'],
    up(m) {
      m.createTable('runs', {
        id: { kind: 'text', primaryKey: true },
        kind: { kind: 'text', notNull: true },
        owner_id: { kind: 'text', notNull: true },
        request_key: { kind: 'text' },
        fingerprint: { kind: 'text' },
        lane: { kind: 'text' },
        parent_id: { kind: 'text' },
        status: { kind: 'text', notNull: true },
        // Order of arrival: milliseconds, and a counter within them.
        position: { kind: 'integer', notNull: true },
        input: { kind: 'json' },
        result: { kind: 'json' },
        error: { kind: 'json' },
        attempt: { kind: 'integer', notNull: true },
        created_at: { kind: 'text', notNull: true },
        updated_at: { kind: 'text', notNull: true },
        wait_reason: { kind: 'text' },
        wake_key: { kind: 'text' },
        wait_until: { kind: 'text' },
        wait_data: { kind: 'json' },
        lease_owner: { kind: 'text' },
        // The fencing token: one more with each claim, never less.
        lease_token: { kind: 'integer', notNull: true },
        lease_until: { kind: 'integer', notNull: true },
        // Why a run is to stop, for a holder that another process cannot reach at once.
        interrupt: { kind: 'json' },
        // What the work is about, an agent as a rule.
        subject: { kind: 'text' },
        // The conversation that a run belongs to, for the purge of it.
        session_id: { kind: 'text' },
        // Empty for a run that no other run began: it is its own root.
        root_id: { kind: 'text' },
        cause_kind: { kind: 'text' },
        cause_id: { kind: 'text' },
      });
      addIndexes(m);
      m.createTable(
        'steps',
        {
          run_id: { kind: 'text', notNull: true },
          seq: { kind: 'integer', notNull: true },
          kind: { kind: 'text', notNull: true },
          key: { kind: 'text', notNull: true },
          replay: { kind: 'text', notNull: true },
          intent: { kind: 'json' },
          status: { kind: 'text', notNull: true },
          outcome: { kind: 'json' },
          started_at: { kind: 'text', notNull: true },
          ended_at: { kind: 'text' },
          attempt: { kind: 'integer', notNull: true },
        },
        { primaryKey: ['run_id', 'seq'] },
      );
    },
  },
  {
    name: '0008_pools',
    up: (m) => {
      // Empty for a run that waits for no room of its pool, as a message of a person.
      m.addColumn('runs', 'pool', { kind: 'text' });
      // Empty until somebody holds it.
      m.addColumn('runs', 'begun_at', { kind: 'text' });
    },
  },
  {
    name: '0009_queued',
    up: (m) => {
      // A message that begins at once is never queued: only those that wait in a lane or for room write these.
      m.dropIndex('runs', ['lane', 'status', 'position']);
      m.createIndex('runs', ['lane', 'status', 'position'], { where: "status = 'queued'" });
      // What is held or waits is found by the index of lanes.
      m.dropIndex('runs', ['status']);
      m.createIndex('runs', ['status', 'position'], { where: "status = 'queued'" });
      // Runs of agents have their conversation as their lane, and are found by it.
      m.dropIndex('runs', ['session_id']);
      m.createIndex('runs', ['session_id'], { where: '(session_id <> lane OR lane IS NULL)' });
    },
  },
];
