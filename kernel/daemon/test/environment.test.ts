/** Secrets leave the daemon's environment at its start, by whatever adapter it is started. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@svc/testing/free-port';
import { expect } from 'chai';

const ROOT = process.cwd();
const DAEMON = join(ROOT, 'dist/daemon/main.js');
const CLI = join(ROOT, 'dist/cli/main.js');
const KEY = 'owner-key-for-this-test';
const SECRETS = {
  SVC_API_KEY: KEY,
  SVC_VAULT_KEY: Buffer.alloc(32, 7).toString('base64'),
  OPENAI_API_KEY: 'a-provider-key-5d1',
  SVC__API_KEY_NOTE: 'unclaimed-but-secret-9',
  DATABASE_URL: 'postgres://svc:pass-wörd@db.test/svc',
  MY_MODEL: 'sk-ant-under-another-name',
};
const HARMLESS = { LANG: 'C.UTF-8', A_NOTE: 'nothing to hide' };
const HAS_PROC = existsSync('/proc/self/environ');

const pidOf = (daemonFile: string): number | undefined => {
  const pid = /"pid":(\d+)/.exec(daemonFile)?.[1];
  return pid === undefined ? undefined : Number(pid);
};

describe('the environment of the daemon', function () {
  this.timeout(60_000);
  let home: string;
  let env: Record<string, string>;
  interface Started {
    readonly child: ChildProcess;
    readonly said: () => string;
    readonly ended: Promise<{ code: number | null; signal: string | null }>;
  }
  const started: Started[] = [];
  before(function () {
    if (!HAS_PROC) this.skip();
  });
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'svc-env-'));
    env = { PATH: process.env.PATH ?? '', HOME: home, SVC_HOME: home, SVC_PORT: String(await freePort()), ...HARMLESS, ...SECRETS };
  });
  afterEach(async () => {
    // One in the background is nobody's child; it is there only when its claim failed.
    const left = pidOf(await readFile(join(home, 'daemon.json'), 'utf8').catch(() => ''));
    if (left !== undefined && existsSync(`/proc/${left}`)) process.kill(left, 'SIGKILL');
    for (const { child, ended } of started.splice(0)) {
      child.kill('SIGKILL');
      await ended;
    }
    await rm(home, { recursive: true, force: true });
  });

  const run = (args: readonly string[]): Started => {
    const child = spawn(process.execPath, [...process.execArgv, ...args], { env, cwd: ROOT });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => (said += data.toString()));
    const one: Started = { child, said: () => said, ended: new Promise((resolve) => child.on('close', (code, signal) => resolve({ code, signal }))) };
    started.push(one);
    return one;
  };
  const get = async (path: string): Promise<Response> => fetch(`http://127.0.0.1:${env.SVC_PORT}${path}`, { headers: { authorization: `Bearer ${KEY}` } });
  const ready = async (one: Started): Promise<number> => {
    let isOver = false;
    void one.ended.then(() => (isOver = true));
    for (let look = 0; look < 600; look++) {
      const wasOver = isOver;
      const answer = await get('/api/ready').catch(() => undefined);
      // Written when the first answer may already have left.
      const pid = pidOf(await readFile(join(home, 'daemon.json'), 'utf8').catch(() => ''));
      if (answer?.status === 200 && pid !== undefined) return pid;
      if (wasOver) break;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`the daemon did not come up:\n${one.said()}`);
  };
  const expectClean = (pid: number): void => {
    const shown = readFileSync(`/proc/${pid}/environ`, 'utf8');
    for (const [name, value] of Object.entries(SECRETS)) {
      expect(shown, `${name} of process ${pid}`).to.not.contain(value);
      expect(shown).to.not.contain(`${name}=`);
    }
    expect(shown).to.contain(`A_NOTE=${HARMLESS.A_NOTE}`);
  };
  /** The secrets still do their work. */
  const expectInForce = async (): Promise<void> => {
    expect((await fetch(`http://127.0.0.1:${env.SVC_PORT}/api/agents`)).status).to.equal(401);
    const detail = (await (await get('/api/health/detail')).json()) as { doctor: Array<{ check: string; result: string; message: string }> };
    expect(detail.doctor.find((one) => one.check === 'VaultKeyCheck')?.message).to.contain('decodes to 32 bytes');
    const { providers } = (await (await get('/api/providers')).json()) as { providers: Array<{ name: string; auth_status: string }> };
    expect(providers.find((one) => one.name === 'openai')?.auth_status).to.equal('configured');
  };

  for (const [adapter, args] of [
    ['directly, as a service does', [DAEMON]],
    ['directly, in the foreground', [DAEMON, '--foreground']],
    ['by npm start', [join(ROOT, 'tools/start.mjs')]],
    ['by svc start --foreground', [CLI, 'start', '--foreground']],
  ] as const)
    it(`holds no secret when started ${adapter}; it is the same process, and its signals and exit code are its own`, async () => {
      const one = run(args);
      const pid = await ready(one);
      expect(pid).to.equal(one.child.pid);
      expectClean(pid);
      await expectInForce();
      one.child.kill('SIGTERM');
      expect(await one.ended).to.deep.equal({ code: 0, signal: null });
    });

  it('that is told to stop while it starts stops in order, and leaves no lock', async () => {
    for (const waitMs of [60, 120, 180, 240]) {
      const one = run([DAEMON]);
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      one.child.kill('SIGTERM');
      const { code, signal } = await one.ended;
      // Before it has read its own program nobody listens.
      if (signal === null) expect(code, `after ${waitMs} ms`).to.equal(0);
      if (signal === null) expect(existsSync(join(home, 'daemon.lock'))).to.equal(false);
    }
  });

  it('that is asked for its settings from the moment it listens on lives, and reads them', async () => {
    const one = run([DAEMON]);
    let answer: Response | undefined;
    while (!answer && one.child.exitCode === null) answer = await get('/api/ready').catch(() => undefined);
    // Whether it is ready or still starting: SIGHUP is no reason to end.
    one.child.kill('SIGHUP');
    expect(await ready(one)).to.equal(one.child.pid);
    const logs = join(home, 'logs');
    const written = async (): Promise<string> => (await Promise.all((await readdir(logs)).map((name) => readFile(join(logs, name), 'utf8')))).join('');
    while (!(await written()).includes('SIGHUP')) await new Promise((resolve) => setTimeout(resolve, 50));
    one.child.kill('SIGTERM');
    expect(await one.ended).to.deep.equal({ code: 0, signal: null });
  });

  it('holds no secret when started by svc start', async () => {
    const one = run([CLI, 'start']);
    const pid = await ready(one);
    expect((await one.ended).code, one.said()).to.equal(0);
    expectClean(pid);
    await expectInForce();
    const stopped = run([CLI, 'stop']);
    expect((await stopped.ended).code, stopped.said()).to.equal(0);
  });

  describe('where it cannot be overwritten', () => {
    let script: string;
    beforeEach(async () => {
      script = join(home, 'start.mjs');
      await writeFile(script, `import { startElsewhere } from ${JSON.stringify(DAEMON)};\nawait startElsewhere(${JSON.stringify(DAEMON)}, ['--foreground'], { ...process.env });\n`);
    });

    it('is left for one that never had the secrets; signals go there and the exit code comes back', async () => {
      const one = run([script]);
      const pid = await ready(one);
      expect(pid).to.not.equal(one.child.pid);
      expectClean(pid);
      await expectInForce();
      expect(one.said()).to.contain('is ready');
      // The one that was left is told of: it still shows what it was started with.
      const { doctor } = (await (await get('/api/health/detail')).json()) as { doctor: Array<{ check: string; result: string; message: string }> };
      const reported = doctor.find((one) => one.check === 'EnvironmentSecretsCheck');
      expect(reported?.result).to.equal('warn');
      expect(reported?.message).to.contain(`process ${one.child.pid}`).and.contain('OPENAI_API_KEY');
      for (const value of Object.values(SECRETS)) expect(reported?.message).to.not.contain(value);
      one.child.kill('SIGTERM');
      expect(await one.ended).to.deep.equal({ code: 0, signal: null });
    });

    it('gives back the code of a start that was refused, and the signal of an end by force', async () => {
      env.SVC_PORT = 'none';
      const refused = run([script]);
      expect((await refused.ended).code).to.equal(1);
      expect(refused.said()).to.contain('SVC_PORT must be');
      env.SVC_PORT = String(await freePort());
      const one = run([script]);
      process.kill(await ready(one), 'SIGKILL');
      expect(await one.ended).to.deep.equal({ code: null, signal: 'SIGKILL' });
    });
  });

  it('that does not arrive whole stops the start with a sentence', async () => {
    env.SVC_HANDED_ON_FD = '3';
    const one = run([DAEMON]);
    expect((await one.ended).code).to.equal(1);
    expect(one.said()).to.contain('did not arrive').and.not.contain('    at ');
  });
});
