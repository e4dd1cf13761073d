/** A home that is lost in the middle of a restore into PostgreSQL: its database can be opened again. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { bootTestKernel, OPEN_RATE, releaseFile, stopTestKernels, TestHttp } from '@svc/testing';
import { type PostgresCluster, sharedCluster } from '@svc/testing/postgres/cluster';
import { until } from '@svc/test/clients/model-kernel';
import { expect } from 'chai';

const DIST = dirname(releaseFile());

describe('a home that is lost while it restores into PostgreSQL', function () {
  this.timeout(180_000);
  let cluster: PostgresCluster;
  let url: string;
  let daemon: ChildProcess | undefined;
  const homes: string[] = [];
  const newHome = async (): Promise<string> => {
    const home = await mkdtemp(join(tmpdir(), 'svc-lost-'));
    homes.push(home);
    await writeFile(join(home, 'config.toml'), OPEN_RATE);
    return home;
  };
  const kill = async (): Promise<void> => {
    if (daemon && daemon.exitCode === null && daemon.signalCode === null) {
      daemon.kill('SIGKILL');
      await once(daemon, 'exit');
    }
    daemon = undefined;
  };
  before(async () => {
    cluster = await sharedCluster();
  });
  beforeEach(async () => {
    url = await cluster.fresh();
  });
  afterEach(async () => {
    await kill();
    await stopTestKernels();
  });
  after(() => Promise.all(homes.map((home) => rm(home, { recursive: true, force: true }))));

  const envOf = (home: string) => ({ PATH: process.env.PATH, HOME: home, SVC_HOME: home, SVC__STORAGE__URL: url });
  const start = async (home: string): Promise<TestHttp> => {
    const started = spawn(process.execPath, [...process.execArgv, join(DIST, 'daemon/main.js')], { env: { ...envOf(home), SVC_LISTEN: '127.0.0.1:0' }, stdio: 'ignore' });
    daemon = started;
    let http: TestHttp | undefined;
    await until(async () => {
      const found = await readFile(join(home, 'daemon.json'), 'utf8').then(JSON.parse, () => undefined);
      if (found?.pid !== started.pid) return false;
      http = new TestHttp(found.url);
      return (await http.get('/api/ready').catch(() => undefined))?.status === 200;
    });
    if (!http) throw new Error('the daemon does not answer');
    return http;
  };
  const run = (home: string, program: string, ...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> =>
    new Promise((resolve) => {
      const env = { ...envOf(home), SVC_LISTEN: '127.0.0.1:0' };
      execFile(process.execPath, [...process.execArgv, join(DIST, program), ...args], { env, cwd: home }, (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
      );
    });
  const svc = (home: string, ...args: string[]) => run(home, 'cli/main.js', ...args);
  const schemas = async (): Promise<string[]> => ((await cluster.admin("SELECT nspname AS name FROM pg_namespace WHERE nspname LIKE 'svc%'", url)) as Array<{ name: string }>).map(({ name }) => name);
  const isHalfway = async (): Promise<boolean> => (await schemas()).includes('svc_before_restore');
  /** The daemon that serves the restored data has another address. */
  const hasEnded = async (home: string): Promise<boolean> => {
    const found = await readFile(join(home, 'daemon.json'), 'utf8').then(JSON.parse, () => undefined);
    const answer = found && (await new TestHttp(found.url).get('/api/backups').catch(() => undefined));
    const ended = answer?.body.last_restore;
    if (ended && ended.status !== 'restored') throw new Error(`the restore was not made: ${ended.reason}`);
    return Boolean(ended);
  };
  /** A new home beside a database whose restore nobody will confirm. A restore that was confirmed before anybody looked is made again. */
  const loseHome = async (attempts = 8): Promise<string> => {
    const home = await newHome();
    const http = await start(home);
    await http.expect(201, 'POST', '/api/agents', { manifest: { name: 'in-the-backup' } });
    const { filename } = (await http.expect(200, 'POST', '/api/backup')).body;
    await http.expect(201, 'POST', '/api/agents', { manifest: { name: 'after-the-backup' } });
    await http.expect(200, 'POST', '/api/restore', { filename });
    await until(async () => (await isHalfway()) || hasEnded(home));
    await kill();
    if (await isHalfway()) {
      await rm(home, { recursive: true, force: true });
      return newHome();
    }
    if (attempts === 1) throw new Error('each restore was confirmed before its daemon was killed');
    url = await cluster.fresh();
    return loseHome(attempts - 1);
  };
  /** A lease of who was killed counts until it runs out. */
  const reopen = async (home: string): Promise<Record<string, unknown>> => {
    let report: Record<string, unknown> = {};
    await until(async () => {
      const { code, stderr, stdout } = await svc(home, 'storage', 'reopen', '--yes', '--json');
      if (code !== 0 && `${stdout}${stderr}`.includes('storage_move_daemons')) return false;
      expect(code, stderr).to.equal(0);
      report = JSON.parse(stdout);
      return true;
    });
    return report;
  };
  const agentsFrom = async (home: string): Promise<string[]> => {
    const kernel = await bootTestKernel({ home, env: { SVC__STORAGE__URL: url } });
    expect(kernel.daemon.parts.storage.identityProblem()).to.equal(undefined);
    return (await kernel.http.expect(200, 'GET', '/api/agents')).body.agents.map(({ name }: { name: string }) => name);
  };

  it('tells a start of another home so, and gives the data of before back', async () => {
    const home = await loseHome();
    const refused = await run(home, 'daemon/main.js');
    expect(refused.code).to.not.equal(0);
    expect(`${refused.stdout}${refused.stderr}`).to.contain('svc storage reopen');
    expect((await svc(home, 'storage', 'status')).stdout).to.contain('svc storage reopen');
    const unasked = await svc(home, 'storage', 'reopen');
    expect([unasked.code, unasked.stderr]).to.satisfy(([code, said]: [number, string]) => code === 2 && said.includes('brings back what was there before'));
    expect(await reopen(home)).to.include({ status: 'reopened', data: 'before' });
    expect(await agentsFrom(home)).to.include.members(['in-the-backup', 'after-the-backup']);
    expect(await schemas()).to.deep.equal([]);
    await stopTestKernels();
    const again = await svc(home, 'storage', 'reopen', '--restored', '--yes');
    expect([again.code, again.stderr]).to.satisfy(([code, said]: [number, string]) => code !== 0 && said.includes('nothing to reopen'));
  });
});
