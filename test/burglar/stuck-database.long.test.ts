/** A database that cannot be written holds nobody to the daemon: a stop ends in its time, and an extension can be switched off meanwhile. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { databaseFileOf } from '@svc/platform/config/home';
import { releaseFile, removeThirdParties } from '@svc/testing';
import { expect } from 'chai';
import { endDaemons, newHome, packaged, type RealDaemon, startDaemon, until } from './real-daemon.js';

const ID = 'acme-endless';
/** The longest that an operator may give to a statement: it would outlast every stop. */
const CONFIG = '[extensions]\nthird_party = "any"\nstatement_seconds = 60\n';
const ROOT = dirname(dirname(releaseFile()));
const SVC = join(ROOT, 'kernel/cli/bin/svc.mjs');
const STOP_MS = 22_000;
/** A person waits for it; a plan and a look at the database have 8 s and 5 s. */
const DISABLE_MS = 30_000;
const ENDLESS = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)';
const run = promisify(execFile);

const WRITES = {
  id: ID,
  manifest: { tables: ['rows'], grants: [{ grant: 'db:sql', why: 'it counts' }] },
  before: "const Rows = api.defineTable('rows', '1.0.0', { columns: { id: { kind: 'text', primaryKey: true } } });",
  rest: "tables: [Rows], migrations: [api.createTables('0001_init', [Rows])],",
  activate: `ctx.routes.add(api.defineRoute({ id: 'endless', method: 'POST', path: '/api/${ID}/write', summary: 'Writes without end', auth: 'bearer', permission: '${ID}.write', cost: 1, responses: { 200: api.Type.Any() },
    handler: async () => { await ctx.db.commit([ctx.db.sql("INSERT INTO " + ctx.db.table('rows') + " (id) SELECT 'x' FROM (${ENDLESS} SELECT i FROM n WHERE i < 0) AS e", [])]); return api.reply(200, {}); } }));`,
};

/** Another program that has begun to write, and does not end: a backup, an editor of databases. */
const HOLD = `
const sqlite3 = require(process.argv[1]);
const db = new sqlite3.Database(process.argv[2]);
db.exec('PRAGMA busy_timeout=20000; BEGIN IMMEDIATE', (error) => { console.log(error ? 'failed ' + error.message : 'held'); });
setInterval(() => undefined, 1000);
`;

describe('a database that cannot be written', function () {
  this.timeout(180_000);
  const holders = new Set<ChildProcess>();
  afterEach(async () => {
    for (const holder of holders) holder.kill('SIGKILL');
    holders.clear();
    await endDaemons();
    await removeThirdParties();
  });

  const svc = (home: string, ...args: string[]): Promise<{ code: number; said: string }> =>
    run(process.execPath, [...process.execArgv, SVC, '--home', home, '--no-color', ...args], { env: { PATH: process.env.PATH, HOME: home } }).then(
      ({ stdout, stderr }) => ({ code: 0, said: stdout + stderr }),
      (error: { code: number; stdout: string; stderr: string }) => ({ code: error.code, said: error.stdout + error.stderr }),
    );
  const hold = async (home: string): Promise<ChildProcess> => {
    const driver = createRequire(join(ROOT, 'kernel/platform/package.json')).resolve('sqlite3');
    const holder = spawn(process.execPath, ['-e', HOLD, driver, databaseFileOf(join(home, 'data'))], { stdio: ['ignore', 'pipe', 'inherit'] });
    holders.add(holder);
    const [said] = await once(holder.stdout ?? holder, 'data');
    expect(String(said)).to.equal('held\n');
    return holder;
  };
  /** Until nothing is committed any more: on a busy machine what blocks it begins a moment later. */
  const isBlocked = async (daemon: RealDaemon): Promise<void> => {
    const late = Symbol('late');
    for (let tries = 0; tries < 20; tries++) {
      const made = daemon
        .http()
        .post('/api/agents', { manifest_toml: `name = "waits-${tries}"\n` })
        .then(({ status }) => status)
        .catch(() => undefined);
      if ((await Promise.race([made, new Promise((resolve) => setTimeout(() => resolve(late), 1_500))])) === late) return;
    }
    expect.fail('the database takes each write');
  };
  const endedInTime = async (daemon: RealDaemon): Promise<void> => {
    const began = performance.now();
    daemon.process.kill('SIGTERM');
    await daemon.gone;
    expect(performance.now() - began).to.be.lessThan(STOP_MS + 6_000);
  };
  const stuck: ReadonlyArray<readonly [what: string, begin: (home: string) => Promise<{ daemon: RealDaemon; release(): Promise<void> }>]> = [
    [
      'while a statement of an extension runs',
      async (home) => {
        const daemon = await startDaemon(home);
        await daemon.http().expect(200, 'POST', '/api/extensions/install', { path: await packaged(WRITES), grants: 'all' });
        await daemon.http().expect(200, 'POST', `/api/extensions/${ID}/enable`);
        void daemon
          .http()
          .post(`/api/${ID}/write`)
          .catch(() => undefined);
        await new Promise((resolve) => setTimeout(resolve, 500));
        return { daemon, release: async () => undefined };
      },
    ],
    [
      'while another program has locked it',
      async (home) => {
        const daemon = await startDaemon(home);
        const holder = await hold(home);
        return {
          daemon,
          release: async () => {
            holder.kill('SIGKILL');
            await once(holder, 'exit');
          },
        };
      },
    ],
  ];

  for (const [what, begin] of stuck)
    it(`${what}, keeps no daemon from ending within its time, and no start after it`, async () => {
      const home = await newHome(CONFIG);
      const { daemon, release } = await begin(home);
      await isBlocked(daemon);
      await endedInTime(daemon);
      await release();
      const again = await startDaemon(home);
      expect((await again.http().expect(200, 'GET', '/api/health')).body.database).to.not.equal('error');
      expect((await again.http().post('/api/agents', { manifest_toml: 'name = "later"\n' })).status).to.equal(201);
    });

  for (const [what, begin] of stuck)
    it(`${what}, keeps nobody from switching off an extension: now, and for the next start`, async () => {
      const home = await newHome(CONFIG);
      const { daemon, release } = await begin(home);
      await isBlocked(daemon);
      const began = performance.now();
      const off = await svc(home, 'ext', 'disable', 'files', '--yes');
      expect(performance.now() - began).to.be.lessThan(DISABLE_MS);
      expect([off.code, /files is (inactive|switched off)/.test(off.said)], off.said).to.deep.equal([0, true]);
      await until(async () => (await daemon.http().get('/api/extensions/files')).body.state === 'inactive', 20_000);
      daemon.process.kill('SIGKILL');
      await daemon.gone;
      await release();
      const again = await startDaemon(home);
      // The daemon listens before its extensions have started.
      await until(async () => (await again.http().get('/api/extensions/files')).status === 200, 20_000);
      const { intent, state } = (await again.http().expect(200, 'GET', '/api/extensions/files')).body;
      expect([state, intent.enabled]).to.deep.equal(['inactive', false]);
    });
});
