/** The catalogue beside real databases: each entry is read once, whoever reads, and what lists show is what was said. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Db, Reader, Row } from '@svc/api';
import { actorOf } from '@svc/api/internal';
import { systemClock } from '@svc/platform/clock/clock';
import { openSqlite } from '@svc/platform/storage/sqlite/sqlite-connection';
import { openStorage, type Storage } from '@svc/platform/storage/storage';
import type { Entry, EntryDraft } from '@svc/ext-sessions/contract';
import { describeOnEngines } from '@svc/testing/postgres/engines';
import { expect } from 'chai';
import { until } from '@svc/test/clients/model-kernel';
import { sessionTables } from '../../migrations/0001_tables.js';
import { type Catalogue, createCatalogue } from '../../src/catalogue/catalogue.js';
import { createCatalogueStore, toFacts } from '../../src/catalogue/catalogue-store.js';
import { addEntry, charsOf, type Facts, NO_FACTS } from '../../src/catalogue/facts.js';
import { SPAN_PLACES } from '../../src/catalogue/shelves.js';
import { createListing } from '../../src/listing.js';
import { SessionsOfAgent } from '../../src/routes/shapes.js';
import { historyOf } from '../../src/routes/history.js';
import { searchSaid } from '../../src/search/search.js';
import { createSearchStore } from '../../src/search/search-store.js';
import { createSessionStore, type SessionStore } from '../../src/store.js';

const OWNER = { id: 'sessions', tables: ['sessions', 'entries', 'closed', 'shelves', 'spans', 'said', 'shares'] };
const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const AGENT = '11111111-1111-4111-8111-111111111111';
const idOf = (n: number): string => `00000000-0000-4000-8000-${n.toString().padStart(12, '0')}`;
const said = (text: string, kind: EntryDraft['kind'] = 'user'): EntryDraft => ({ kind, runId: 'r', parts: [{ type: 'text', text }] });
const used = { inputTokens: 10, outputTokens: 5, costMicros: 7 };
/** One of everything that a log can hold. */
const ALL: EntryDraft[] = [
  said('look at this'),
  { kind: 'tool_call', runId: 'r', callId: 'a', tool: 'list', args: { path: '.' }, used },
  { kind: 'tool_call', runId: 'r', callId: 'b', tool: 'list' },
  { kind: 'tool_result', runId: 'r', callId: 'a', tool: 'list', content: 'x'.repeat(100) },
  { kind: 'tool_call', runId: 'r', callId: 'c', tool: 'list' },
  { ...said('here it is', 'assistant'), used },
  { kind: 'tool_call', runId: 'r', callId: 'd', tool: 'list' },
  { kind: 'note', runId: 'r', content: 'stopped' },
  { kind: 'tool_call', runId: 'r', callId: 'e', tool: 'list' },
  said('and now'),
  { kind: 'summary', runId: 'c', content: 'THEY TALKED', coversThrough: 6, used },
  said('bye', 'assistant'),
];

describeOnEngines('the catalogue', (engine) => {
  let home: string;
  let storage: Storage;
  let db: Db;
  let sessions: SessionStore;
  const clock = systemClock();

  beforeEach(async () => {
    home = mkdtempSync(join(tmpdir(), 'svc-catalogue-'));
    storage = await openStorage({ file: join(home, 'svc.db'), ...(await engine.fresh()), clock, log: silent, onEvents: () => undefined });
    await storage.migrate(OWNER, [sessionTables]);
    db = storage.dbFor(OWNER);
    sessions = createSessionStore(db);
  });
  afterEach(async () => {
    await storage.close();
    rmSync(home, { recursive: true, force: true });
  });

  const open = (commit: Db['commit'] = (writes) => db.commit(writes), later: (ms: number, fn: () => Promise<void>) => void = () => undefined): Catalogue =>
    createCatalogue({ self: 'me', notify: () => undefined, mono: clock.mono, store: createCatalogueStore(db), commit, entries: sessions.entries, later, log: silent });
  const ref = (n: number, seq = 0, ownerId = 'user:alice') => ({ id: idOf(n), agentId: AGENT, ownerId, seq });
  const say = async (n: number, drafts: readonly EntryDraft[], { seq = 0, ownerId = 'user:alice', at = '2026-01-01T00:00:00.000Z', aside = false } = {}): Promise<void> => {
    const place = { ...ref(n, seq, ownerId), ...(aside ? { aside: true } : {}) };
    await db.commit([...(seq === 0 ? [sessions.insertSession({ ...place, label: null, at })] : []), ...sessions.insertEntries(place, drafts, at)]);
  };
  const factsOf = async (n: number): Promise<Facts> => toFacts((await db.system('a test').first<Row>({ from: 'sessions', where: { id: idOf(n) } })) ?? {});
  const find = async (q: string, more: object = {}) => (await searchSaid(createSearchStore(db, actorOf), open(), { ownerId: 'user:alice', q, limit: 500, offset: 0, ...more })).hits;

  it('counts what people see, whatever portions it comes in', async () => {
    for (let n = 1; n <= ALL.length; n++) {
      const reader = open();
      await say(n, ALL.slice(0, n));
      await reader.catchUp(9);
      for (const [index, draft] of ALL.slice(n).entries()) {
        await say(n, [draft], { seq: n + index });
        await reader.catchUp(9);
      }
    }
    const entries = await sessions.entries(idOf(1), 0, 100);
    const shown = historyOf({ id: idOf(1), agentId: AGENT, label: null }, entries);
    const first = await factsOf(1);
    expect(first).to.include({ messages: shown.message_count, inputTokens: 30, outputTokens: 15, costMicros: 21, firstWords: 'look at this', lastRole: 'assistant' });
    expect(first.contextChars).to.equal(contextOf(entries));
    for (let n = 2; n <= ALL.length; n++) expect(await factsOf(n), `in portions of ${n}`).to.deep.equal(first);
  });

  it('K1 reads each entry once, however many read at the same time', async () => {
    for (let n = 0; n < 30; n++) await say(n, [said(`apple ${n}`), said('pear', 'assistant')], { ownerId: n % 3 === 0 ? 'user:bob' : 'user:alice' });
    const readers = Array.from({ length: 4 }, () => open());
    await Promise.all(readers.flatMap((reader) => [reader.catchUp(50), reader.catchUp(50)]));
    expect(await db.system('a test').count('entries', { pending: 1 })).to.equal(0);
    expect(await db.system('a test').count('said')).to.equal(60);
    expect(await find('apple')).to.have.length(20);
    for (let n = 0; n < 30; n++) expect((await factsOf(n)).messages).to.equal(2);
  });

  it('K1 loses nothing when a commit fails, and keeps nothing twice', async () => {
    await say(1, [said('apple'), said('pear', 'assistant')]);
    let isBroken = true;
    const reader = open((writes) => (isBroken ? Promise.reject(new Error('the disk is full')) : db.commit(writes)));
    expect(await reader.catchUp(1).catch((error: Error) => error.message)).to.equal('the disk is full');
    expect(await db.system('a test').count('said')).to.equal(0);
    isBroken = false;
    await reader.catchUp(1);
    expect([await db.system('a test').count('said'), (await factsOf(1)).messages]).to.deep.equal([2, 2]);
  });

  it('K2 keeps nothing of what was taken away while it was read', async () => {
    await say(1, [said('apple')]);
    await say(2, [said('apple of another')]);
    let isFirst = true;
    const reader = open(async (writes) => {
      if (isFirst) await db.commit(sessions.discard(idOf(1)));
      isFirst = false;
      return db.commit(writes);
    });
    await reader.catchUp(9);
    expect(await db.system('a test').count('said')).to.equal(1);
    expect((await find('apple')).map(({ snippet }) => snippet)).to.deep.equal(['apple of another']);
  });

  it('K3 says from when on something still waits', async () => {
    const at = (n: number): string => `2026-01-01T00:00:${String(n).padStart(2, '0')}.000Z`;
    for (let n = 0; n < 3; n++)
      await say(
        n,
        Array.from({ length: 150 }, () => said('apple')),
        { at: at(n) },
      );
    const reader = open();
    expect(await reader.catchUp(1)).to.equal(at(1));
    expect(await reader.catchUp(1)).to.equal(at(2));
    expect(await reader.catchUp(9)).to.equal(undefined);
  });

  it('reads by itself what was said, a moment later, until nothing waits', async () => {
    const waits: number[] = [];
    const reader = open(undefined, (ms, fn) => {
      waits.push(ms);
      void fn();
    });
    await say(
      1,
      Array.from({ length: 450 }, () => said('apple')),
    );
    reader.touched();
    await until(async () => (await db.system('a test').count('entries', { pending: 1 })) === 0 && waits.length === 4);
    expect(waits, 'a full batch is followed at once, the last one a second later').to.deep.equal([1_000, 10, 10, 1_000]);
  });

  it('K4 is read by one of several daemons, and by another when that one is silent', async () => {
    let nowMs = 0;
    const timers = new Map<string, { ms: number; fn: () => Promise<void> }>();
    const both: Catalogue[] = [];
    const daemon = (self: string): Catalogue => {
      const notify = (): void => {
        for (const one of both) one.receivedFrom(self);
      };
      const later = (ms: number, fn: () => Promise<void>): void => void timers.set(self, { ms, fn });
      return createCatalogue({ self, notify, mono: () => nowMs, store: createCatalogueStore(db), commit: (writes) => db.commit(writes), entries: sessions.entries, later, log: silent });
    };
    both.push(daemon('a'), daemon('b'));
    const waiting = () => db.system('a test').count('entries', { pending: 1 });
    const fire = async (self: string): Promise<void> => {
      const timer = timers.get(self);
      timers.delete(self);
      await timer?.fn();
    };
    await say(1, [said('apple')]);
    for (const one of both) one.touched();
    await fire('a');
    expect([await waiting(), timers.get('a')?.ms], 'the first reads, and looks again a second later').to.deep.equal([0, 1_000]);

    await say(2, [said('pear')]);
    await fire('b');
    expect([await waiting(), timers.get('b')?.ms], 'the second leaves it to the first').to.deep.equal([1, 5_000]);

    nowMs = 5_000;
    await fire('b');
    expect(await waiting(), 'the first is silent').to.equal(0);
  });

  it('has nothing of a message beside a conversation', async () => {
    await say(1, [said('apple')], { aside: true });
    await open().catchUp(9);
    expect(await db.system('a test').count('said')).to.equal(0);
    expect((await createListing({ db, goingOn: { isEmpty: () => true, call: async () => [] } }).page(actorOf('owner'), SessionsOfAgent, { limit: 10 })).total).to.equal(0);
  });

  it('H1 goes on over spans, and a search over all of them, newest first', async () => {
    const reader = open();
    await say(1, [said('needle in the first')]);
    await reader.catchUp(9);
    // As if so much had been said in between.
    await db.commit([db.update('spans', ['owner_id', 'span'], [{ owner_id: 'user:alice', span: 0, size: SPAN_PLACES - 2 }])]);
    await say(2, [said('needle at the end'), said('needle at the very end'), said('needle behind it'), said('needle last of all')]);
    await reader.catchUp(9);
    await db.commit([
      db.insert(
        'spans',
        [3, 9, 27].map((span) => ({ owner_id: 'user:alice', span, size: SPAN_PLACES, first_at: '2025-01-01T00:00:00.000Z', last_at: '2025-01-01T00:00:00.000Z' })),
      ),
    ]);
    expect(
      (await db.system('a test').select<{ span: number; size: number }>({ from: 'spans', columns: ['span', 'size'], order: [{ column: 'span' }], limit: 2 })).map(({ span, size }) => [span, size]),
    ).to.deep.equal([
      [0, SPAN_PLACES],
      [1, 2],
    ]);
    const hits = await find('needle');
    expect(hits.map(({ seq }) => seq).toSorted()).to.deep.equal([1, 1, 2, 3, 4]);
    const byTime = (await createSearchStore(db, actorOf).places([['1w0wneedle'], ['1w1wneedle']], {}, 10)).map((place) => place % 2 ** 32);
    expect(byTime).to.deep.equal([SPAN_PLACES + 1, SPAN_PLACES, SPAN_PLACES - 1, SPAN_PLACES - 2, 0]);
  });

  it('F3 orders the newest hundred by how well they fit, and those before them by their time', async () => {
    const texts = Array.from({ length: 130 }, (_, n) => `filler ${'x '.repeat(n % 7)} pear ${n}`);
    texts[5] = 'pear pear pear old';
    texts[60] = 'pear pear pear newer';
    await say(
      1,
      texts.map((text) => said(text)),
    );
    const hits = await find('pear');
    expect(hits).to.have.length(130);
    expect(hits[0]?.snippet).to.equal('pear pear pear newer');
    const ranks = hits.slice(0, 100).map(({ rank }) => rank);
    expect(ranks).to.deep.equal(ranks.toSorted((a, b) => a - b));
    expect(hits.slice(100).map(({ seq, rank }) => [seq, rank])).to.deep.equal(Array.from({ length: 30 }, (_, n) => [30 - n, 0]));
  });

  it('tells agents and sessions apart whose ids end alike', async () => {
    const twin = AGENT.replace(/^1+/, '22222222');
    await say(1, [said('apple of one')]);
    const place = { ...ref(2), agentId: twin };
    await db.commit([sessions.insertSession({ ...place, label: 'two', at: '2026-01-01T00:00:00.000Z' }), ...sessions.insertEntries(place, [said('apple of two')], '2026-01-01T00:00:00.000Z')]);
    const shown = async (more: object) => (await find('apple', more)).map(({ snippet }) => snippet);
    expect(await shown({ agentId: AGENT })).to.deep.equal(['apple of one']);
    expect(await shown({ agentId: twin })).to.deep.equal(['apple of two']);
    expect(await shown({ label: 'two' })).to.deep.equal(['apple of two']);
  });

  it('is read by indexes alone: lists, labels, searches and what waits', async () => {
    if (engine.name !== 'SQLite') return;
    await say(1, [said('apple')]);
    await open().catchUp(9);
    const asked: string[] = [];
    const note = (sql: string): string => {
      asked.push(sql);
      return sql;
    };
    const watch = (reader: Reader): Reader => ({ ...reader, read: (sql, args) => reader.read(note(sql), args), readOne: (sql, args) => reader.readOne(note(sql), args) });
    const watched: Db = { ...db, as: (actor) => watch(db.as(actor)), system: (why) => watch(db.system(why)) };
    const store = createCatalogueStore(watched);
    await store.pending(10, 10);
    await store.oldestPending();
    await store.shelves(['user:alice']);
    const data = [
      ...['', " AND owner_id = 'user:alice'", " AND agent_id = 'a'"].map((more) => `SELECT * FROM sessions__sessions WHERE aside IS NULL${more} ORDER BY created_at DESC, id DESC LIMIT 10 OFFSET 5`),
      `SELECT * FROM sessions__sessions WHERE agent_id = 'a' AND label = 'b' AND aside IS NULL ORDER BY created_at DESC, id DESC LIMIT 1`,
      `SELECT id FROM sessions__sessions WHERE owner_id = 'a' AND label = 'b' ORDER BY created_at DESC LIMIT 20`,
      `SELECT id FROM sessions__said WHERE id IN (SELECT rowid FROM sessions__said__words WHERE sessions__said__words MATCH '"a"') ORDER BY id DESC LIMIT 100`,
      `SELECT span FROM sessions__spans WHERE owner_id = 'a' AND last_at >= 'x' ORDER BY span DESC LIMIT 10`,
      `DELETE FROM sessions__said WHERE session_id = 'a'`,
      `SELECT id, agent_id, created_at, last_at FROM sessions__sessions WHERE aside IS NULL AND created_at < 'x' AND (created_at > 'a' OR (created_at = 'a' AND id > 'b')) ORDER BY created_at, id LIMIT 9`,
    ];
    const file = await openSqlite({ file: join(home, 'svc.db'), readOnly: true, maxStatements: 50 });
    for (const sql of [...asked, ...data]) {
      const plan = (await file.all(`EXPLAIN QUERY PLAN ${sql}`, [])).map(({ detail }) => String(detail));
      const scans = plan.filter((step) => step.startsWith('SCAN') && !step.includes('VIRTUAL TABLE') && !/USING (COVERING )?INDEX sessions__entries_at_idx/.test(step));
      expect(scans, `${sql}\n${plan.join('\n')}`).to.deep.equal([]);
      expect(
        plan.filter((step) => step === 'USE TEMP B-TREE FOR ORDER BY' && !sql.includes('MATCH')),
        sql,
      ).to.deep.equal([]);
    }
    await file.close();
  });
});

/** By the other way: what a model would be given of the log. */
const contextOf = (entries: readonly Entry[]): number => {
  const summary = entries.findLast(({ kind }) => kind === 'summary');
  const read = entries.filter(({ kind, seq }) => kind !== 'summary' && kind !== 'note' && seq > (summary?.coversThrough ?? 0));
  return [...(summary ? [summary] : []), ...read].reduce((sum, entry) => sum + charsOf(entry), 0);
};

describe('the facts of a session', () => {
  it('begin with the first words of a person, in whole characters, and need no words at all', () => {
    const first = (text: string): string | null => addEntry(NO_FACTS, { ...said(text), at: 'x', chars: 1 }).firstWords;
    expect(first('  a\n\tb  ')).to.equal('a b');
    expect(first('👍🏽'.repeat(80))).to.have.length.at.most(120);
    expect(first('字'.repeat(80))).to.equal('字'.repeat(60));
    expect(first(' \n ')).to.equal(null);
    expect(addEntry(NO_FACTS, { ...said('', 'assistant'), at: 'x', chars: 1 }).firstWords).to.equal(null);
  });
});
