/** What is so of PostgreSQL only: its errors, its connections, several daemons on one server. */
import { createServer, type Server, type Socket } from 'node:net';
import { mkdtempSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Db, Logger, Migration } from '@svc/api';
import { type PostgresCluster, sharedCluster, startCluster } from '@svc/testing/postgres/cluster';
import { startTcpProxy } from '@svc/testing/postgres/tcp-proxy';
import { expect } from 'chai';
import { systemClock } from '../../src/clock/clock.js';
import { identityFileOf } from '../../src/config/home.js';
import { DEFAULT_LIMITS } from '../../src/storage/contract/statement-limits.js';
import { addressOf } from '../../src/storage/postgres/postgres-url.js';
import { poolOf } from '../../src/storage/postgres/reader-pool.js';
import { checkServer } from '../../src/storage/postgres/server-check.js';
import { openStorage, type Storage, type StorageOptions } from '../../src/storage/storage.js';

const owner = { id: 'notes', tables: ['rows'] };
const init: Migration = {
  name: '0001_init',
  up: (m) => m.createTable('rows', { id: { kind: 'text', primaryKey: true }, n: { kind: 'integer' }, r: { kind: 'real' }, meta: { kind: 'json' } }),
};
interface Failure {
  readonly code: string;
  readonly message: string;
  readonly status: number;
  readonly retry: boolean;
  readonly cause?: unknown;
}
const failure = (work: Promise<unknown>): Promise<Failure> =>
  work.then(
    () => {
      throw new Error('It should have failed.');
    },
    (error: Failure) => error,
  );

describe('storage on a PostgreSQL server', function () {
  this.timeout(60_000);
  let home: string;
  let cluster: PostgresCluster;
  let opened: Storage[];
  let logged: string[];

  before(async () => {
    cluster = await sharedCluster();
  });
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'svc-postgres-'));
    opened = [];
    logged = [];
  });
  afterEach(async () => {
    for (const storage of opened) await storage.close();
    rmSync(home, { recursive: true, force: true });
  });

  const open = async (url: string, extra: Partial<StorageOptions> = {}): Promise<Storage> => {
    const say = (message: string, fields?: unknown): void => void logged.push(`${message} ${JSON.stringify(fields ?? {})}`);
    const log: Logger = { debug: () => undefined, info: say, warn: say, error: say };
    const storage = await openStorage({ file: join(home, 'svc.db'), url, clock: systemClock(), log, onEvents: () => undefined, ...extra });
    opened.push(storage);
    return storage;
  };
  const ready = async (url: string, extra: Partial<StorageOptions> = {}): Promise<Db> => {
    const storage = await open(url, extra);
    await storage.migrate(owner, [init]);
    // Its text is not validated: some of it is this engine's own.
    return storage.dbFor({ ...owner, isPlatform: true });
  };
  const row = (db: Db, id: string, n = 0) => db.insert('rows', [{ id, n }]);

  describe('an address', () => {
    it('that is none says what is wrong with it, and nothing of what stands there', () => {
      const cases: ReadonlyArray<readonly [string, string]> = [
        ['not a url with pass:word', 'it cannot be read as a URL'],
        ['mysql://u:secret@h/db', 'it does not begin with postgres://'],
        ['postgres://u:secret@h', 'it names no database'],
        ['postgres://u:sec%ret@h/db', 'a % in it does not begin an escape'],
        ['sha256:abcdef', 'config.toml cannot be read'],
      ];
      for (const [url, words] of cases) {
        let message = '';
        try {
          addressOf(url);
        } catch (error) {
          message = error instanceof Error ? error.message : '';
        }
        expect(message, url).to.contain(words);
        expect(message, url).to.not.match(/secret|pass:word|sec%ret|abcdef/);
      }
    });

    it('is shown by host, port and name only', () => {
      expect(addressOf('postgres://me:my%40pass@db.example:6000/agents')).to.deep.include({ place: 'db.example:6000/agents', password: 'my@pass' });
      expect(addressOf('postgresql://me@db.example/agents')).to.deep.include({ place: 'db.example:5432/agents', password: undefined });
    });
  });

  describe('a server that cannot be used', () => {
    const messages = async (url: string): Promise<string> => {
      const { code, message, status } = await failure(open(url));
      expect([code, status]).to.deep.equal(['storage_server_unavailable', 503]);
      expect(message).to.not.contain('password-for-tests');
      return message;
    };

    it('is told apart: a wrong password, no such database, nobody at the address, no such host', async () => {
      expect(await messages(cluster.urlOf('postgres', { password: 'wrong-guess' }))).to.match(/^The database 127\.0\.0\.1:\d+\/postgres cannot be used: it refused the user or the password\.$/);
      expect(await messages(cluster.urlOf('nowhere'))).to.contain('it has no database of this name');
      expect(await messages('postgres://svc:x@127.0.0.1:1/db')).to.contain('nothing answers at this address');
      expect(await messages('postgres://svc:x@no-such-host.invalid/db')).to.match(/name of the host/);
    });

    it('is told apart: it has no connection left', async () => {
      await cluster.admin("CREATE ROLE narrow LOGIN PASSWORD 'narrow' CONNECTION LIMIT 0");
      expect(await messages(cluster.urlOf('postgres', { user: 'narrow', password: 'narrow' }))).to.contain('it has no connection left');
    });

    it('is told apart: the user may not create tables', async () => {
      const url = new URL(await cluster.fresh());
      await cluster.admin("CREATE ROLE reader LOGIN PASSWORD 'reader'");
      await cluster.admin('REVOKE CREATE ON SCHEMA public FROM PUBLIC', url.href);
      expect(await messages(cluster.urlOf(url.pathname.slice(1), { user: 'reader', password: 'reader' }))).to.contain('this user may not create tables in it');
    });

    it('is told apart: it is too old, or keeps text in another encoding', async () => {
      const reported = (version: string, encoding: string) =>
        failure(checkServer({ query: async () => [{ command: 'SELECT', rowCount: 1, rows: [{ version, encoding }] }] }, 'h:1/db')).then(({ message }) => message);
      expect(await reported('120017', 'UTF8')).to.contain('it is PostgreSQL 12, and 13 is the oldest that will do');
      expect(await reported('150018', 'SQL_ASCII')).to.contain('its encoding is SQL_ASCII, but UTF8 is required');
      await cluster.admin("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0");
      expect(await messages(cluster.urlOf('latin'))).to.contain('its encoding is LATIN1');
    });
  });

  describe('values', () => {
    it('that it would change or cannot keep are refused, by the writer and by the reader', async () => {
      const db = await ready(await cluster.fresh());
      const put = (values: Record<string, string | number>) => failure(db.commit([db.insert('rows', [{ id: 'x', ...values }])])).then(({ code }) => code);
      expect((await failure(db.commit([db.update('rows', ['id'], [{ id: 'nul\0inside', n: 1 }])]))).code).to.equal('storage_bad_text');
      expect(await put({ n: 1.5 })).to.equal('storage_invalid_row');
      expect(await put({ n: 2 ** 53 })).to.equal('storage_number_too_large');
      expect(await put({ meta: '{' })).to.equal('storage_invalid_row');
      expect((await failure(db.system('a test').read('SELECT 9007199254740993::bigint AS n'))).code).to.equal('storage_number_read');
    });

    it('writes a row whose text holds NUL, with U+FFFD in its place', async () => {
      const db = await ready(await cluster.fresh());
      await db.commit([
        db.insert('rows', [
          { id: 'a\0b', n: 1 },
          { id: 'c', n: 2 },
        ]),
      ]);
      expect(await db.system('a test').read('SELECT id FROM notes__rows ORDER BY n')).to.deep.equal([{ id: 'a\uFFFDb' }, { id: 'c' }]);
    });

    it('read as on SQLite: counts, sums, truths and JSON as it was written', async () => {
      const db = await ready(await cluster.fresh());
      const meta = '{"b": 1, "a": "\\u0000 and \\\\ and \'"}';
      await db.commit([
        db.insert('rows', [
          { id: 'a', n: 2 ** 53 - 1, r: 0.1, meta },
          { id: 'b', n: -5, r: 1e-7, meta: null },
        ]),
      ]);
      expect(await db.system('a test').read('SELECT r, meta FROM notes__rows ORDER BY id')).to.deep.equal([
        { r: 0.1, meta },
        { r: 1e-7, meta: null },
      ]);
      expect(await db.system('a test').read('SELECT count(*) AS c, sum(n) AS s, min(n) - ? AS m, bool_and(n IS NOT NULL) AS t, avg(r) > 0 AS p FROM notes__rows', [-4])).to.deep.equal([
        { c: 2, s: 2 ** 53 - 6, m: -1, t: 1, p: 1 },
      ]);
    });

    it('of text compare by their bytes, whatever the locale of the server', async () => {
      const db = await ready(await cluster.fresh());
      await db.commit([
        db.insert(
          'rows',
          ['b', 'B', 'a', 'ä', 'Z', '_'].map((id) => ({ id })),
        ),
      ]);
      expect((await db.system('a test').read<{ id: string }>('SELECT id FROM notes__rows ORDER BY id')).map(({ id }) => id)).to.deep.equal(['B', 'Z', '_', 'a', 'b', 'ä']);
    });

    it('can be no statement of their own', async () => {
      const db = await ready(await cluster.fresh());
      const evil = ["'; DROP TABLE notes__rows; --", "\\'; DROP TABLE notes__rows; --", '$$; DROP TABLE notes__rows; $$'];
      await db.commit([
        db.insert(
          'rows',
          evil.map((id) => ({ id })),
        ),
      ]);
      for (const id of evil) expect(await db.system('a test').read('SELECT id FROM notes__rows WHERE id = ?', [id])).to.deep.equal([{ id }]);
    });
  });

  describe('several daemons', () => {
    it('apply each migration once, when they start at the same time', async () => {
      const url = await cluster.fresh();
      const all = await Promise.all(Array.from({ length: 4 }, () => open(url)));
      const applied = await Promise.all(all.map((storage) => storage.migrate(owner, [init, { name: '0002_more', up: (m) => m.addColumn('rows', 'colour', { kind: 'text' }) }])));
      expect(applied.flatMap((one) => one.applied).sort()).to.deep.equal(['0001_init', '0002_more']);
      for (const storage of all) expect([...(storage.appliedMigrations().get('notes__migrations')?.keys() ?? [])]).to.deep.equal(['0001_init', '0002_more']);
    });

    it('commit one after the other: what a commit validated still holds when it is committed, and none deadlock', async () => {
      const url = await cluster.fresh();
      const dbs = [await ready(url), await ready(url), await ready(url)] as const;
      const [one] = dbs;
      await one.commit([row(one, 'sum'), row(one, 'x'), row(one, 'y')]);
      // Each takes the two rows in its own order, and adds only while the sum is small.
      const spend = (at: number) => {
        const db = dbs[at % 3] ?? one;
        return db.commit([
          db.update(
            'rows',
            ['id'],
            (at % 2 === 0 ? ['x', 'y'] : ['y', 'x']).map((id) => ({ id, n: at })),
          ),
          db.sql("UPDATE notes__rows SET n = n + 1 WHERE id = 'sum' AND (SELECT count(*) FROM notes__rows WHERE id LIKE 'spent-%') < 10", [], { expect: 1 }),
          row(db, `spent-${at}`),
        ]);
      };
      const ends = await Promise.allSettled(Array.from({ length: 60 }, (_, at) => spend(at)));
      expect(ends.filter(({ status }) => status === 'fulfilled')).to.have.length(10);
      expect(await dbs[1].system('a test').read("SELECT n FROM notes__rows WHERE id = 'sum'")).to.deep.equal([{ n: 10 }]);
      expect(ends.flatMap((end) => (end.status === 'rejected' ? [(end.reason as Failure).code] : [])).filter((code) => code !== 'storage_conflict')).to.deep.equal([]);
    });
  });

  describe('a connection that is lost', () => {
    const kill = (url: string, which = 'true') =>
      cluster.admin(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${new URL(url).pathname.slice(1)}' AND pid <> pg_backend_pid() AND ${which}`);

    it('is opened again, for commits and for reads', async () => {
      const url = await cluster.fresh();
      const db = await ready(url);
      await db.commit([row(db, 'a')]);
      await db.system('a test').read('SELECT 1');
      await kill(url);
      await db.commit([row(db, 'b')]);
      await kill(url);
      expect(await db.system('a test').read('SELECT id FROM notes__rows ORDER BY id')).to.deep.equal([{ id: 'a' }, { id: 'b' }]);
    });

    it('in the middle of commits loses none that was told, and repeats none', async () => {
      const url = await cluster.fresh();
      const db = await ready(url);
      await db.commit([row(db, 'sum')]);
      let reported = 0;
      const busy = Array.from({ length: 8 }, async () => {
        for (let turn = 0; turn < 25; turn += 1) {
          await db.commit([db.sql("UPDATE notes__rows SET n = n + 1 WHERE id = 'sum'", [], { expect: 1 })]);
          reported += 1;
        }
      });
      for (let kills = 0; kills < 5; kills += 1) {
        await new Promise((resolve) => setTimeout(resolve, 30));
        await kill(url);
      }
      await Promise.all(busy);
      expect([reported, await db.system('a test').readOne("SELECT n FROM notes__rows WHERE id = 'sum'")]).to.deep.equal([200, { n: 200 }]);
    });

    it('while a reader is lent and asks nothing fails what it asks next, and ends nothing else', async () => {
      const url = await cluster.fresh();
      const pool = poolOf({ url }, { limitsOf: () => DEFAULT_LIMITS.own }, 1, false);
      try {
        const lent = await pool.connect();
        const { rows } = await lent.query('SELECT pg_backend_pid() AS pid');
        const ended = new Promise((resolve) => lent.once('end', resolve));
        await cluster.admin(`SELECT pg_terminate_backend(${rows[0].pid})`);
        // Mocha fails this test where the loss is nobody's error.
        await ended;
        expect((await failure(lent.query('SELECT 1'))).message).to.match(/not queryable|terminat|closed/i);
        lent.release(true);
        expect((await pool.query('SELECT 1 AS one')).rows).to.deep.equal([{ one: 1 }]);
      } finally {
        await pool.end();
      }
    });

    it('for longer than it is waited for refuses commits and reads, and says that they may be tried again', async () => {
      const own = await startCluster({ maxConnections: 20 });
      try {
        const db = await ready(await own.fresh(), { patienceMs: 500 });
        await own.crash();
        const [commit, read] = [await failure(db.commit([row(db, 'a')])), await failure(db.system('a test').read('SELECT 1'))];
        expect([commit.code, commit.retry, read.code, read.retry]).to.deep.equal(['storage_unreachable', true, 'storage_unreachable', true]);
        await own.start();
        await db.commit([row(db, 'b')]);
        expect(await db.system('a test').read('SELECT id FROM notes__rows')).to.deep.equal([{ id: 'b' }]);
      } finally {
        for (const storage of opened.splice(0)) await storage.close();
        await own.stop();
      }
    });

    it('and leads to a server that takes no writes, as during a failover, is tried until one does', async () => {
      const url = await cluster.fresh();
      const name = new URL(url).pathname.slice(1);
      const storage = await open(url, { patienceMs: 500 });
      await storage.migrate(owner, [init]);
      const db = storage.dbFor(owner);
      await cluster.admin(`ALTER DATABASE "${name}" SET default_transaction_read_only = on`);
      await kill(url);
      const refused = await failure(db.commit([row(db, 'a')]));
      expect([refused.code, refused.retry]).to.deep.equal(['storage_unreachable', true]);
      expect(refused.message).to.contain('read-only');
      await cluster.admin(`ALTER DATABASE "${name}" RESET default_transaction_read_only`);
      await db.commit([row(db, 'b')]);
      expect(await db.system('a test').read('SELECT id FROM notes__rows')).to.deep.equal([{ id: 'b' }]);
    });

    it('is opened again where the server takes no more writes on it', async () => {
      const url = await cluster.fresh();
      const db = await ready(url);
      await db.commit([row(db, 'a')]);
      await db.commit([db.sql("UPDATE notes__rows SET id = id WHERE set_config('default_transaction_read_only', 'on', false) = 'on'", [])]);
      await db.commit([row(db, 'b')]);
      expect(await db.system('a test').read('SELECT id FROM notes__rows ORDER BY id')).to.deep.equal([{ id: 'a' }, { id: 'b' }]);
    });

    it('while COMMIT was on its way: whether it took effect is looked up, and it is done exactly once', async () => {
      for (const isDelivered of [true, false]) {
        const url = new URL(await cluster.fresh());
        const cut = await cutter(Number(url.port), isDelivered);
        url.port = String(cut.port);
        const db = await ready(url.href);
        await db.commit([row(db, 'sum')]);
        cut.arm();
        await db.commit([db.sql("UPDATE notes__rows SET n = n + 1 WHERE id = 'sum'", [], { expect: 1 })]);
        expect(await db.system('a test').readOne("SELECT n FROM notes__rows WHERE id = 'sum'"), `delivered: ${isDelivered}`).to.deep.equal({ n: 1 });
        expect(cut.cuts(), `delivered: ${isDelivered}`).to.equal(1);
        for (const storage of opened.splice(0)) await storage.close();
        await cut.close();
      }
    });
  });

  it('on a way that has gone silent goes on over a new connection, for commits and for reads, as soon as there is a way again', async () => {
    const url = await cluster.fresh();
    const way = await startTcpProxy(Number(new URL(url).port));
    try {
      const db = await ready(way.through(url), { silentMs: 200 });
      await db.commit([row(db, 'a')]);
      await db.system('a test').read('SELECT 1');
      way.silence();
      const [commit, read] = [db.commit([row(db, 'b')]), db.system('a test').read<{ id: string }>("SELECT id FROM notes__rows WHERE id = 'a'")];
      await way.restore();
      await commit;
      expect(await read).to.deep.equal([{ id: 'a' }]);
      expect(await db.system('a test').read('SELECT id FROM notes__rows ORDER BY id')).to.deep.equal([{ id: 'a' }, { id: 'b' }]);
    } finally {
      for (const storage of opened.splice(0)) await storage.close();
      await way.close();
    }
  });

  it('lets a statement that takes long go on: the server says that it works', async () => {
    const db = await ready(await cluster.fresh(), { silentMs: 50 });
    expect(await db.system('a test').read('SELECT 1 AS one, pg_sleep(1.5)::text AS slept')).to.deep.equal([{ one: 1, slept: '' }]);
    await db.commit([db.sql("INSERT INTO notes__rows(id, n) SELECT 'slow', 1 FROM pg_sleep(1.5)", [])]);
    expect(logged.join()).to.not.contain('was lost');
  });

  it('says that its server came back with an older copy, at once and after the next start, until a person accepts it', async () => {
    const url = await cluster.fresh();
    const name = new URL(url).pathname.slice(1);
    const way = await startTcpProxy(Number(new URL(url).port));
    /** With nobody connected to it, which copying and renaming ask for. */
    const apart = async (sql: readonly string[]): Promise<void> => {
      await way.cut();
      await cluster.admin(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`);
      for (const one of sql) await cluster.admin(one);
      await way.restore();
    };
    try {
      const storage = await open(way.through(url));
      await storage.migrate(owner, [init]);
      const db = storage.dbFor(owner);
      await db.commit([db.insert('rows', [{ id: 'kept' }])]);
      await storage.tend();
      await apart([`CREATE DATABASE ${name}_copy TEMPLATE ${name}`]);
      await db.commit([db.insert('rows', [{ id: 'missing' }])]);
      expect(storage.identityProblem()).to.equal(undefined);
      await apart([`ALTER DATABASE ${name} RENAME TO ${name}_lost`, `ALTER DATABASE ${name}_copy RENAME TO ${name}`]);

      await db.commit([db.insert('rows', [{ id: 'after' }])]);
      await storage.tend();
      expect(storage.identityProblem()).to.match(/is an older copy of itself/);
      expect(logged.join()).to.contain('came back with an older copy');
      await storage.close();
      const next = await open(way.through(url));
      expect(next.identityProblem()).to.match(/is older than the last one/);
      rmSync(identityFileOf(join(home, 'svc.db')));
      await next.tend();
      expect(next.identityProblem()).to.equal(undefined);
    } finally {
      for (const storage of opened.splice(0)) await storage.close();
      await way.close();
    }
  });

  it('is known again: another database, or an older state of it, is said', async () => {
    const [one, other] = [await cluster.fresh(), await cluster.fresh()];
    const storage = await open(one);
    await storage.migrate(owner, [init]);
    await storage.tend();
    await storage.close();
    expect((await open(one)).identityProblem()).to.equal(undefined);
    expect((await open(other)).identityProblem()).to.match(/^127\.0\.0\.1:\d+\/test_\d+ is empty or new/);
  });
});

/** Stands between a daemon and the server, and once armed cuts the connection at the next COMMIT: before it arrives, or before its answer does. */
const cutter = async (serverPort: number, isDelivered: boolean): Promise<{ port: number; arm(): void; cuts(): number; close(): Promise<void> }> => {
  const { connect } = await import('node:net');
  let isArmed = false;
  let cuts = 0;
  const open = new Set<Socket>();
  const server: Server = createServer((client) => {
    const upstream = connect(serverPort, '127.0.0.1');
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        open.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.on('data', (data) => {
      // A simple query: Q, its length, its text.
      if (!isArmed || data.toString('latin1', 5, 11) !== 'COMMIT') {
        upstream.write(data);
        return;
      }
      isArmed = false;
      cuts += 1;
      client.destroy();
      if (isDelivered) upstream.end(data);
      else upstream.destroy();
    });
    upstream.on('data', (data) => client.write(data));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    arm: () => {
      isArmed = true;
    },
    cuts: () => cuts,
    close: async () => {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
};
