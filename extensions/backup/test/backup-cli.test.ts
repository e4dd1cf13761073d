/** `svc backup` as a person types it, with and without the daemon. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { until } from '@svc/test/clients/model-kernel';
import { bootTestKernel, OPEN_RATE, releaseFile, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import { freePort } from '@svc/testing/free-port';
import { type Bench, createBench } from '../../../kernel/cli/test/program.js';

describe('svc backup', function () {
  this.timeout(60_000);
  let bench: Bench;
  let kernel: TestKernel;
  let name: string;
  const boot = async (): Promise<TestKernel> => {
    kernel = await bootTestKernel({ home: bench.home, config: OPEN_RATE });
    return kernel;
  };
  const svc = (...args: string[]) => bench.run(args, { env: { SVC_PORT: String(kernel.daemon.port) } });
  const agents = async (): Promise<string[]> => (await kernel.http.expect(200, 'GET', '/api/agents')).body.agents.map((one: { name: string }) => one.name);
  before(async () => {
    bench = createBench(45_998);
    await boot();
  });
  after(async () => {
    await stopTestKernels();
    bench.clean();
  });

  it('creates, lists and schedules', async () => {
    const made = await svc('backup', 'create', '--json');
    expect(made.code, made.stderr).to.equal(0);
    name = JSON.parse(made.stdout).filename;
    expect((await svc('backup', 'list')).stdout).to.contain(name);
    const set = await svc('backup', 'schedule', '--every-hours', '24', '--keep', '3', '--json');
    expect(JSON.parse(set.stdout), set.stderr).to.deep.include({ every_hours: 24, keep: 3 });
    expect((await svc('backup', 'schedule', '--keep', 'many')).code).to.equal(2);
    const at = await svc('backup', 'schedule', '--cron', '30 3 * * 1-5', '--time-zone', 'Europe/Berlin', '--json');
    expect(JSON.parse(at.stdout), at.stderr).to.deep.include({ cron: '30 3 * * 1-5', time_zone: 'Europe/Berlin' });
    expect((await svc('backup', 'schedule')).stdout).to.contain('30 3 * * 1-5 (Europe/Berlin)');
    const refused = await svc('backup', 'schedule', '--cron', '30 25 * * *');
    expect([refused.code, refused.stderr]).to.satisfy(([code, said]: [number, string]) => code !== 0 && said.includes('hour is 25'));
    expect((await svc('backup', 'schedule', '--time-zone', 'Berlin')).stderr).to.contain('no such time zone');
    expect((await svc('backup', 'schedule', '--off')).stdout).to.contain('No backups are scheduled.');
  });

  it('V1 verifies by a start in a temporary home, and leaves nothing there', async () => {
    const before = readdirSync(tmpdir()).filter((one) => one.startsWith('svc-verify-'));
    const good = await svc('backup', 'verify', name, '--json');
    expect(good.code, good.stderr).to.equal(0);
    expect(JSON.parse(good.stdout)).to.include({ status: 'valid' }).and.to.have.property('rows').greaterThan(0);
    expect((await svc('backup', 'verify', name)).stdout).to.contain('rows and content of each table');
    const earlier = join(bench.home, 'backups', 'earlier.tar.gz');
    await writeFile(
      earlier,
      gzipSync(
        Buffer.from(
          gunzipSync(await readFile(join(bench.home, 'backups', name)))
            .toString('latin1')
            .replace('"sums":', '"xums":'),
          'latin1',
        ),
      ),
    );
    expect((await svc('backup', 'verify', earlier)).stdout)
      .to.contain('can be restored')
      .and.contain('which stored no sums');
    await rm(earlier);
    const changed = join(bench.home, 'backups', 'changed.tar.gz');
    const bytes = await readFile(join(bench.home, 'backups', name));
    await writeFile(changed, bytes.subarray(0, bytes.length - 100));
    const bad = await svc('backup', 'verify', changed);
    expect(bad.code).to.equal(1);
    expect(bad.stderr).to.contain('cannot be used as a backup');
    expect(readdirSync(tmpdir()).filter((one) => one.startsWith('svc-verify-'))).to.deep.equal(before);
    // The data that was verified is untouched by it.
    expect(existsSync(join(bench.home, 'restore.json'))).to.equal(false);
  });

  it('V2 restores a stopped daemon, not one that runs', async () => {
    await kernel.http.expect(201, 'POST', '/api/agents', { manifest: { name: 'later' } });
    const path = join(bench.home, 'backups', name);
    const refused = await svc('backup', 'restore', path, '--yes');
    expect(refused.code).to.not.equal(0);
    expect(await agents()).to.include('later');
    await kernel.stop();
    const restored = await svc('backup', 'restore', path, '--yes', '--json');
    expect(restored.code, restored.stderr).to.equal(0);
    expect(JSON.parse(restored.stdout)).to.include({ status: 'restored' });
    await boot();
    expect(await agents()).to.not.include('later');
    const { last_restore } = (await kernel.http.expect(200, 'GET', '/api/backups')).body;
    expect(last_restore).to.include({ filename: name, status: 'restored', safety_backup: JSON.parse(restored.stdout).safety_backup });
  });

  it('V2 refuses the home that a daemon holds, also when its address is unknown', async () => {
    await rm(join(bench.home, 'daemon.json'));
    const refused = await svc('backup', 'restore', join(bench.home, 'backups', name), '--yes');
    expect(refused.code).to.equal(1);
    expect(refused.stderr).to.contain('already uses');
  });

  it('V2 restores beside a daemon that runs, and waits until it is back', async () => {
    await stopTestKernels();
    const port = await freePort();
    const env = { SVC_PORT: String(port) };
    const daemon = spawn(process.execPath, [...process.execArgv, join(dirname(releaseFile()), 'daemon/main.js')], {
      env: { PATH: process.env.PATH, HOME: bench.home, SVC_HOME: bench.home, ...env },
      stdio: 'ignore',
    });
    try {
      await until(() =>
        fetch(`http://127.0.0.1:${port}/api/ready`).then(
          ({ ok }) => ok,
          () => false,
        ),
      ); // nobody listens yet
      await fetch(`http://127.0.0.1:${port}/api/agents`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"name":"later"}' });
      const restored = await bench.run(['backup', 'restore', name, '--yes'], { env });
      expect([restored.code, restored.stdout], restored.stderr).to.deep.include(0);
      expect(restored.stdout).to.match(/files of \S+ are restored, and the daemon runs with them\.\n +What was there before: svc_backup_\d+_\d+_safety\.tar\.gz/);
      const { agents: left } = (await (await fetch(`http://127.0.0.1:${port}/api/agents`)).json()) as { agents: Array<{ name: string }> };
      expect(left.map((one) => one.name)).to.not.include('later');
    } finally {
      daemon.kill();
      await once(daemon, 'exit');
    }
  });
});
