/** A daemon that is killed while it restores: its next start has all of the old data, or all of the restored. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { OPEN_RATE, releaseFile, TestHttp } from '@svc/testing';
import { describeOnEngines } from '@svc/testing/postgres/engines';
import { until } from '@svc/test/clients/model-kernel';
import { expect } from 'chai';

const KILLS = 6;

describeOnEngines('a restore that is killed', function (engine) {
  this.timeout(300_000);
  let home: string;
  let daemon: ChildProcess;
  let http: TestHttp;
  let database: Record<string, string>;
  before(async () => {
    const { url } = await engine.fresh();
    database = url === undefined ? {} : { SVC__STORAGE__URL: url };
    home = await mkdtemp(join(tmpdir(), 'svc-killed-'));
    await writeFile(join(home, 'config.toml'), OPEN_RATE);
    await start();
  });
  after(async () => {
    await kill();
    await rm(home, { recursive: true, force: true });
  });
  const start = async (): Promise<void> => {
    daemon = spawn(process.execPath, [...process.execArgv, join(dirname(releaseFile()), 'daemon/main.js')], {
      env: { PATH: process.env.PATH, HOME: home, SVC_HOME: home, SVC_LISTEN: '127.0.0.1:0', ...database },
      stdio: 'ignore',
    });
    await answering();
  };
  /** Of the process that runs now, whichever daemon in it. */
  const answering = () =>
    until(async () => {
      const found = await readFile(join(home, 'daemon.json'), 'utf8').then(JSON.parse, () => undefined);
      if (found?.pid !== daemon.pid) return false;
      http = new TestHttp(found.url);
      return (await http.get('/api/ready').catch(() => undefined))?.status === 200;
    });
  const kill = async (): Promise<void> => {
    if (daemon.exitCode !== null || daemon.signalCode !== null) return;
    daemon.kill('SIGKILL');
    await once(daemon, 'exit');
  };
  const agents = async (): Promise<string[]> => (await http.expect(200, 'GET', '/api/agents')).body.agents.map((one: { name: string }) => one.name);

  it('X2 leaves the old data or the restored, at every moment of the restore', async () => {
    const { filename } = (await http.expect(200, 'POST', '/api/backup')).body;
    const seen = { old: 0, restored: 0 };
    // One that nobody kills says how long they take now.
    const began = performance.now();
    await http.expect(200, 'POST', '/api/restore', { filename });
    await until(async () => {
      await answering();
      return (await http.get('/api/backups').catch(() => undefined))?.body.last_restore?.status === 'restored';
    });
    const stepMs = ((performance.now() - began) * 1.3) / KILLS;
    // A machine that has become slower needs more rounds until one is killed after its restore.
    for (let round = 0; round < KILLS || (seen.restored === 0 && round < 5 * KILLS); round += 1) {
      const name = `after-the-backup-${round}`;
      await http.expect(201, 'POST', '/api/agents', { manifest: { name } });
      await writeFile(join(home, 'config.toml'), `${OPEN_RATE}# ${name}\n`);
      await http.expect(200, 'POST', '/api/restore', { filename });
      await new Promise((resolve) => setTimeout(resolve, round * stepMs));
      await kill();
      await start();
      const isOld = (await agents()).includes(name);
      const { last_restore: last } = (await http.expect(200, 'GET', '/api/backups')).body;
      expect((await readFile(join(home, 'config.toml'), 'utf8')).includes(name), `round ${round}: the parts differ`).to.equal(isOld);
      expect((await http.expect(200, 'GET', '/api/health/detail')).status).to.equal(200);
      if (!isOld) expect(last?.status, `round ${round}`).to.equal('restored');
      seen[isOld ? 'old' : 'restored'] += 1;
    }
    expect(seen.old, JSON.stringify(seen)).to.be.greaterThan(0);
    expect(seen.restored, JSON.stringify(seen)).to.be.greaterThan(0);
  });
});
