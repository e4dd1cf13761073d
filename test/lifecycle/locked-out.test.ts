/** What security or the API needs is switched off: nobody is let in by it, and whoever may switch it on gets back in. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHash } from 'node:crypto';
import { changeLocally } from '@svc/daemon/offline/local-choices';
import { bootTestKernel, OPEN_RATE, releaseFile, stopTestKernels, type TestHttp, type TestKernel } from '@svc/testing';
import { expect } from 'chai';

const KEY = 'owner-key-of-the-lock-out';
const USER = 'user-key-of-the-lock-out';
const PEOPLE = `[[users]]\nname = "una"\nrole = "user"\napi_key_hash = "sha256:${createHash('sha256').update(USER).digest('hex')}"\n`;
const CONFIG = `api_key = "${KEY}"\n${OPEN_RATE}${PEOPLE}`;
/** What anybody may ask. */
const OPEN_CALL = '/api/agents';

const AREAS: ReadonlyArray<{ id: string; shuts: boolean; overApi: boolean }> = [
  { id: 'ratelimit', shuts: true, overApi: true },
  { id: 'capabilities', shuts: true, overApi: true },
  { id: 'auth', shuts: true, overApi: false },
  { id: 'extensions-admin', shuts: false, overApi: false },
];

describe('an area without which nobody gets in', () => {
  let home: string;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'svc-lock-out-'));
  });
  afterEach(async () => {
    await stopTestKernels();
    await rm(home, { recursive: true, force: true });
  });

  const boot = () => bootTestKernel({ home, config: CONFIG, key: KEY });
  const stateOf = (kernel: TestKernel, id: string) => kernel.daemon.kernel.extensions().find((one) => one.id === id)?.state;
  const locally = (id: string, action: 'enable' | 'disable' | 'reset', isBeside = false) =>
    changeLocally({ env: { SVC_HOME: home, HOME: home }, releaseFile: releaseFile(), id, action, isBeside, agrees: async () => true });
  const disable = (http: TestHttp, id: string) => http.expect(200, 'POST', `/api/extensions/${id}/disable?confirm=true`);
  const until = async (holds: () => boolean | Promise<boolean>): Promise<void> => {
    while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 10));
  };

  for (const { id, shuts, overApi } of AREAS) {
    it(`${id}: the plan says what it shuts and the way back, and nothing is done before somebody confirms`, async () => {
      const kernel = await boot();
      const { body: plan } = await kernel.http.expect(200, 'POST', `/api/extensions/${id}/plan`, { action: 'disable' });
      expect(plan.warning).to.match(shuts ? /every route but the public ones answers 503/ : /\/api\/extensions answers 404/);
      expect(plan.back)
        .to.contain(`svc ext enable ${id}`)
        .and.match(overApi ? /POST \/api\/extensions\/\w+\/enable/ : /The API cannot/);
      const asked = await kernel.http.expect(409, 'POST', `/api/extensions/${id}/disable`);
      expect([asked.body.code, asked.body.error.includes(`svc ext enable ${id}`), stateOf(kernel, id)]).to.deep.equal(['extension_needs_confirmation', true, 'active']);
    });

    it(`${id}: off, and off over a restart, it is ${overApi ? 'switched on again over the API' : 'out of reach of the API'}, by nobody who could not`, async () => {
      const first = await boot();
      await disable(first.http, id);
      await first.stop();
      const kernel = await boot();
      expect(stateOf(kernel, id)).to.equal('inactive');
      expect((await kernel.http.get(OPEN_CALL)).status).to.equal(shuts ? 503 : 200);
      const path = `/api/extensions/${id}/enable`;
      for (const thirdParty of [kernel.as('no-such-key'), kernel.as(USER)]) expect((await thirdParty.post(path)).status, 'a stranger').to.be.oneOf([401, 403, 404, 503]);
      expect(stateOf(kernel, id)).to.equal('inactive');
      const answer = await kernel.http.post(path);
      expect(answer.status).to.equal(overApi ? 200 : shuts ? 503 : 404);
      expect(stateOf(kernel, id)).to.equal(overApi ? 'active' : 'inactive');
      if (overApi) await kernel.http.expect(200, 'GET', OPEN_CALL);
    });

    it(`${id}: is switched on with the daemon stopped, and the next start follows`, async () => {
      const first = await boot();
      await disable(first.http, id);
      await first.stop();

      const { plan, isWanted } = await locally(id, 'enable');

      expect([plan.starts.includes(id), isWanted]).to.deep.equal([true, true]);
      const kernel = await boot();
      expect(stateOf(kernel, id)).to.equal('active');
      await kernel.http.expect(200, 'GET', OPEN_CALL);
    });

    it(`${id}: is switched on beside the daemon that can${overApi ? '' : 'not'} be asked, which follows by itself`, async () => {
      const kernel = await boot();
      await disable(kernel.http, id);
      await locally(id, 'enable', true);
      await until(() => stateOf(kernel, id) === 'active');
      await kernel.http.expect(200, 'GET', OPEN_CALL);
      await kernel.http.expect(200, 'GET', '/api/extensions');
    });
  }

  it('lets an owner look while it is closed, plan and bring areas back; nobody else, and nothing else', async () => {
    const kernel = await boot();
    await disable(kernel.http, 'ratelimit');
    const routes = kernel.daemon.parts.http.routes.active().map(({ value }) => value);
    for (const route of routes.filter((one) => one.auth !== 'public')) {
      const path = route.path.replaceAll(/\{[^}]+\}/g, 'nothing-of-that-name');
      const body = route.method === 'GET' ? undefined : {};
      expect((await kernel.as(USER).send(route.method, path, body)).status, `una: ${route.method} ${path}`).to.be.oneOf(route.repairs ? [503, 403] : [503]);
      if (!route.repairs) expect((await kernel.http.send(route.method, path, body)).status, `${route.method} ${path}`).to.equal(503);
    }
    await kernel.http.expect(200, 'GET', '/api/extensions');
    await kernel.http.expect(200, 'GET', '/api/health/detail');
    await kernel.http.expect(503, 'POST', '/api/extensions/webchat/disable');
    expect(
      routes
        .filter((one) => one.repairs)
        .map((one) => one.id)
        .sort(),
    ).to.deep.equal(['enableExtension', 'getExtension', 'getExtensionGraph', 'getHealthDetail', 'getSecurityReport', 'listExtensions', 'planExtensionChange', 'reloadExtension', 'resetExtension']);
  });

  it('takes no more than a few wrong keys while the rate limit is off', async () => {
    const kernel = await boot();
    await disable(kernel.http, 'ratelimit');
    const statuses: number[] = [];
    for (let guess = 0; guess < 25; guess++) statuses.push((await kernel.as(`guess-${guess}`).post('/api/extensions/ratelimit/enable')).status);
    expect([statuses.filter((status) => status === 401).length, statuses.at(-1)]).to.deep.equal([20, 429]);
    const late = await kernel.http.post('/api/extensions/ratelimit/enable');
    expect([late.status, Number(late.headers.get('retry-after')) > 0]).to.deep.equal([429, true]);
    // The way that rests on the machine itself stays.
    await locally('ratelimit', 'enable', true);
    await until(() => stateOf(kernel, 'ratelimit') === 'active');
  });

  it('lets nobody repair while a setting is not valid that says who may', async () => {
    await writeFile(join(home, 'config.toml'), CONFIG.replace(`"${KEY}"`, '7'));
    const kernel = await bootTestKernel({ home, key: KEY });
    for (const http of [kernel.http, kernel.as('anything')]) expect((await http.post('/api/extensions/webchat/enable')).status).to.equal(503);
  });

  it('asks before another area is shut that the settings require for security', async () => {
    const kernel = await bootTestKernel({ home, config: `${CONFIG}[security]\nrequired = ["auth", "loop-guard"]\n`, key: KEY });
    const asked = await kernel.http.expect(409, 'POST', '/api/extensions/loop-guard/disable');
    expect(asked.body.details.plan.warning).to.contain('loop-guard is required for security');
    await disable(kernel.http, 'loop-guard');
    await kernel.http.expect(503, 'GET', OPEN_CALL);
    await kernel.http.expect(200, 'POST', '/api/extensions/loop-guard/enable');
    await kernel.http.expect(200, 'GET', OPEN_CALL);
  });

  it('is not touched in a home that a daemon holds, nor under a name that nobody has', async () => {
    await boot();
    const codeOf = (work: Promise<unknown>) =>
      work.then(
        () => 'done',
        (error: { code: string }) => error.code,
      );
    expect(await codeOf(locally('webchat', 'disable'))).to.equal('daemon_already_running');
    expect(await codeOf(locally('webchta', 'disable', true))).to.equal('daemon_unknown_extension');
  });

  it('that was never chosen in a home that never was: a choice made before the first start holds', async () => {
    await locally('webchat', 'disable');
    const kernel = await boot();
    expect(stateOf(kernel, 'webchat')).to.equal('inactive');
    await kernel.stop();
    await locally('webchat', 'reset');
    expect(stateOf(await boot(), 'webchat')).to.equal('active');
  });
});
