import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Db, Logger, Migration } from '@svc/api';
import { describeOnEngines } from '@svc/testing/postgres/engines';
import { expect } from 'chai';
import { openStorage, type Storage, type StorageOptions } from '../../src/storage/storage.js';

const silent: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const clock = { now: () => Date.now(), iso: () => new Date().toISOString(), mono: () => performance.now(), sleep: async () => undefined };
const notes = { id: 'note-book', tables: ['notes', 'tags'] };
const init: Migration = {
  name: '0001_init',
  up(m) {
    m.createTable('notes', { id: { kind: 'text', primaryKey: true }, body: { kind: 'text' }, n: { kind: 'integer', notNull: true, default: 0 }, meta: { kind: 'json' } });
    m.createTable('tags', { name: { kind: 'text', notNull: true }, note: { kind: 'text' } }, { unique: [['name', 'note']] });
  },
};

const failure = async (work: Promise<unknown>): Promise<Error & { code?: string; details?: unknown; retry?: boolean; hint?: string }> => {
  try {
    await work;
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error('It should have failed.');
};

describeOnEngines('storage', (engine) => {
  let home: string;
  let where: { url?: string };
  let storage: Storage;
  let db: Db;
  const received: string[] = [];

  const open = (extra: Partial<StorageOptions> = {}): Promise<Storage> =>
    openStorage({ file: join(home, 'svc.db'), ...where, clock, log: silent, onEvents: (events) => received.push(...events.map(({ data }) => String(data))), ...extra });

  beforeEach(async () => {
    home = mkdtempSync(join(tmpdir(), 'svc-storage-'));
    received.length = 0;
    where = await engine.fresh();
    storage = await open();
    await storage.migrate(notes, [init]);
    db = storage.dbFor(notes);
  });

  afterEach(async () => {
    await storage.close();
    rmSync(home, { recursive: true, force: true });
  });

  const ids = async (): Promise<string[]> => (await db.system('a test').read<{ id: string }>(`SELECT id FROM ${db.table('notes')} ORDER BY id`)).map(({ id }) => id);
  const platform = (): Db => storage.dbFor({ id: 'kernel', tables: [], isPlatform: true });
  const note = (id: string, n = 0) => db.insert('notes', [{ id, n }]);

  it('gives back exactly the values that were written', async () => {
    const texts = ["it's", 'line\nbreak', '', '12', 'Grüße 🚀', '?;--/*', 'x'.repeat(3_000_000)];
    const rows = texts.map((body, i) => ({ id: `t${i}`, body, n: [0, -1, 2 ** 53 - 1, 1 - 2 ** 53, 4, 5, 7][i] ?? 0 }));
    await db.commit([db.insert('notes', rows), db.sql(`INSERT INTO ${db.table('notes')}(id, body, n) VALUES (?, ?, 3)`, ['null', null])]);

    const found = await db.system('a test').read<{ id: string; body: string | null; n: number }>(`SELECT id, body, n FROM ${db.table('notes')} ORDER BY id`);

    expect(found).to.deep.equal([{ id: 'null', body: null, n: 3 }, ...rows]);
  });

  it('refuses values that the database would change', async () => {
    for (const bad of [Number.NaN, Number.POSITIVE_INFINITY, true, undefined, {}]) {
      expect((await failure(db.commit([db.insert('notes', [{ id: 'a', n: bad as number }])]))).code).to.equal('storage_bad_write');
    }
    expect(await ids()).to.deep.equal([]);
  });

  it('lets a reader see a commit as soon as it has resolved', async () => {
    for (let i = 0; i < 50; i += 1) {
      await db.commit([note(`n${i}`, i)]);
      expect(await db.system('a test').readOne(`SELECT n FROM ${db.table('notes')} WHERE id = ?`, [`n${i}`])).to.deep.equal({ n: i });
    }
  });

  it('counts what each write changed', async () => {
    const t = db.table('notes');
    await db.commit([note('a'), note('b')]);

    const { changes } = await db.commit([
      db.insert('notes', [{ id: 'c' }, { id: 'd', n: 1 }]),
      db.insert('notes', [{ id: 'a' }, { id: 'e' }], { ifAbsent: true }),
      db.update(
        'notes',
        ['id'],
        [
          { id: 'a', n: 5 },
          { id: 'zz', n: 5 },
        ],
      ),
      db.upsert(
        'notes',
        ['id'],
        [
          { id: 'a', n: 6 },
          { id: 'f', n: 6 },
        ],
      ),
      db.sql(`UPDATE ${t} SET n = n + 1 WHERE n >= ?`, [5]),
      storage.event('notes', 'noted', 1),
    ]);

    expect(changes).to.deep.equal([2, 1, 1, 2, 2, 0]);
  });

  it('undoes the whole commit when a row that was expected is not there', async () => {
    await db.commit([note('a')]);

    const error = await failure(db.commit([note('b'), db.update('notes', ['id', 'n'], [{ id: 'a', n: 9, body: 'x' }], { expect: 'each' })]));

    expect(error).to.include({ code: 'storage_conflict', retry: true });
    expect(error.details).to.deep.equal({ reason: 'expect', write: 1 });
    expect(await ids()).to.deep.equal(['a']);
  });

  it('finds rows by a key that is NULL', async () => {
    await db.commit([db.insert('tags', [{ name: 'red', note: null }])]);

    await db.commit([db.update('tags', ['note'], [{ note: null, name: 'blue' }], { expect: 'each' })]);

    expect(await db.system('a test').read(`SELECT name FROM ${db.table('tags')}`)).to.deep.equal([{ name: 'blue' }]);
  });

  it('lets one bad commit of a batch fail alone, and keeps the order of the others', async () => {
    const t = db.table('notes');
    await db.commit([note('taken')]);
    const step = (from: number) => db.commit([db.sql(`UPDATE ${t} SET n = n * 10 + ? WHERE id = 'taken'`, [from], { expect: 1 }), storage.event('notes', 'noted', from)]);

    const results = await Promise.allSettled([
      step(1),
      db.commit([note('half'), note('taken'), storage.event('notes', 'noted', 'never')]),
      step(2),
      db.commit([db.sql(`UPDATE ${t} SET n = 0 WHERE id = ?`, ['nobody'], { expect: 1 })]),
      step(3),
      db.commit([db.insert('notes', [{ id: 'bad', meta: '{not json' }])]),
      step(4),
    ]);

    expect(results.map((r) => (r.status === 'fulfilled' ? 'ok' : (r.reason as { code: string }).code))).to.deep.equal([
      'ok',
      'storage_conflict',
      'ok',
      'storage_conflict',
      'ok',
      'storage_invalid_row',
      'ok',
    ]);
    expect(await db.system('a test').read(`SELECT id, n FROM ${t}`)).to.deep.equal([{ id: 'taken', n: 1234 }]);
    expect(received).to.deep.equal(['1', '2', '3', '4']);
    expect(storage.stats().batches).to.be.at.most(4);
  });

  it('puts the commits of one turn into one transaction', async () => {
    const before = storage.stats();

    await Promise.all(Array.from({ length: 200 }, (_, i) => db.commit([note(`n${i}`)])));

    const after = storage.stats();
    expect([after.commits - before.commits, after.rows - before.rows, after.batches - before.batches]).to.deep.equal([200, 200, 1]);
  });

  it('tells of events only after their commit can be read', async () => {
    const seen: Array<Promise<unknown>> = [];
    await storage.close();
    storage = await open({ onEvents: (events) => seen.push(...events.map(({ data }) => db.system('a test').readOne(`SELECT id FROM ${db.table('notes')} WHERE id = ?`, [String(data)]))) });
    db = storage.dbFor(notes);

    await db.commit([note('first'), storage.event('notes', 'noted', 'first')]);

    expect(await Promise.all(seen)).to.deep.equal([{ id: 'first' }]);
  });

  it('keeps events that somebody hears durably', async () => {
    await storage.close();
    storage = await open({ storeEvent: (event) => event === 'kept' });
    db = storage.dbFor(notes);

    await db.commit([storage.event('notes', 'kept', { a: "it's" }), storage.event('notes', 'fleeting', 1)]);

    expect(await platform().system('a test').read('SELECT id, seq, name, data FROM kernel__events')).to.deep.equal([{ id: 1, seq: null, name: 'kept', data: '{"a":"it\'s"}' }]);
  });

  it('refuses tables that are not the owner’s, whatever the write', () => {
    const other = storage.dbFor({ id: 'other', tables: ['things'] });
    for (const table of ['notes', 'note_book__notes', 'kernel__events', '__proto__']) {
      expect(() => other.table(table), table).to.throw(`other has no table "${table}"`);
      expect(() => other.insert(table, [{ id: 'x' }])).to.throw(`other has no table "${table}"`);
      expect(() => other.update(table, ['id'], [{ id: 'x', n: 1 }])).to.throw(`other has no table "${table}"`);
      expect(() => other.upsert(table, ['id'], [{ id: 'x', n: 1 }])).to.throw(`other has no table "${table}"`);
      expect(() => other.remove(table, { id: 'x' })).to.throw(`other has no table "${table}"`);
    }
  });

  it('cannot write through a read', async () => {
    expect((await failure(db.system('a test').read(`DELETE FROM ${db.table('notes')}`))).code).to.equal('storage_sql_refused');
    expect((await failure(platform().system('a test').read('DELETE FROM note_book__notes'))).code).to.match(/^storage_/);
  });

  it('carries out what waits before it closes, and refuses what comes later', async () => {
    const waiting = db.commit([note('last')]);
    await storage.close();
    await waiting;

    expect((await failure(db.commit([note('late')]))).code).to.equal('storage_closed');
    storage = await open();
    db = storage.dbFor(notes);
    expect(await ids()).to.deep.equal(['last']);
  });

  describe('migrations', () => {
    const second: Migration = {
      name: '0002_more',
      up(m) {
        m.addColumn('notes', 'colour', { kind: 'text', notNull: true, default: "painter's white" });
        m.createIndex('notes', ['n', 'colour'], { unique: true, where: 'n > 0' });
        m.sql('UPDATE {notes} SET n = 1');
      },
    };

    it('are applied once, and only the new ones', async () => {
      await db.commit([note('a')]);
      await storage.close();
      storage = await open();

      expect(await storage.migrate(notes, [second, init])).to.deep.equal({ applied: ['0002_more'] });
      expect(await storage.migrate(notes, [init, second])).to.deep.equal({ applied: [] });
      db = storage.dbFor(notes);
      expect(await db.system('a test').read(`SELECT id, n, colour FROM ${db.table('notes')}`)).to.deep.equal([{ id: 'a', n: 1, colour: "painter's white" }]);
      expect([...storage.appliedMigrations().keys()]).to.deep.equal(['note_book__migrations']);
    });

    it('that were changed after they had been applied are refused by name', async () => {
      const changed: Migration = { name: '0001_init', up: (m) => m.createTable('notes', { id: { kind: 'integer' } }) };
      await storage.close();
      storage = await open();

      const error = await failure(storage.migrate(notes, [changed]));

      expect(error).to.include({ code: 'storage_migration_changed', message: 'Migration 0001_init of note-book was changed after it had been applied here.' });
    });

    it('keep nothing of one that fails half way: tables and rows are as they were, and the error says whose it was and what to do', async () => {
      const broken: Migration = {
        name: '0002_broken',
        up(m) {
          m.sql('DELETE FROM {notes}');
          m.addColumn('notes', 'colour', { kind: 'text' });
          m.sql('UPDATE {notes} SET nonsense = 1');
        },
      };
      await db.commit([note('a')]);
      const before = await db.system('a test').read(`SELECT * FROM ${db.table('notes')}`);

      const error = await failure(storage.migrate(notes, [init, broken]));

      expect(error.code).to.equal('storage_migration_failed');
      expect(error.message).to.contain('Migration 0002_broken of note-book failed and was undone').and.contain('nonsense');
      expect(error.hint).to.contain('Its tables are as they were').and.contain('svc ext rollback');
      expect(await db.system('a test').read(`SELECT * FROM ${db.table('notes')}`)).to.deep.equal(before);
      expect(before).to.have.length(1);
      expect(await storage.migrate(notes, [init, second])).to.deep.equal({ applied: ['0002_more'] });
    });

    it('that only a newer version has are refused by name, and its tables stay as they are', async () => {
      await storage.migrate(notes, [init, second]);
      await db.commit([note('a')]);
      await storage.close();
      storage = await open();

      const error = await failure(storage.migrate(notes, [init]));

      expect(error.code).to.equal('storage_migration_newer');
      expect(error.message).to.contain('was used by a newer version').and.contain('0002_more of note-book');
      // Of an installed extension, which can go back to an earlier version.
      expect(await storage.migrate({ ...notes, isThirdParty: true }, [init])).to.deep.equal({ applied: [] });
      db = storage.dbFor(notes);
      expect(await db.system('a test').read(`SELECT id FROM ${db.table('notes')}`)).to.deep.equal([{ id: 'a' }]);
    });

    it('of one owner do not mind another owner’s being gone', async () => {
      await storage.migrate({ id: 'gone', tables: ['x'] }, [{ name: '0001_init', up: (m) => m.createTable('x', { id: { kind: 'text' } }) }]);
      await storage.close();
      storage = await open();

      expect(await storage.migrate(notes, [init])).to.deep.equal({ applied: [] });
    });
  });
});
