/** What migrations make of tables, what is kept of events, and how reads share connections. */
import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Db, Logger, Migration } from '@svc/api';
import { expect } from 'chai';
import { virtualClock } from '../src/clock/clock.js';
import { createReaderPool } from '../src/storage/sqlite/reader-pool.js';
import { openSqlite } from '../src/storage/sqlite/sqlite-connection.js';
import { openStorage, type Storage } from '../src/storage/storage.js';

const owner = { id: 'note-book', tables: ['notes', 'tags'] };
const silent: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

describe('tables in storage', () => {
  let home: string;
  let storage: Storage;
  let db: Db;
  const clock = virtualClock(Date.parse('2026-01-01T00:00:00Z'));

  const open = async (stored: readonly string[] = []): Promise<void> => {
    storage = await openStorage({ file: join(home, 'svc.db'), clock, log: silent, onEvents: () => undefined, storeEvent: (event) => stored.includes(event) });
    db = storage.dbFor(owner);
  };

  beforeEach(async () => {
    home = mkdtempSync(join(tmpdir(), 'svc-schema-'));
    await open();
  });

  afterEach(async () => {
    await storage.close();
    rmSync(home, { recursive: true, force: true });
  });

  const codeOf = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => 'ok',
      (error: { code: string }) => error.code,
    );
  const platform = (): Db => storage.dbFor({ id: 'kernel', tables: [], isPlatform: true });
  const put = (row: Record<string, string | number | null>) => codeOf(db.commit([db.insert('notes', [row])]));
  const one = (name: string, up: Migration['up']): Migration => ({ name, up });

  it('keep the rules of each column: keys, no nulls, JSON, booleans, one of a kind', async () => {
    await storage.migrate(owner, [
      one('0001_init', (m) =>
        m.createTable('notes', {
          id: { kind: 'text', primaryKey: true },
          must: { kind: 'integer', notNull: true, default: 7 },
          meta: { kind: 'json' },
          flag: { kind: 'boolean' },
          name: { kind: 'text', unique: true },
        }),
      ),
    ]);
    expect(await put({ id: 'a', meta: '{"x":1}', flag: 1, name: 'one' })).to.equal('ok');
    expect(await db.readOne('SELECT must FROM note_book__notes')).to.deep.equal({ must: 7 });
    expect(await put({ id: 'a' })).to.equal('storage_conflict');
    expect(await put({ id: 'b', name: 'one' })).to.equal('storage_conflict');
    for (const bad of [{ id: null }, { id: 'c', must: null }, { id: 'd', meta: '{x' }, { id: 'e', flag: 2 }]) expect(await put(bad), JSON.stringify(bad)).to.equal('storage_invalid_row');
  });

  it('have keys of several columns, and indexes that hold for some rows only', async () => {
    await storage.migrate(owner, [
      one('0001_init', (m) => {
        m.createTable('notes', { a: { kind: 'text' }, b: { kind: 'text' }, n: { kind: 'integer' } }, { primaryKey: ['a', 'b'] });
        m.createIndex('notes', ['n'], { unique: true, where: 'n > 0' });
        m.createIndex('notes', ['b', 'n']);
      }),
    ]);
    expect([await put({ a: 'x', b: '1', n: 0 }), await put({ a: 'x', b: '2', n: 0 }), await put({ a: 'x', b: '1', n: 0 })]).to.deep.equal(['ok', 'ok', 'storage_conflict']);
    expect([await put({ a: 'y', b: '1', n: 5 }), await put({ a: 'y', b: '2', n: 5 })]).to.deep.equal(['ok', 'storage_conflict']);
    const names = await platform().read<{ name: string }>("SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL ORDER BY name");
    expect(names.map(({ name }) => name)).to.deep.equal(['note_book__notes_b_n_idx', 'note_book__notes_n_key']);
  });

  it('belong to their owner in migrations as well', async () => {
    const failure = await storage.migrate(owner, [one('0001_init', (m) => m.createTable('others', { id: { kind: 'text' } }))]).catch((error: Error) => error.message);
    expect(failure).to.equal('note-book has no table "others".');
    expect(await codeOf(storage.migrate(owner, [one('0001_init', (m) => m.sql('DELETE FROM {others}'))]))).to.equal('storage_unknown_table');
    expect(() => storage.dbFor({ id: 'x', tables: ['migrations'] })).to.throw('kept for bookkeeping');
  });

  it('refuse a migration that comes before one that was applied', async () => {
    const first = one('0002_init', (m) => m.createTable('notes', { id: { kind: 'text' } }));
    await storage.migrate(owner, [first]);
    expect(await codeOf(storage.migrate(owner, [first, one('0001_late', (m) => m.addColumn('notes', 'x', { kind: 'text' }))]))).to.equal('storage_migration_missing');
    expect(await codeOf(storage.migrate(owner, [first, one('0003_next', (m) => m.addColumn('notes', 'x', { kind: 'text' }))]))).to.equal('ok');
  });

  it('say that the disk is full when that is why a migration failed, and keep nothing of it', async () => {
    const full = one('0001_init', (m) => {
      m.createTable('notes', { id: { kind: 'text' } });
      m.sql('PRAGMA max_page_count = 40');
      m.sql('INSERT INTO {notes} VALUES (hex(zeroblob(1000000)))');
    });
    expect(await codeOf(storage.migrate({ ...owner, isPlatform: true }, [full]))).to.equal('storage_full');
    expect([...storage.appliedMigrations().keys()]).to.deep.equal([]);
  });

  it('remember what was applied and when, across a restart', async () => {
    const first = one('0001_init', (m) => m.createTable('notes', { id: { kind: 'text' } }));
    await storage.migrate(owner, [first]);
    await storage.close();
    await open();
    expect([...(storage.appliedMigrations().get('note_book__migrations')?.keys() ?? [])]).to.deep.equal(['0001_init']);
    expect(await platform().readOne('SELECT name, applied_at FROM note_book__migrations')).to.deep.equal({ name: '0001_init', applied_at: '2026-01-01T00:00:00.000Z' });
  });

  it('are copied before a change; the newest three copies stay, by their age, and nothing half made', async () => {
    await storage.migrate(owner, [one('0001_init', (m) => m.createTable('notes', { id: { kind: 'text' } }))]);
    await db.commit([db.insert('notes', [{ id: 'before' }])]);
    for (const [name, day] of [
      ['z-old', 1],
      ['m-older', 0],
      ['a-young', 9],
      ['b-young', 8],
    ] as const) {
      const file = join(home, `svc.db.before-${name}`);
      writeFileSync(file, 'an earlier copy');
      utimesSync(file, new Date(2020, 0, day + 1), new Date(2020, 0, day + 1));
    }
    writeFileSync(join(home, 'svc.db.before-note-book-0002_more.partial'), 'half');

    await storage.migrate(owner, [one('0002_more', (m) => m.addColumn('notes', 'x', { kind: 'text' }))]);

    const copies = readdirSync(home).filter((name) => name.includes('before'));
    expect(copies.sort()).to.deep.equal(['svc.db.before-a-young', 'svc.db.before-b-young', 'svc.db.before-note-book-0002_more']);
    const copy = await openSqlite({ file: join(home, 'svc.db.before-note-book-0002_more'), readOnly: true, maxStatements: 2 });
    expect(await copy.all('SELECT * FROM note_book__notes', [])).to.deep.equal([{ id: 'before' }]);
    await copy.close();
  });

  describe('events that are kept', () => {
    it('are a hundred thousand at most: the oldest go, looked after every thousand', async function () {
      this.timeout(60_000);
      await storage.close();
      await open(['noted']);
      const events = (count: number) => db.commit(Array.from({ length: count }, (_, n) => storage.event('notes', 'noted', n)));
      const kept = async () => (await platform().readOne<{ n: number; first: number }>('SELECT count(*) AS n, min(seq) AS first FROM kernel_events')) ?? { n: 0, first: 0 };
      await events(999);
      await db.commit([storage.event('notes', 'fleeting', 0)]);
      // As if many had come before; numbers are what counts.
      const connection = await openSqlite({ file: join(home, 'svc.db'), readOnly: false, maxStatements: 2 });
      await connection.exec("INSERT INTO kernel_events(seq, name, data, at) VALUES (100500, 'noted', '0', '')");
      await connection.close();
      expect(await kept()).to.deep.equal({ n: 1_000, first: 1 });

      await events(1);
      await db.commit([storage.event('notes', 'fleeting', 0)]);

      // The newest was 100,500 when it was looked after: what is 100,000 and more behind that is gone.
      const { n, first } = await kept();
      expect([n, first]).to.deep.equal([501, 501]);
    });

    it('carry what JSON can hold, and refuse what it cannot', async () => {
      await storage.close();
      await open(['noted']);
      expect(await codeOf(db.commit([storage.event('notes', 'noted', undefined)]))).to.equal('storage_bad_write');
      await db.commit([storage.event('notes', 'noted', null)]);
      expect(await platform().readOne('SELECT name, data, at FROM kernel_events')).to.deep.equal({ name: 'noted', data: 'null', at: '2026-01-01T00:00:00.000Z' });
    });
  });

  describe('reads', () => {
    it('are shared among connections: the one with the least to do gets the next', async () => {
      await storage.migrate(owner, [one('0001_init', (m) => m.createTable('notes', { id: { kind: 'text' } }))]);
      const pool = createReaderPool(join(home, 'svc.db'), 2);
      const slow = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000000) SELECT count(*) AS n FROM n';
      const order: string[] = [];
      const first = pool.all(slow, []).then(() => order.push('slow'));
      const others = [1, 2, 3].map((n) => pool.all('SELECT ? AS n', [n]).then(() => order.push(`quick ${n}`)));
      await Promise.all([first, ...others]);
      // The second goes to the other connection; the third and fourth find one read on each.
      expect(order.indexOf('quick 1')).to.be.lessThan(order.indexOf('slow'));
      await pool.close();
      expect(await codeOf(pool.all('SELECT 1', []))).to.equal('storage_closed');
    });

    it('work again after a file that could not be opened is there', async () => {
      const file = join(home, 'later.db');
      const pool = createReaderPool(file, 1);
      expect(await codeOf(pool.all('SELECT 1 AS n', []))).to.match(/^storage_/);
      await (await openSqlite({ file, readOnly: false, maxStatements: 1 })).close();
      expect(await pool.all('SELECT 1 AS n', [])).to.deep.equal([{ n: 1 }]);
      await pool.close();
    });

    it('ask a text again that did not compile, once its table is there', async () => {
      const sql = 'SELECT count(*) AS n FROM note_book__notes';
      expect(await codeOf(db.read(sql))).to.equal('storage_failed');
      await storage.migrate(owner, [one('0001_init', (m) => m.createTable('notes', { id: { kind: 'text' } }))]);
      expect(await db.read(sql)).to.deep.equal([{ n: 0 }]);
    });

    it('forget the statement that was not used for longest, and go on with all of them', async () => {
      const connection = await openSqlite({ file: join(home, 'svc.db'), readOnly: true, maxStatements: 2 });
      for (const n of [1, 2, 1, 3, 4, 1, 2]) expect(await connection.all(`SELECT ${n} AS n`, [])).to.deep.equal([{ n }]);
      await connection.close();
    });
  });
});
