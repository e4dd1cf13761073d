/** What a commit says back, what travels together, and how much may wait. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Db, Logger, Migration } from '@svc/api';
import { describeOnEngines } from '@svc/testing/postgres/engines';
import { expect } from 'chai';
import { virtualClock } from '../../src/clock/clock.js';
import { openSqlite, type SqliteConnection } from '../../src/storage/sqlite/sqlite-connection.js';
import { openStorage, type Storage, type StorageOptions } from '../../src/storage/storage.js';
import type { Unit } from '../../src/storage/contract/write-compiler.js';
import type { WriteQueue } from '../../src/storage/contract/write-queue.js';
import { createSqliteQueue } from '../../src/storage/sqlite/sqlite-queue.js';

const owner = { id: 'notes', tables: ['rows', 'links'] };
const init: Migration = {
  name: '0001_init',
  up(m) {
    m.createTable('rows', { id: { kind: 'text', primaryKey: true }, n: { kind: 'integer', notNull: true, default: 0 }, body: { kind: 'text' } });
    m.createTable('links', { name: { kind: 'text', notNull: true }, row: { kind: 'text', notNull: true } }, { unique: [['name', 'row']] });
  },
};

describeOnEngines('writing to storage', (engine) => {
  let home: string;
  let where: { url?: string };
  let storage: Storage;
  let db: Db;
  let logged: string[];
  const clock = virtualClock(0);

  const open = async (extra: Partial<StorageOptions> = {}): Promise<void> => {
    const say = (message: string): void => void logged.push(message);
    const log: Logger = { debug: () => undefined, info: () => undefined, warn: say, error: say };
    storage = await openStorage({ file: join(home, 'svc.db'), ...where, clock, log, onEvents: () => undefined, ...extra });
    await storage.migrate(owner, [init]);
    db = storage.dbFor(owner);
  };

  beforeEach(async () => {
    home = mkdtempSync(join(tmpdir(), 'svc-storage-'));
    logged = [];
    where = await engine.fresh();
    await open();
  });

  afterEach(async () => {
    await storage.close();
    rmSync(home, { recursive: true, force: true });
  });

  const row = (id: string, n = 0) => db.insert('rows', [{ id, n }]);
  const all = () => db.system('a test').read('SELECT id, n, body FROM notes__rows ORDER BY id');
  const failure = (work: Promise<unknown>): Promise<{ code: string; message: string; details: unknown; retry: boolean }> =>
    work.then(
      () => {
        throw new Error('It should have failed.');
      },
      (error: { code: string; message: string; details: unknown; retry: boolean }) => error,
    );

  describe('a commit', () => {
    it('of nothing succeeds without a trip to the disk', async () => {
      const { batches } = storage.stats();
      expect(await db.commit([])).to.deep.equal({ changes: [] });
      expect(storage.stats().batches).to.equal(batches);
    });

    it('of events alone is told to whoever listens', async () => {
      const received: unknown[] = [];
      await storage.close();
      await open({ onEvents: (events) => received.push(...events) });
      expect(await db.commit([storage.event('notes', 'noted', 1)])).to.deep.equal({ changes: [0] });
      expect(received).to.deep.equal([{ event: 'noted', data: 1 }]);
    });

    it('inserts rows of different columns, each with what it says and the defaults of the rest', async () => {
      const { changes } = await db.commit([db.insert('rows', [{ id: 'a', n: 1 }, { id: 'b', n: 2 }, { id: 'c', body: 'x' }, { id: 'd' }])]);
      expect(changes).to.deep.equal([4]);
      expect(await all()).to.deep.equal([
        { id: 'a', n: 1, body: null },
        { id: 'b', n: 2, body: null },
        { id: 'c', n: 0, body: 'x' },
        { id: 'd', n: 0, body: null },
      ]);
    });

    it('says what an upsert changed, and an upsert of a key alone inserts what is missing', async () => {
      const link = (name: string) => ({ name, row: 'r' });
      const first = await db.commit([db.upsert('links', ['name', 'row'], [link('a'), link('b')])]);
      const second = await db.commit([db.upsert('links', ['name', 'row'], [link('a'), link('c')])]);
      expect([first.changes, second.changes]).to.deep.equal([[2], [1]]);
      await db.commit([row('a', 1), db.upsert('rows', ['id'], [{ id: 'a', body: 'kept n' }])]);
      expect(await all()).to.deep.equal([{ id: 'a', n: 1, body: 'kept n' }]);
    });

    it('expects exactly as many rows as it says, not fewer and not more', async () => {
      await db.commit([row('a', 1), row('b', 1)]);
      const change = (expected: number) => db.commit([db.sql('UPDATE notes__rows SET n = n + 1 WHERE n = ?', [1], { expect: expected })]);
      expect((await failure(change(1))).details).to.deep.equal({ reason: 'expect', write: 0 });
      expect((await failure(change(3))).details).to.deep.equal({ reason: 'expect', write: 0 });
      expect(await change(2)).to.deep.equal({ changes: [2] });
      expect(await db.commit([db.sql('DELETE FROM notes__rows WHERE n = 1', [], { expect: 0 })])).to.deep.equal({ changes: [0] });
    });

    it('takes a `?` and a `;` in texts for what they are', async () => {
      await db.commit([db.sql(`INSERT INTO notes__rows(id, body) VALUES (?, 'why? because; it''s -- really?')`, ['a'])]);
      await db.commit([db.sql('UPDATE "notes__rows" SET "n" = ?, "body" = "body" || ? WHERE id = ?', [4, '!', 'a'], { expect: 1 })]);
      expect(await all()).to.deep.equal([{ id: 'a', n: 4, body: "why? because; it's -- really?!" }]);
    });

    it('says what is wrong with a write that cannot be one', async () => {
      const cases: Array<[Parameters<Db['commit']>[0][number], string]> = [
        [db.sql('DELETE FROM notes__rows WHERE id = ?', []), 'it has 1 placeholders and 0 arguments'],
        [db.sql('DELETE FROM notes__rows WHERE id = ?', ['a', 'b']), 'it has 1 placeholders and 2 arguments'],
        [db.insert('rows', [{}]), 'a row has no columns'],
        [db.insert('rows', [{ id: 'a', 'n; --': 1 }]), '"n; --" is not a column or table name'],
        [db.update('rows', ['id'], [{ id: 'a' }]), 'an update of notes__rows sets no column'],
        [db.update('rows', [], [{ n: 1 }]), 'an update of notes__rows names no key'],
        [db.update('rows', ['id'], [{ n: 1 }]), 'notes__rows.id has no value'],
      ];
      for (const [write, words] of cases) {
        const { code, message } = await failure(db.commit([write]));
        expect([code, message.includes(words)], `${message} / ${words}`).to.deep.equal(['storage_bad_write', true]);
      }
      expect(await all()).to.deep.equal([]);
    });

    it('says which rule a row broke: a key that is taken, a row that breaks its table', async () => {
      await db.commit([db.insert('links', [{ name: 'a', row: 'r' }]), row('a')]);
      expect(await failure(db.commit([db.insert('links', [{ name: 'a', row: 'r' }])]))).to.deep.include({
        code: 'storage_conflict',
        retry: true,
        details: { reason: 'unique', columns: ['notes__links.name', 'notes__links.row'] },
      });
      const { code, message } = await failure(db.commit([db.insert('rows', [{ id: 'b', n: null }])]));
      expect([code, message]).to.deep.equal(['storage_invalid_row', 'The row breaks a rule of its table: notes__rows.n.']);
      expect((await failure(db.commit([db.sql('UPDATE notes__rows SET nonsense = 1', [])]))).code).to.equal('storage_failed');
    });

    it('goes through when a listener of its events throws, and the log names them', async () => {
      await storage.close();
      await open({
        onEvents: () => {
          throw new Error('no');
        },
      });
      await db.commit([row('a'), storage.event('notes', 'noted', 1)]);
      expect(await all()).to.have.length(1);
      expect(logged).to.deep.equal(['A listener of committed events failed.']);
    });
  });

  describe('counters', () => {
    it('say how many commits, batches, rows and conflicts there were', async () => {
      const before = storage.stats();
      await Promise.all([db.commit([row('a'), row('b')]), db.commit([db.insert('rows', [{ id: 'c' }, { id: 'd' }, { id: 'e' }])])]);
      await failure(db.commit([row('a')]));
      await db.commit([db.sql('UPDATE notes__rows SET n = 1', []), db.upsert('rows', ['id'], [{ id: 'a', n: 2 }])]);
      const after = storage.stats();
      expect([after.commits - before.commits, after.batches - before.batches, after.rows - before.rows, after.conflicts - before.conflicts]).to.deep.equal([3, 3, 7, 1]);
      expect(after.queueDepth).to.equal(0);
    });

    it('count right for each of many counted commits of one batch', async () => {
      await db.commit([
        db.insert(
          'rows',
          [1, 2, 2, 3, 3, 3].map((n, i) => ({ id: `r${i}`, n })),
        ),
      ]);
      const done = await Promise.all([1, 2, 3, 4].map((n) => db.commit([db.sql('UPDATE notes__rows SET body = ? WHERE n = ?', ['x', n]), row(`new-${n}`, 9)])));
      expect(done.map(({ changes }) => changes)).to.deep.equal([
        [1, 1],
        [2, 1],
        [3, 1],
        [0, 1],
      ]);
    });

    it('count right for a counted commit beside one that says its number itself', async () => {
      await db.commit([row('a', 1), row('b', 1)]);
      const [counted] = await Promise.all([db.commit([db.sql('UPDATE notes__rows SET n = 2 WHERE n = 1', [])]), db.commit([row('c')])]);
      expect(counted).to.deep.equal({ changes: [2] });
    });

    it('count right for counted commits beside one that fails', async () => {
      await db.commit([row('a', 1), row('b', 1)]);
      const [counted, failed] = await Promise.allSettled([db.commit([db.sql('UPDATE notes__rows SET n = 2 WHERE n = 1', [])]), db.commit([row('a')])]);
      expect(counted).to.deep.include({ status: 'fulfilled', value: { changes: [2] } });
      expect(failed?.status).to.equal('rejected');
    });
  });
});

describe('the queue of writes', () => {
  let home: string;
  let connection: SqliteConnection;
  let texts: string[];
  let queue: WriteQueue;
  /** Holds the connection until the test lets go. */
  let release: () => void;
  let lastId = 0;

  beforeEach(async () => {
    home = mkdtempSync(join(tmpdir(), 'svc-queue-'));
    connection = await openSqlite({ file: join(home, 'svc.db'), readOnly: false, maxStatements: 5 });
    await connection.exec('CREATE TABLE t (id integer)');
    texts = [];
    const spied: SqliteConnection = {
      ...connection,
      exec: (sql) => {
        texts.push(sql);
        // Its size is what counts here, not what SQLite makes of sixty megabytes.
        return sql.length > 10_000_000 ? Promise.resolve() : connection.exec(sql);
      },
    };
    const log: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
    queue = createSqliteQueue({ connection: spied, clock: virtualClock(0), log, onEvents: () => undefined });
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    void queue.exclusive(() => gate);
  });

  afterEach(async () => {
    release();
    await queue.close();
    await connection.close();
    rmSync(home, { recursive: true, force: true });
  });

  const unit = (sql = `INSERT INTO t VALUES(${lastId});`): Unit => {
    lastId += 1;
    return { id: lastId, sql, changes: [], counted: false, statements: [], events: [], rows: 1 };
  };
  const codeOf = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => 'ok',
      (error: { code: string }) => error.code,
    );

  it('sends a thousand commits in one transaction, and the next in another', async () => {
    const done = Array.from({ length: 1_001 }, () => queue.commit(unit()));
    release();
    await Promise.all(done);
    expect(texts.map((text) => text.split('INSERT').length - 1)).to.deep.equal([1_000, 1]);
  });

  it('sends a megabyte in one transaction, and a commit of any size alone', async () => {
    const padded = (bytes: number): Unit => unit(`INSERT INTO t VALUES(1) /*${'x'.repeat(bytes - 29)}*/;`);
    const sizes = [524_288, 524_288, 1, 3_000_000, 10, 600_000, 600_000];
    const done = sizes.map((size) => queue.commit(size < 100 ? unit() : padded(size)));
    release();
    await Promise.all(done);
    expect(texts.map((text) => text.split('INSERT').length - 1)).to.deep.equal([2, 1, 1, 2, 1]);
  });

  it('lets twenty thousand wait and refuses the next, until there is room again', async () => {
    // From here on the work that holds the connection does not wait itself.
    await new Promise((resolve) => setImmediate(resolve));
    const done = Array.from({ length: 19_999 }, () => queue.commit(unit('INSERT INTO t VALUES(1);')));
    const last = codeOf(queue.commit(unit()));
    expect(queue.stats().queueDepth).to.equal(20_000);
    expect(await codeOf(queue.commit(unit()))).to.equal('storage_overloaded');
    release();
    await Promise.all(done);
    expect(await last).to.equal('ok');
    expect(await codeOf(queue.commit(unit()))).to.equal('ok');
  });

  it('lets 256 megabytes of text wait and refuses more, until there is room again', async () => {
    const big = `--${'x'.repeat(64 * 1_048_576 - 3)}\n`;
    const done = Array.from({ length: 4 }, () => codeOf(queue.commit(unit(big))));
    expect(await codeOf(queue.commit(unit(';')))).to.equal('storage_overloaded');
    release();
    expect(await Promise.all(done)).to.deep.equal(['ok', 'ok', 'ok', 'ok']);
    expect(await codeOf(queue.commit(unit()))).to.equal('ok');
  });

  it('gives the connection to whoever needs it alone after what was asked before, and hands on what that came to', async () => {
    const order: string[] = [];
    const before = queue.commit(unit()).then(() => order.push('before'));
    const alone = queue.exclusive(async () => {
      order.push('alone');
      return 'mine';
    });
    const failed = codeOf(queue.exclusive(() => Promise.reject(Object.assign(new Error('no'), { code: 'own' }))));
    const after = queue.commit(unit()).then(() => order.push('after'));
    release();
    await Promise.all([before, after]);
    expect(order).to.deep.equal(['before', 'alone', 'after']);
    expect([await alone, await failed]).to.deep.equal(['mine', 'own']);
    await queue.close();
    expect([await codeOf(queue.commit(unit())), await codeOf(queue.exclusive(async () => 1))]).to.deep.equal(['storage_closed', 'storage_closed']);
  });
});

describe('a batch that fails', () => {
  let home: string;
  let connection: SqliteConnection;
  let texts: string[];
  let received: unknown[];
  let queue: WriteQueue;
  /** What the connection answers instead of carrying a text out. */
  let failing: (sql: string) => Error | undefined;

  beforeEach(async () => {
    home = mkdtempSync(join(tmpdir(), 'svc-batch-'));
    connection = await openSqlite({ file: join(home, 'svc.db'), readOnly: false, maxStatements: 5 });
    await connection.exec('CREATE TABLE t (id integer PRIMARY KEY); CREATE TABLE temp.svc_changes (unit, write, n);');
    texts = [];
    received = [];
    failing = () => undefined;
    const weak: SqliteConnection = {
      ...connection,
      exec: (sql) => {
        texts.push(sql);
        const error = failing(sql);
        return error ? Promise.reject(error) : connection.exec(sql);
      },
    };
    const log: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
    queue = createSqliteQueue({ connection: weak, clock: virtualClock(0), log, onEvents: (events) => received.push(...events.map(({ data }) => data)) });
  });

  afterEach(async () => {
    await queue.close();
    await connection.close();
    rmSync(home, { recursive: true, force: true });
  });

  const sqliteError = (code: string): Error => Object.assign(new Error(`${code}: it failed`), { code });
  const insert = (id: number): Unit => ({ id, sql: `INSERT INTO t VALUES(${id});`, changes: [1], counted: false, statements: [], events: [{ event: 'noted', data: id }], rows: 1 });
  const outcomes = async (...units: Unit[]): Promise<string[]> =>
    (await Promise.allSettled(units.map((unit) => queue.commit(unit)))).map((one) => (one.status === 'fulfilled' ? 'ok' : (one.reason as { code: string }).code));
  const stored = async () => ((await connection.all('SELECT id FROM t ORDER BY id', [])) as Array<{ id: number }>).map(({ id }) => id);

  for (const [sqlite, code] of [
    ['SQLITE_IOERR', 'storage_io'],
    ['SQLITE_BUSY', 'storage_busy'],
    ['SQLITE_MISUSE', 'storage_closed'],
  ] as const) {
    it(`by ${sqlite} is tried no second time: it is nobody's fault, and what was written is not known`, async () => {
      failing = (sql) => (sql.includes('INSERT') ? sqliteError(sqlite) : undefined);
      expect(await outcomes(insert(1), insert(2))).to.deep.equal([code, code]);
      expect(texts.filter((text) => text.includes('INSERT'))).to.have.length(1);
      expect([received, await stored()]).to.deep.equal([[], []]);
    });
  }

  it('and cannot be taken apart either is carried out one by one: who fails is told once, and the others are kept', async () => {
    failing = (sql) => (sql.startsWith('ROLLBACK TO') ? sqliteError('SQLITE_ERROR') : undefined);
    expect(await outcomes(insert(1), insert(1), insert(2))).to.deep.equal(['ok', 'storage_conflict', 'ok']);
    expect([received, await stored()]).to.deep.equal([
      [1, 2],
      [1, 2],
    ]);
    expect(queue.stats()).to.include({ commits: 2, conflicts: 1, rows: 2 });
  });

  it('says whether the same can succeed later, and with which status', async () => {
    const seen: Record<string, [string, number, boolean]> = {};
    for (const sqlite of ['SQLITE_FULL', 'SQLITE_IOERR', 'SQLITE_CORRUPT', 'SQLITE_READONLY', 'SQLITE_BUSY', 'SQLITE_LOCKED', 'SQLITE_MISUSE', 'SQLITE_ERROR']) {
      failing = (sql) => (sql.includes('INSERT') ? sqliteError(sqlite) : undefined);
      const error = await queue.commit(insert(1)).catch((refusal: { code: string; status: number; retry: boolean }) => refusal);
      if ('code' in error) seen[sqlite] = [error.code, error.status, error.retry];
    }
    expect(seen).to.deep.equal({
      SQLITE_FULL: ['storage_full', 507, true],
      SQLITE_IOERR: ['storage_io', 500, false],
      SQLITE_CORRUPT: ['storage_io', 500, false],
      SQLITE_READONLY: ['storage_io', 500, false],
      SQLITE_BUSY: ['storage_busy', 503, true],
      SQLITE_LOCKED: ['storage_busy', 503, true],
      SQLITE_MISUSE: ['storage_closed', 503, true],
      SQLITE_ERROR: ['storage_failed', 500, false],
    });
  });
});
