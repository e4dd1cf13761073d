/** The tables of a server are those of before or those of the backup, wherever a restore ends. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isSvcError, type Migration } from '@svc/api';
import { type PostgresCluster, sharedCluster } from '@svc/testing/postgres/cluster';
import { expect } from 'chai';
import { assertServerTakes, confirmServer, type RestoreIntoServer, restoreIntoServer, revertServer, serverDatabase, settleServer } from '../../src/backup/server-database.js';
import { systemClock } from '../../src/clock/clock.js';
import { openEnd } from '../../src/storage/move/open-end.js';
import { openStorage, type Storage } from '../../src/storage/storage.js';
import { readTables } from '../../src/storage/sqlite/saved-copy.js';
import { addNumber, newHome, openHome, owner, owners } from './backup-kit.js';

describe('a restore into a server', function () {
  this.timeout(60_000);
  let cluster: PostgresCluster;
  let url: string;
  let home: string;
  let storage: Storage;
  let file: string;

  before(async () => {
    cluster = await sharedCluster();
    url = await cluster.fresh();
    ({ home, storage } = await newHome(url));
    for (let n = 1; n <= 3; n += 1) await addNumber(storage, 1, n);
    file = join(home, 'copy.db');
    await serverDatabase({ url, owners: async () => owners }).save(file);
    await addNumber(storage, 1, 4);
    await storage.close();
    await cluster.admin('CREATE TABLE removed__notes (id text); INSERT INTO removed__notes VALUES (1)', url);
  });
  after(() => rm(home, { recursive: true, force: true }));
  let token: string;
  let restores = 0;
  beforeEach(() => {
    restores += 1;
    token = `restore-${restores}`;
  });
  // What a test left unconfirmed.
  afterEach(() => revertServer(url, token));

  const restore = (more: Partial<RestoreIntoServer> = {}): Promise<void> =>
    restoreIntoServer({
      ...{ url, file, token, filename: 'x.tar.gz', at: '2026-01-31T12:00:00.000Z', owners: { present: owners, restored: owners } },
      prepare: async () => undefined,
      replace: (swapTables) => swapTables(),
      ...more,
    });
  const codeOf = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => 'done',
      (error: unknown) => (isSvcError(error) ? error.code : String(error)),
    );
  const numbers = async (): Promise<number> => Number(((await cluster.admin('SELECT count(*) AS n FROM acme__numbers', url)) as Array<{ n: number }>)[0]?.n);
  const schemas = async (): Promise<number> => (await cluster.admin("SELECT 1 FROM pg_namespace WHERE nspname LIKE 'svc%'", url)).length;
  const open = async (isRestored: boolean): Promise<Storage> => {
    const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
    return openStorage({ file: join(home, 'data/svc.db'), url, isRestored, clock: systemClock(), log: silent, onEvents: () => undefined });
  };

  it('M3 opens for the daemon that restores alone, and for all when it is confirmed', async () => {
    await restore();
    expect(await numbers()).to.equal(3);
    expect(await codeOf(open(false))).to.equal('storage_restore_unfinished');
    const restored = await open(true);
    expect(restored.identityProblem()).to.equal(undefined);
    await restored.close();
    await confirmServer(url, token);
    expect(await revertServer(url, token)).to.equal('confirmed');
    expect([await numbers(), await schemas()]).to.deep.equal([3, 0]);
    const later = await openHome(home, url);
    await addNumber(later, 1, 4);
    await later.close();
  });

  it('is settled either way where its home is lost, and not beside a daemon', async () => {
    for (const [keeps, count] of [
      ['restored', 3],
      ['before', 4],
    ] as const) {
      await restore();
      const end = await openEnd({ file: '', url, use: 'change' });
      const daemon = await open(true);
      expect(await codeOf(end.hold())).to.equal('storage_move_daemons');
      await Promise.all([end.hold(), daemon.close()]); // the server counts a connection for a moment after its end
      await settleServer(end, token, keeps);
      await end.close();
      expect([await numbers(), await schemas()], keeps).to.deep.equal([count, 0]);
      const later = await openHome(home, url);
      if (keeps === 'restored') await addNumber(later, 1, 4);
      await later.close();
    }
  });

  it('N4 keeps what an administrator granted on tables and columns, also to everybody', async () => {
    await cluster.admin('CREATE ROLE "The Reader"; CREATE ROLE writers', url);
    await cluster.admin(
      'GRANT SELECT, UPDATE ON acme__numbers TO "The Reader"; GRANT SELECT ON acme__numbers TO PUBLIC; GRANT INSERT ON acme__numbers TO writers WITH GRANT OPTION; GRANT UPDATE (n) ON acme__numbers TO writers',
      url,
    );
    const grants = async (): Promise<unknown> =>
      cluster.admin(
        "SELECT grantee, privilege_type AS may, is_grantable AS passes FROM information_schema.role_table_grants WHERE table_schema = 'public' AND table_name = 'acme__numbers' UNION ALL SELECT grantee, privilege_type || ' ' || column_name, is_grantable FROM information_schema.role_column_grants WHERE table_schema = 'public' AND table_name = 'acme__numbers' ORDER BY 1, 2",
        url,
      );
    const before = await grants();
    expect(JSON.stringify(before)).to.contain('The Reader');
    await restore();
    expect(await grants()).to.deep.equal(before);
    await confirmServer(url, token);
    expect(await grants()).to.deep.equal(before);
    const later = await openHome(home, url);
    await addNumber(later, 1, 4);
    await later.close();
  });

  it('N1 N2 goes back whole, with what its trial start has made, and leaves tables of nobody alone', async () => {
    await restore();
    const trial = await open(true);
    await trial.migrate({ id: 'newer', tables: ['things'] }, [{ name: '0001_init', up: (m) => m.createTable('things', { id: { kind: 'text', primaryKey: true } }) }]);
    await trial.close();
    expect(await revertServer(url, token)).to.equal('before');
    expect([await numbers(), await schemas()]).to.deep.equal([4, 0]);
    const tables = (await cluster.admin("SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'", url)) as Array<{ name: string }>;
    expect(tables.map(({ name }) => name))
      .to.include('removed__notes')
      .and.not.include('newer__things');
    expect(await revertServer(url, token), 'once more').to.equal('before');
    expect(await numbers()).to.equal(4);
  });

  it('replaces nothing when the files cannot be replaced, or the backup cannot be loaded', async () => {
    expect(await codeOf(restore({ replace: () => Promise.reject(new Error('the disk is full')) }))).to.contain('the disk is full');
    expect(await numbers()).to.equal(4);
    expect(await codeOf(restore({ owners: { present: owners, restored: [] } }))).to.equal('backup_unknown_tables');
    expect(await codeOf(restore({ file: join(home, 'missing.db') }))).to.equal('storage_unavailable');
    expect(await numbers()).to.equal(4);
  });

  it('G2 is refused while a daemon is connected, and without the right to make a schema', async () => {
    const daemon = await openHome(home, url);
    expect(await codeOf(restore())).to.equal('storage_move_daemons');
    await daemon.close();
    await cluster.admin("CREATE USER plain PASSWORD 'plain'");
    const plain = cluster.urlOf(new URL(url).pathname.slice(1), { user: 'plain', password: 'plain' });
    expect(await codeOf(assertServerTakes(plain))).to.equal('backup_no_schema');
    expect(await codeOf(assertServerTakes(url))).to.equal('done');
  });

  it('says that there is nothing to lose in an empty database', async () => {
    const empty = await cluster.fresh();
    const said: boolean[] = [];
    const prepare = async (isEmpty: boolean): Promise<void> => void said.push(isEmpty);
    await restore({ url: empty, prepare });
    await confirmServer(empty, token);
    const filled = await openHome(home, empty);
    expect(await filled.dbFor(owner).system('a test').count('numbers')).to.equal(3);
    await filled.close();
    await restore({ prepare });
    expect(said).to.deep.equal([true, false]);
  });

  it('has the same sums as a file with the same rows, and others for other values', async () => {
    const values = {
      id: { kind: 'text' as const, primaryKey: true },
      at: { kind: 'real' as const },
      big: { kind: 'integer' as const },
      is: { kind: 'boolean' as const },
      raw: { kind: 'blob' as const },
      said: { kind: 'text' as const },
    };
    const mixed = { id: 'mixed', tables: ['values'] };
    const migrations: readonly Migration[] = [
      { name: '0001_init', up: (m) => m.createTable('values', values) },
      { name: '0002_later', up: (m) => m.addColumn('values', 'after', { kind: 'text' }) },
    ];
    const sumsOf = async (where: string | undefined, said: string): Promise<Record<string, string>> => {
      const { home: place, storage: filled } = await newHome(where);
      try {
        await filled.migrate(mixed, migrations);
        const db = filled.dbFor(mixed);
        const rows = [
          { id: 'b', at: 0.1 + 0.2, big: Number.MAX_SAFE_INTEGER, is: 1, said, after: '' },
          { id: 'a', at: 1.5e-7, big: -1, is: 0, said: 'ñandú 鷺 🪶', after: null },
        ];
        // Not in the same order.
        for (const row of where === undefined ? rows : rows.toReversed()) await db.commit([db.insert('values', [row])]);
        const copy = join(place, 'copy.db');
        if (where === undefined) await filled.saveTo?.(copy);
        else await serverDatabase({ url: where, owners: async () => [...owners, { ...mixed, migrations }] }).save(copy);
        const found = await readTables(copy);
        return Object.fromEntries(Object.entries(found).map(([name, { sum }]) => [name, sum]));
      } finally {
        await filled.close();
        await rm(place, { recursive: true, force: true });
      }
    };
    const [file, server, other] = [await sumsOf(undefined, 'one'), await sumsOf(await cluster.fresh(), 'one'), await sumsOf(undefined, 'two')];
    expect(server.mixed__values).to.equal(file.mixed__values).and.not.equal(other.mixed__values);
  });
});
