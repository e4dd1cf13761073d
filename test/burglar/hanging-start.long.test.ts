/** An extension that hangs at its start holds up nobody: the daemon starts without it, it can be switched off meanwhile, and a stop ends in time. */
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { bootTestKernel, fixtureExtension, OPEN_RATE, releaseFile, removeThirdParties, stopTestKernels } from '@svc/testing';
import { expect } from 'chai';
import { endDaemons, newHome, packaged, type RealDaemon, startDaemon, until } from './real-daemon.js';

const ID = 'acme-stuck';
const CONFIG = '[extensions]\nthird_party = "any"\n';
const SVC = join(dirname(dirname(releaseFile())), 'kernel/cli/bin/svc.mjs');
const run = promisify(execFile);
const OUT_OF_TIME = /did not (finish|answer) within/;
/** Whether the daemon has said that the extension was waited for until its deadline: so it was not, however slow the machine is. */
const ranOut = (daemon: RealDaemon): boolean =>
  daemon
    .said()
    .split('\n')
    .some((line) => line.includes(ID) && OUT_OF_TIME.test(line));

const stuck = (more: { activate?: string; rest?: string }) => ({ id: ID, activate: more.activate ?? '', rest: more.rest ?? '', manifest: { activation: 'onStartup' as const } });
const HANGS = stuck({ rest: 'start() { return new Promise(() => undefined); },' });
/** What is noted in files. */
const choices = (home: string): string[] => {
  try {
    return readdirSync(join(home, 'data/switched-off'));
  } catch {
    return [];
  }
};

const stateOf = async (daemon: RealDaemon): Promise<{ state: string; reason: string; intent: { enabled: boolean } }> => (await daemon.http().expect(200, 'GET', `/api/extensions/${ID}`)).body;
const svc = (home: string, ...args: string[]): Promise<string> =>
  run(process.execPath, [...process.execArgv, SVC, '--home', home, '--no-color', ...args], { env: { PATH: process.env.PATH, HOME: home } }).then(
    ({ stdout }) => stdout,
    (error: { stdout: string; stderr: string }) => `${error.stdout}${error.stderr}`,
  );

describe('an extension that hangs at its start', function () {
  this.timeout(180_000);
  afterEach(async () => {
    await endDaemons();
    await stopTestKernels();
    await removeThirdParties();
  });
  const install = async (home: string, spec = HANGS): Promise<RealDaemon> => {
    const daemon = await startDaemon(home);
    await daemon.http().expect(200, 'POST', '/api/extensions/install', { path: await packaged(spec), grants: 'all' });
    return daemon;
  };
  const enabling = (daemon: RealDaemon): Promise<unknown> =>
    daemon
      .http()
      .post(`/api/extensions/${ID}/enable`)
      .catch(() => undefined);

  it('is not kept as switched on: the next start leaves it off and says so, where the daemon was killed meanwhile', async () => {
    const home = await newHome(CONFIG);
    const first = await install(home);
    const asked = enabling(first);
    await until(async () => (await stateOf(first)).state === 'starting');
    first.process.kill('SIGKILL');
    await first.gone;
    await asked;

    const second = await startDaemon(home);
    const { intent, reason, state } = await stateOf(second);
    expect([state, intent.enabled]).to.deep.equal(['failed', false]);
    expect(reason).to.contain('the daemon stopped while it was being switched on');
    expect(await svc(home, 'ext', 'why', ID)).to.contain('the daemon stopped while it was being switched on');
  });

  it('is not kept as switched on where its start fails in time, and its reason stays to be read', async () => {
    const home = await newHome(CONFIG);
    const first = await install(home, stuck({ rest: "start() { throw new Error('not today'); }," }));
    await enabling(first);
    await first.http().expect(200, 'POST', '/api/extensions/files/reload');
    const { intent, reason, state } = await stateOf(first);
    expect([state, intent.enabled, reason]).to.deep.equal(['failed', false, 'not today']);
  });

  it('is switched off while it hangs: by the API at once, and by a file that svc writes where nothing answers', async () => {
    const home = await newHome(CONFIG);
    const daemon = await install(home);
    const first = enabling(daemon);
    await until(async () => (await stateOf(daemon)).state === 'starting');
    await daemon.http().expect(200, 'POST', `/api/extensions/${ID}/disable`);
    await first;
    expect([(await stateOf(daemon)).state, ranOut(daemon)], daemon.said()).to.deep.equal(['inactive', false]);

    // The process stands still: it is as stuck as one can be.
    daemon.process.kill('SIGSTOP');
    const said = await svc(home, 'ext', 'disable', 'files');
    expect(said).to.contain('files is switched off. The daemon does not respond now');
    expect(choices(home)).to.deep.equal(['files']);
    daemon.process.kill('SIGCONT');
    await until(async () => (await daemon.http().get('/api/extensions/files')).body.state === 'inactive');
    await until(() => choices(home).length === 0);
    expect(await svc(home, 'ext', 'disable', 'nobody')).to.contain('There is no extension "nobody"');
  });

  it('that is switched off by file stays off from the first moment of a start', async () => {
    const home = await newHome(`${CONFIG}enable = ["${ID}"]\n`);
    const daemon = await install(home);
    daemon.process.kill('SIGKILL');
    await daemon.gone;
    expect(await svc(home, 'ext', 'disable', ID)).to.contain('is switched off from the next start on');
    const second = await startDaemon(home);
    expect([(await stateOf(second)).state, ranOut(second)], second.said()).to.deep.equal(['inactive', false]);
  });

  it('is left out of a start, which says so and serves the rest; a stop meanwhile ends at once', async () => {
    const home = await newHome(`${CONFIG}enable = ["${ID}"]\n`);
    const daemon = await startDaemon(home);
    // Until the end of its deadline.
    const installing = daemon
      .http()
      .post('/api/extensions/install', { path: await packaged(HANGS), grants: 'all' })
      .catch(() => undefined);
    await until(async () => (await daemon.http().get(`/api/extensions/${ID}`)).body.state === 'starting');
    daemon.process.kill('SIGTERM');
    expect(await daemon.gone).to.deep.equal({ code: 0, signal: null });
    expect(ranOut(daemon), daemon.said()).to.equal(false);
    await installing;

    const starting = await startDaemon(home, { isReady: false });
    // It listens before its extensions have started, and this one never has.
    await until(async () =>
      starting
        .http()
        .get('/api/health')
        .then(
          () => true,
          () => false,
        ),
    );
    starting.process.kill('SIGTERM');
    expect(await starting.gone, 'while it starts').to.deep.equal({ code: 0, signal: null });
    expect(ranOut(starting), starting.said()).to.equal(false);

    const third = await startDaemon(home, { readyMs: 60_000 });
    expect((await third.http().get('/api/health')).status).to.equal(200);
    const { reason, state } = await stateOf(third);
    expect([state, OUT_OF_TIME.test(reason)], reason).to.deep.equal(['failed', true]);
    // Its terminal is heard through a pipe, a moment later.
    await until(() => third.said().includes(`${ID} did not start`) && ranOut(third), 60_000);
  });

  it('in the daemon itself: each phase has its time, and the others are on', async () => {
    const hanging = fixtureExtension({ id: 'hanging', definition: { activate: () => new Promise(() => undefined) as never } });
    const kernel = await bootTestKernel({ config: `${OPEN_RATE}[extensions]\nenable = ["hanging"]\n`, extra: [hanging] });
    const found = kernel.daemon.kernel.extensions().find(({ id }) => id === 'hanging');
    expect([found?.state, found?.phase === 'activate' || found?.reason?.includes('activate did not finish')]).to.deep.equal(['failed', true]);
    expect(kernel.daemon.kernel.ready()).to.equal(true);
  });
});

describe('a daemon with a thread that never comes back', function () {
  this.timeout(120_000);
  afterEach(endDaemons);

  it('ends within its time, where process.exit alone would wait for ever', async () => {
    const home = await newHome();
    const pipe = join(home, 'pipe');
    await run('mkfifo', [pipe]);
    mkdirSync(join(home, 'preload'), { recursive: true });
    const preload = join(home, 'preload/hang.cjs');
    writeFileSync(preload, `setTimeout(() => require('node:fs').open(${JSON.stringify(pipe)}, 'r', () => undefined), 500);`);
    const daemon = await startDaemon(home, { env: { NODE_OPTIONS: `--require=${preload}` } });
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    daemon.process.kill('SIGTERM');
    // By itself: nobody else ends it before this test does.
    expect((await daemon.gone).signal).to.equal('SIGKILL');
  });
});
