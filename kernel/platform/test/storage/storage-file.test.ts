/** What is so of SQLite only: one file, copies of it, a disk that is full, connections that share the reads. */
import { mkdtempSync, readdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Db, Logger, Migration } from '@svc/api';
import { expect } from 'chai';
import { virtualClock } from '../../src/clock/clock.js';
import { createCompiler } from '../../src/storage/contract/write-compiler.js';
import { createDeadlines } from '../../src/storage/contract/deadlines.js';
import { createStatementRules } from '../../src/storage/contract/statement-limits.js';
import { createReaderPool } from '../../src/storage/sqlite/reader-pool.js';
import { openSqlite } from '../../src/storage/sqlite/sqlite-connection.js';
import { sqliteDialect } from '../../src/storage/sqlite/sqlite-dialect.js';
import { createSqliteQueue } from '../../src/storage/sqlite/sqlite-queue.js';
import { openStorage, type Storage } from '../../src/storage/storage.js';

const owner = { id: 'note-book', tables: ['notes', 'tags'] };
const silent: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

describe('storage in a file', () => {
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

  const failureOf = (file: string): Promise<Error> =>
    openStorage({ file, clock, log: silent, onEvents: () => undefined }).then(
      () => {
        throw new Error('It should have failed.');
      },
      (error: Error) => error,
    );

  it('keeps a text with a NUL in it', async () => {
    await storage.migrate(owner, [one('0001_init', (m) => m.createTable('notes', { id: { kind: 'text' } }))]);
    expect(await put({ id: 'nul\0inside' })).to.equal('ok');
    expect(await db.system('a test').readOne('SELECT id FROM note_book__notes')).to.deep.equal({ id: 'nul\0inside' });
  });

  it('says that the disk is full, and keeps working for what fits', async () => {
    const connection = await openSqlite({ file: join(home, 'small.db'), readOnly: false, maxStatements: 5 });
    await connection.exec('PRAGMA journal_mode=WAL; CREATE TABLE temp.svc_changes (unit, write, n); CREATE TABLE t (body text); PRAGMA max_page_count=20;');
    const queue = createSqliteQueue({ connection, clock, log: silent, onEvents: () => undefined });
    const compile = createCompiler({ dialect: sqliteDialect, storeEvent: () => undefined });
    const put = (body: string) => queue.commit(compile([{ insert: 't', rows: [{ body }] }]));

    const results = await Promise.allSettled([put('small'), put('x'.repeat(200_000)), put('small too')]);

    expect(results.map((r) => (r.status === 'fulfilled' ? 'ok' : (r.reason as { code: string }).code))).to.deep.equal(['ok', 'storage_full', 'ok']);
    expect(await connection.all('SELECT body FROM t', [])).to.deep.equal([{ body: 'small' }, { body: 'small too' }]);
    await queue.close();
    await connection.close();
  });

  it('names the file and what to do when it cannot be opened', async () => {
    writeFileSync(join(home, 'letter.db'), 'Dear database, '.repeat(100));

    const missing = await failureOf('/proc/nowhere/svc.db');
    const wrong = await failureOf(join(home, 'letter.db'));

    expect(missing).to.include({ code: 'storage_unavailable', message: 'The database /proc/nowhere/svc.db cannot be opened: the folder is missing, or this user may not write there.' });
    expect(wrong.message).to.contain('not a database');
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

  it('are copied before a change; the newest three copies stay, by their age, and nothing half made; what other areas copy and remove meanwhile is left to them', async () => {
    const first = one('0001_init', (m) => m.createTable('notes', { id: { kind: 'text' } }));
    await storage.migrate(owner, [first]);
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
    writeFileSync(join(home, 'svc.db.before-other-0002_more.partial-journal'), 'of a copy that another area makes');
    symlinkSync(join(home, 'gone'), join(home, 'svc.db.before-gone'));

    await storage.migrate(owner, [first, one('0002_more', (m) => m.addColumn('notes', 'x', { kind: 'text' }))]);

    const copies = readdirSync(home).filter((name) => name.includes('before'));
    const kept = ['svc.db.before-a-young', 'svc.db.before-b-young', 'svc.db.before-note-book-0002_more'];
    expect(copies.sort()).to.deep.equal([...kept, 'svc.db.before-other-0002_more.partial-journal']);
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
      const kept = async () => (await platform().system('a test').readOne<{ n: number; first: number }>('SELECT count(*) AS n, min(id) AS first FROM kernel__events')) ?? { n: 0, first: 0 };
      await events(999);
      await db.commit([storage.event('notes', 'fleeting', 0)]);
      // As if many had come before; numbers are what counts.
      const connection = await openSqlite({ file: join(home, 'svc.db'), readOnly: false, maxStatements: 2 });
      await connection.exec("INSERT INTO kernel__events(id, name, data, at) VALUES (100500, 'noted', '0', '')");
      await connection.close();
      expect(await kept()).to.deep.equal({ n: 1_000, first: 1 });

      await events(1);
      await db.commit([storage.event('notes', 'fleeting', 0)]);

      // The newest was 100,500 when it was looked after: what is 100,000 and more behind that is gone.
      const { n, first } = await kept();
      expect([n, first]).to.deep.equal([501, 501]);
    });
  });

  describe('reads', () => {
    const owned = { id: 'note-book', isThirdParty: false };

    it('are shared among connections: the one with the least to do gets the next', async () => {
      await storage.migrate(owner, [one('0001_init', (m) => m.createTable('notes', { id: { kind: 'text' } }))]);
      const pool = createReaderPool({ file: join(home, 'svc.db'), size: 2, deadlines: createDeadlines(), rules: createStatementRules() });
      const slow = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000000) SELECT count(*) AS n FROM n';
      const order: string[] = [];
      const first = pool.all(owned, slow, []).then(() => order.push('slow'));
      const others = [1, 2, 3].map((n) => pool.all(owned, 'SELECT ? AS n', [n]).then(() => order.push(`quick ${n}`)));
      await Promise.all([first, ...others]);
      // The second goes to the other connection; the third and fourth find one read on each.
      expect(order.indexOf('quick 1')).to.be.lessThan(order.indexOf('slow'));
      await pool.close();
      expect(await codeOf(pool.all(owned, 'SELECT 1', []))).to.equal('storage_closed');
    });

    it('work again after a file that could not be opened is there', async () => {
      const file = join(home, 'later.db');
      const pool = createReaderPool({ file, size: 1, deadlines: createDeadlines(), rules: createStatementRules() });
      expect(await codeOf(pool.all(owned, 'SELECT 1 AS n', []))).to.match(/^storage_/);
      await (await openSqlite({ file, readOnly: false, maxStatements: 1 })).close();
      expect(await pool.all(owned, 'SELECT 1 AS n', [])).to.deep.equal([{ n: 1 }]);
      await pool.close();
    });

    it('ask a text again that did not compile, once its table is there', async () => {
      const sql = 'SELECT count(*) AS n FROM note_book__notes';
      expect(await codeOf(db.system('a test').read(sql))).to.equal('storage_failed');
      await storage.migrate(owner, [one('0001_init', (m) => m.createTable('notes', { id: { kind: 'text' } }))]);
      expect(await db.system('a test').read(sql)).to.deep.equal([{ n: 0 }]);
    });

    it('forget the statement that was not used for longest, and go on with all of them', async () => {
      const connection = await openSqlite({ file: join(home, 'svc.db'), readOnly: true, maxStatements: 2 });
      for (const n of [1, 2, 1, 3, 4, 1, 2]) expect(await connection.all(`SELECT ${n} AS n`, [])).to.deep.equal([{ n }]);
      await connection.close();
    });
  });
});
