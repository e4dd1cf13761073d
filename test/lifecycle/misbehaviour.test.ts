/** An extension that misbehaves loses its own part, and nobody else's: it is suspended or quarantined, and the daemon goes on. */
import { type ExtensionContext, HealthProbe, HttpAuthorize, type JsonReply, defineRoute, Type, reply } from '@svc/api';
import { bootTestKernel, fixtureExtension, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';

const SUSPENDED_AT = 5;
const QUARANTINED_AT = 20;

const boot = (id: string, hooks: readonly string[], activate: (ctx: ExtensionContext) => void, routes: readonly string[] = []): Promise<TestKernel> =>
  bootTestKernel({
    config: `${OPEN_RATE}[extensions]\nenable = ["${id}"]`,
    extra: [
      fixtureExtension({
        id,
        manifest: { hooks: hooks.map((name) => ({ name })), grants: [{ grant: 'callers', why: 'this test refuses callers' }] },
        contributions: { routes: [...routes] },
        definition: { activate },
      }),
    ],
  });

const statusOf = (kernel: TestKernel, id: string) => kernel.daemon.kernel.extensions().find((one) => one.id === id);
const look = (kernel: TestKernel) => kernel.http.expect(200, 'GET', '/api/health/detail');
const route = (path: string, handler: () => Promise<JsonReply<200, object>>) =>
  defineRoute({ id: 'shaky.get', method: 'GET', path, summary: 'A route', auth: 'bearer', permission: 'shaky.read', cost: 0, responses: { 200: Type.Object({}) }, handler });

describe('an extension that misbehaves', () => {
  afterEach(stopTestKernels);

  it('is degraded after five failures of an observing tap in a minute, and not asked there again until it is reloaded', async () => {
    let asked = 0;
    const kernel = await boot('shaky', ['health.probe'], (ctx) => {
      ctx.hooks.tap(HealthProbe, () => {
        asked++;
        throw new Error('the probe is broken');
      });
    });
    const before = asked;
    for (let n = 0; n < SUSPENDED_AT + 5; n++) await look(kernel);
    expect(asked - before).to.be.at.most(SUSPENDED_AT);
    expect(statusOf(kernel, 'shaky')).to.include({ state: 'active', degraded: true });
    expect(statusOf(kernel, 'shaky')?.reason).to.contain('health.probe').and.to.contain('reload');

    await kernel.http.expect(200, 'POST', '/api/extensions/shaky/reload');
    expect(statusOf(kernel, 'shaky')).to.include({ degraded: false, reason: null, strikes: 0 });
    const again = asked;
    await look(kernel);
    expect(asked).to.equal(again + 1);
  });

  it('goes on refusing where its tap must be asked, then is in quarantine; everything else works', async () => {
    let isBroken = false;
    const kernel = await boot('shaky', ['http.authorize'], (ctx) => {
      ctx.hooks.tap(HttpAuthorize, ({ routeId }) => {
        if (isBroken && routeId !== 'getExtension') throw new Error('internals of the check');
        return undefined;
      });
    });
    await kernel.http.expect(200, 'GET', '/api/agents');
    isBroken = true;
    for (let n = 0; n < QUARANTINED_AT; n++) {
      const { status, text } = await kernel.http.get('/api/agents');
      expect(status).to.equal(503);
      expect(text).to.not.contain('internals');
    }
    await kernel.daemon.lifecycle.settled();
    expect(statusOf(kernel, 'shaky')).to.include({ state: 'quarantined', recoverable: false });
    await kernel.http.expect(200, 'GET', '/api/agents');
    isBroken = false;
    await kernel.http.expect(200, 'POST', '/api/extensions/shaky/enable');
    expect(statusOf(kernel, 'shaky')?.state).to.equal('active');
  });

  it('is known as the owner of an unhandled error; one of nobody is not taken for its', async () => {
    const caught: boolean[] = [];
    const kernel: TestKernel = await boot(
      'shaky',
      [],
      (ctx) =>
        void ctx.routes.add(
          route('/api/shaky', async () => {
            await Promise.resolve();
            caught.push(kernel.daemon.caught(new Error('forgotten')));
            return reply(200, {});
          }),
        ),
      ['GET /api/shaky'],
    );
    await kernel.http.expect(200, 'GET', '/api/shaky');
    expect(caught).to.deep.equal([true]);
    expect(statusOf(kernel, 'shaky')?.strikes).to.equal(1);
    expect(kernel.daemon.caught(new Error('of nobody'))).to.equal(false);
  });

  it('that adds a route it does not declare is refused, and its route answers 404', async () => {
    const kernel = await boot('shaky', [], (ctx) => void ctx.routes.add(route('/api/backdoor', async () => reply(200, {}))));
    expect(statusOf(kernel, 'shaky')).to.include({ state: 'failed', phase: 'activate' });
    expect(statusOf(kernel, 'shaky')?.reason).to.contain('GET /api/backdoor');
    expect((await kernel.http.get('/api/backdoor')).status).to.equal(404);
  });
});
