/** Backups of a daemon on a PostgreSQL, and restores of it: all of its tables, all of its files, or none. */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { BackupRestore } from '@svc/api';
import { restoreDaemon } from '@svc/daemon';
import { swapIn } from '@svc/platform/backup/restore-swap';
import { openPostgres } from '@svc/platform/storage/postgres/postgres-connection';
import { bootTestKernel, fixtureExtension, OPEN_RATE, releaseFile, stopTestKernels, type TestKernel } from '@svc/testing';
import { type PostgresCluster, sharedCluster } from '@svc/testing/postgres/cluster';
import { until } from '@svc/test/clients/model-kernel';
import { keyOf, person } from '@svc/test/page/callers';
import { expect } from 'chai';
import { scheduleTurns, Turns } from '../src/turns.js';

const CANARY = 'sk-canary-0123456789abcdef';

describe('backups on PostgreSQL', function () {
  this.timeout(90_000);
  let cluster: PostgresCluster;
  let url: string;
  let home: string;
  let kernel: TestKernel;
  let first: string;
  let refusal: string | undefined;
  let dies = false;
  let restoring: Promise<unknown> | undefined;

  const boot = async (isRestored = false): Promise<TestKernel> =>
    bootTestKernel({
      home,
      isRestored,
      env: { SVC__STORAGE__URL: url },
      key: keyOf('root'),
      extra: [
        fixtureExtension({
          id: 'refusing',
          manifest: { hooks: [{ name: 'backup.restore' }] },
          definition: {
            activate(ctx) {
              ctx.hooks.tap(BackupRestore, () => {
                if (refusal !== undefined) throw new Error(refusal);
              });
            },
          },
        }),
      ],
      onRestore: (plan, backed) => {
        const before = kernel;
        const { host, port } = before.daemon;
        restoring = dies
          ? before.stop().then(async () => {
              await swapIn(home, { ...plan, serverToken: 'never-came-to-the-server' });
              kernel = await boot();
            })
          : restoreDaemon<TestKernel>({ home: backed, plan, host, port, stop: () => before.stop(), boot, failed: () => undefined }).then((after) => {
              kernel = after;
            });
      },
    });
  before(async () => {
    cluster = await sharedCluster();
    url = await cluster.fresh();
    home = await mkdtemp(join(tmpdir(), 'svc-pg-backups-'));
    await writeFile(join(home, 'config.toml'), `api_key = "${keyOf('root')}"\n${OPEN_RATE}${person('ulf', 'user')}[extensions]\nenable = ["refusing"]\n`);
    kernel = await boot();
    await kernel.http.expect(200, 'POST', '/api/providers/openai/key', { api_key: CANARY });
    await spawn('first');
    first = await create();
  });
  after(async () => {
    await stopTestKernels();
    await rm(home, { recursive: true, force: true });
  });
  afterEach(() => {
    [refusal, dies] = [undefined, false];
  });

  const spawn = (name: string) => kernel.http.expect(201, 'POST', '/api/agents', { manifest: { name } });
  const agents = async (): Promise<string[]> => (await kernel.http.expect(200, 'GET', '/api/agents')).body.agents.map(({ name }: { name: string }) => name).sort();
  const create = async (): Promise<string> => (await kernel.http.expect(200, 'POST', '/api/backup')).body.filename;
  const last = async () => (await kernel.http.expect(200, 'GET', '/api/backups')).body.last_restore;
  const restore = async (filename: string): Promise<void> => {
    await kernel.http.expect(200, 'POST', '/api/restore', { filename });
    await until(async () => restoring !== undefined);
    await restoring;
    restoring = undefined;
  };
  const svc = (...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> =>
    new Promise((resolve) => {
      const env = { PATH: process.env.PATH, HOME: home, SVC_HOME: home, SVC__STORAGE__URL: url, SVC_PORT: String(kernel.daemon.port) };
      execFile(process.execPath, [...process.execArgv, join(dirname(releaseFile()), 'cli/main.js'), 'backup', ...args, '--json'], { env, cwd: home }, (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
      );
    });
  const schemas = async (): Promise<string[]> => ((await cluster.admin("SELECT nspname AS name FROM pg_namespace WHERE nspname LIKE 'svc%'", url)) as Array<{ name: string }>).map(({ name }) => name);

  it('hold the same parts as on SQLite, with the engine in the manifest and no secret in plain text', async () => {
    const bytes = gunzipSync(await readFile(join(home, 'backups', first)));
    expect(bytes.subarray(0, 4_096).toString('latin1')).to.contain('"engine":"postgres"');
    for (const secret of [CANARY, keyOf('root'), new URL(url).password]) expect(bytes.includes(secret), secret).to.equal(false);
    for (const part of ['data/svc.db', 'data/ext/vault/vault.enc', 'config.toml']) expect(bytes.includes(part), part).to.equal(true);
  });

  it('bring everything back, and what was there before, too', async () => {
    await spawn('second');
    await writeFile(join(home, 'data/ext/late.txt'), 'x');
    await restore(first);
    expect(await agents())
      .to.include('first')
      .and.not.include('second');
    expect(existsSync(join(home, 'data/ext/late.txt'))).to.equal(false);
    expect(await last()).to.include({ filename: first, status: 'restored' });
    expect(kernel.daemon.parts.storage.identityProblem()).to.equal(undefined);
    await spawn('third');
    await restore((await last()).safety_backup);
    expect(await agents())
      .to.include('second')
      .and.not.include('third');
    expect(await schemas()).to.deep.equal([]);
  });

  it('leave the present data in place when the restored data does not start', async () => {
    await spawn('fourth');
    refusal = 'this data is not mine';
    await restore(first);
    expect(await agents()).to.include('fourth');
    expect(await last()).to.include({ filename: first, status: 'reverted' });
    expect((await last()).reason).to.contain('this data is not mine');
    expect(await schemas()).to.deep.equal([]);
    expect(readdirSync(join(home, 'backups')).filter((one) => one.startsWith('.'))).to.deep.equal([]);
  });

  it('leave the present data in place when the daemon dies before the tables are replaced', async () => {
    await spawn('fifth');
    dies = true;
    await restore(first);
    expect(await agents()).to.include('fifth');
    expect(await last()).to.include({ filename: first, status: 'reverted' });
  });

  it('are refused for anybody else, and a restore while another daemon is alive, by name', async () => {
    const http = kernel.as(keyOf('ulf'));
    for (const [method, path, body] of [
      ['POST', '/api/backup', undefined],
      ['POST', '/api/restore', { filename: first }],
    ] as const)
      expect((await http.send(method, path, body)).status, path).to.equal(403);
    const second = await bootTestKernel({ env: { SVC__STORAGE__URL: url }, config: `${OPEN_RATE}[cluster]\nname = "the-other"\n` });
    try {
      const refused = await kernel.http.send('POST', '/api/restore', { filename: first });
      expect([refused.status, refused.body.code]).to.deep.equal([409, 'backup_other_daemons']);
      expect(refused.body.error).to.contain('the-other');
      // Both at the same time: each makes a backup of its own.
      const make = async (one: TestKernel): Promise<boolean> => existsSync(join(one.home, 'backups', (await one.http.expect(200, 'POST', '/api/backup')).body.filename));
      expect(await Promise.all([make(kernel), make(second)])).to.deep.equal([true, true]);
      // One of them makes the backup of the schedule.
      const take = ({ daemon }: TestKernel) => scheduleTurns(daemon.parts.storage.dbFor({ id: 'backup', tables: [Turns.name] })).change;
      for (const [seen, next] of [
        [undefined, { done_at: 0, busy_until: 9 }],
        [
          { done_at: 0, busy_until: 9 },
          { done_at: 5, busy_until: 0 },
        ],
      ] as const)
        expect((await Promise.all([kernel, second].map((one) => take(one)(seen, next)))).sort()).to.deep.equal([false, true]);
    } finally {
      await second.stop();
    }
  });

  it('are refused when they are cut or lead out of the home, before the daemon stops', async () => {
    const bytes = await readFile(join(home, 'backups', first));
    await writeFile(join(home, 'backups', 'cut.tar.gz'), bytes.subarray(0, bytes.length - 200));
    expect((await kernel.http.send('POST', '/api/restore', { filename: 'cut.tar.gz' })).body.code).to.equal('backup_broken');
    const escaping = gzipSync(Buffer.from(gunzipSync(bytes).toString('latin1').replaceAll('config.toml', '../../.conf'), 'latin1'));
    await writeFile(join(home, 'backups', 'escaping.tar.gz'), escaping);
    expect((await kernel.http.send('POST', '/api/restore', { filename: 'escaping.tar.gz' })).body.code).to.equal('backup_unsafe');
    expect(await schemas()).to.deep.equal([]);
  });

  it('are verified without the server, and restored without the daemon', async () => {
    await spawn('after-the-backup');
    const verified = await svc('verify', first);
    expect(verified.code, verified.stderr).to.equal(0);
    expect(JSON.parse(verified.stdout)).to.deep.include({ status: 'valid', failed: [] });
    const refused = await svc('restore', join(home, 'backups', first), '--yes');
    expect(refused.code, 'beside a daemon that runs').to.not.equal(0);
    await kernel.stop();
    const restored = await svc('restore', join(home, 'backups', first), '--yes');
    expect(restored.code, restored.stderr).to.equal(0);
    expect(JSON.parse(restored.stdout).safety_backup).to.match(/_safety/);
    kernel = await boot();
    expect(await agents()).to.not.include('after-the-backup');
    expect(await schemas()).to.deep.equal([]);
  });

  it('are restored into SQLite, and backups of SQLite into PostgreSQL', async () => {
    const other = await mkdtemp(join(tmpdir(), 'svc-crossing-'));
    const open = (where: string, env: Record<string, string>, isRestored = false): Promise<TestKernel> =>
      bootTestKernel({
        home: where,
        env,
        isRestored,
        key: keyOf('root'),
        onRestore: (plan, backed) => {
          const { host, port } = local.daemon;
          crossing = restoreDaemon<TestKernel>({ home: backed, plan, host, port, stop: () => local.stop(), boot: (restored) => open(where, env, restored), failed: () => undefined }).then((after) => {
            local = after;
          });
        },
      });
    let crossing: Promise<unknown> | undefined;
    await writeFile(join(other, 'config.toml'), `api_key = "${keyOf('root')}"\n${OPEN_RATE}`);
    let local = await open(other, {});
    const names = async (): Promise<string[]> => (await local.http.expect(200, 'GET', '/api/agents')).body.agents.map(({ name }: { name: string }) => name).sort();
    try {
      const archive = await create();
      const expected = await agents();
      await copyFile(join(home, 'backups', archive), await placeOf(other, archive));
      await local.http.expect(200, 'POST', '/api/restore', { filename: archive });
      await until(async () => crossing !== undefined);
      await crossing;
      expect(local.daemon.parts.storage.dialect).to.equal('sqlite');
      expect(await names()).to.deep.equal(expected);

      const back = (await local.http.expect(200, 'POST', '/api/backup')).body.filename;
      await copyFile(join(other, 'backups', back), await placeOf(home, back));
      await spawn('only-on-the-server');
      await restore(back);
      expect(kernel.daemon.parts.storage.dialect).to.equal('postgres');
      expect(await agents()).to.deep.equal(expected);
    } finally {
      await local.stop();
      await rm(other, { recursive: true, force: true });
    }
  });

  it('N3 let a daemon of before the restore commit nothing more', async () => {
    const late = await openPostgres(url, "SET application_name = 'cut off'");
    await late.query("INSERT INTO kernel_batches VALUES ('the-late-one', 1, now())");
    await restore(first);
    const failure = await late.query("INSERT INTO kernel_batches VALUES ('the-late-one', 2, now())").then(
      () => 'committed',
      (error: Error) => error.message,
    );
    await late.close();
    expect(failure).to.contain('kernel_restored');
  });
});

const placeOf = async (home: string, filename: string): Promise<string> => {
  await mkdir(join(home, 'backups'), { recursive: true });
  return join(home, 'backups', filename);
};
