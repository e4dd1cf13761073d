/** Webhooks over HTTP, with a model on its wire and a receiver that counts what comes. */
import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { verifyWithFallback } from '@octokit/webhooks-methods';
import { systemClock } from '@svc/platform/clock/clock';
import { OPEN_RATE, type TestHttp } from '@svc/testing';
import { bootWithModel, type ModelKernel, stopModelKernels } from '@svc/test/clients/model-kernel';
import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';

const KEYS = { owner: 'webhooks-root-key', alice: 'webhooks-alice-key', bob: 'webhooks-bob-key' };
const person = (name: 'alice' | 'bob'): string => `[[users]]\nname = "${name}"\nrole = "user"\napi_key_hash = "sha256:${createHash('sha256').update(KEYS[name]).digest('hex')}"\n`;
const TOKEN = 'the token of hooks, which is long';
const WHSEC = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

interface Received {
  readonly path: string;
  readonly body: string;
  readonly headers: IncomingHttpHeaders;
}

interface Delivery {
  id: string;
  event: string;
  status: string;
  attempts: number;
  reason: string | null;
  response_status: number | null;
}

describe('webhooks', function () {
  this.timeout(60_000);
  let world: ModelKernel;
  let alice: TestHttp;
  let bob: TestHttp;
  let agent: string;
  let receiver: Server;
  let base = '';
  let received: Received[] = [];
  let answers: number[] = [];
  let ahead = 0;
  before(async () => {
    receiver = createServer((req, res) => {
      let body = '';
      req.on('data', (piece) => {
        body += piece;
      });
      req.on('end', () => {
        received.push({ path: req.url ?? '', body, headers: req.headers });
        res.statusCode = answers.shift() ?? 200;
        if (res.statusCode === 302) res.setHeader('location', `${base}/elsewhere`);
        res.end('ok');
      });
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    base = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
    const real = systemClock();
    world = await bootWithModel(undefined, {
      clock: { ...real, now: () => real.now() + ahead, iso: () => new Date(real.now() + ahead).toISOString() },
      config: `api_key = "${KEYS.owner}"\n${OPEN_RATE}[web.fetch]\nssrf_allowed_hosts = ["127.0.0.1"]\n[webhook_triggers]\nenabled = true\n${person('alice')}${person('bob')}`,
      key: KEYS.owner,
      env: { SVC_WEBHOOK_TOKEN: TOKEN },
    });
    [alice, bob] = [world.kernel.as(KEYS.alice), world.kernel.as(KEYS.bob)];
    agent = await spawn('greeter', alice);
  });
  beforeEach(() => {
    received = [];
    answers = [];
  });
  after(async () => {
    await stopModelKernels();
    receiver.close();
  });

  const spawn = async (name: string, http: TestHttp): Promise<string> => (await http.expect(201, 'POST', '/api/agents', { manifest: { name } })).body.agent_id;
  const hook = async (fields: object = {}): Promise<string> => (await alice.expect(200, 'POST', '/api/webhooks', { name: 'mine', url: `${base}/hook`, events: ['all'], ...fields })).body.id;
  const remove = (id: string) => alice.expect(200, 'DELETE', `/api/webhooks/${id}`);
  const deliveries = async (id: string): Promise<Delivery[]> => (await alice.expect(200, 'GET', `/api/webhooks/${id}/deliveries`)).body.deliveries;
  const why = async (id: string): Promise<string> => (await alice.expect(200, 'GET', `/api/webhooks/${id}/deliveries`)).body.why;
  const until = async <T>(look: () => Promise<T | undefined> | T | undefined, what: string): Promise<T> => {
    for (let tries = 0; tries < 400; tries += 1) {
      const found = await look();
      if (found !== undefined) return found;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    throw new Error(`it never came: ${what}`);
  };
  const delivered = (id: string, status: string): Promise<Delivery> => until(async () => (await deliveries(id)).find((one) => one.status === status), `a delivery that is ${status}`);

  it('are kept apart by person, hide their secret and can be changed', async () => {
    const { body } = await alice.expect(200, 'POST', '/api/webhooks', { name: 'log', url: `${base}/x`, events: ['agent.spawned', 'agent_spawned', 'agent.terminated'], secret: 'quiet please' });
    expect(body).to.deep.include({ name: 'log', events: ['agent_spawned', 'agent_stopped'], enabled: true, has_secret: true });
    expect(JSON.stringify(body)).not.to.contain('quiet please');
    const path = `/api/webhooks/${body.id}`;
    for (const [method, at, said] of [
      ['GET', path],
      ['PUT', path, { name: 'stolen' }],
      ['DELETE', path],
      ['POST', `${path}/test`],
      ['GET', `${path}/deliveries`],
    ] as const)
      expect((await bob.expect(404, method, at, said)).body.code, at).to.equal('webhooks_not_found');
    expect((await bob.expect(200, 'GET', '/api/webhooks')).body.total).to.equal(0);
    expect((await alice.expect(200, 'GET', '/api/webhooks')).body.webhooks[0].id).to.equal(body.id);
    expect((await alice.expect(200, 'PUT', path, { secret: null, enabled: false })).body).to.deep.include({ has_secret: false, enabled: false, name: 'log' });
    await remove(body.id);
    await alice.expect(404, 'DELETE', path);
  });

  it('refuse addresses inside, other schemes and unknown events', async () => {
    const code = async (fields: object): Promise<string> => (await alice.expect(400, 'POST', '/api/webhooks', { name: 'bad', url: `${base}/x`, events: ['all'], ...fields })).body.code;
    expect(await code({ url: 'http://169.254.169.254/latest' })).to.equal('webhooks_unsafe_url');
    expect(await code({ url: 'file:///etc/passwd' })).to.equal('invalid_request');
    expect(await code({ events: ['moon_rose'] })).to.equal('invalid_request');
    expect(await code({ events: [] })).to.equal('invalid_request');
  });

  it('W1 W4 sends an event once, in the form and with the signatures that receivers know', async () => {
    const id = await hook({ events: ['agent_spawned', 'agent_stopped'], secret: WHSEC });
    const made = await spawn('newcomer', alice);
    const sent = await until(() => received[0], 'the event');
    const body = JSON.parse(sent.body);
    expect(body).to.deep.include({ type: 'agent_spawned', event: 'agent_spawned', webhook_id: id, data: { agent_id: made, agent_name: 'newcomer' } });
    expect(sent.headers['x-webhook-signature']).to.equal(`sha256=${createHmac('sha256', WHSEC).update(sent.body).digest('hex')}`);
    const key = Buffer.from(WHSEC.slice('whsec_'.length), 'base64');
    const signed = `${sent.headers['webhook-id']}.${sent.headers['webhook-timestamp']}.${sent.body}`;
    expect(sent.headers['webhook-signature']).to.equal(`v1,${createHmac('sha256', key).update(signed).digest('base64')}`);
    new Webhook(WHSEC).verify(sent.body, sent.headers as Record<string, string>);
    expect(await delivered(id, 'sent')).to.deep.include({ id: sent.headers['webhook-id'], event: 'agent_spawned', attempts: 1, response_status: 200, reason: null });
    await spawn('onlooker', bob);
    await alice.expect(200, 'DELETE', `/api/agents/${made}?confirm=true`);
    await until(() => received.find((one) => one.body.includes('agent_stopped')), 'the end of the agent');
    expect(received.length, 'nothing of bob, nothing twice').to.equal(2);
    await remove(id);
  });

  it('W2 tries again with the same id and body, and follows no redirect', async () => {
    const id = await hook({ events: ['message_completed'] });
    answers = [302];
    await alice.expect(200, 'POST', `/api/agents/${agent}/message`, { message: 'hello' });
    const waiting = await until(async () => (await deliveries(id)).find(({ attempts }) => attempts === 1), 'the first attempt');
    expect(waiting).to.deep.include({ status: 'pending', response_status: 302, reason: 'the target answered 302' });
    expect(await why(id)).to.match(/was not taken \(one attempt: the target answered 302\); the next attempt is at 2/);
    await delivered(id, 'sent');
    expect(await why(id)).to.match(/^The event message_completed of \S+ was taken at \S+ \(200, 2 attempts\)\.$/);
    expect(received.length).to.equal(2);
    const [first, second] = received;
    expect([second?.headers['webhook-id'], second?.body, second?.path]).to.deep.equal([first?.headers['webhook-id'], first?.body, '/hook']);
    await remove(id);
  });

  it('S1 a secret that was changed signs along for a day, and one that was taken away does not', async () => {
    const [before, after] = [WHSEC, 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDazfWWfWXtGY='];
    const id = await hook({ events: ['agent_spawned'], secret: before });
    const sent = async (name: string): Promise<Received> => {
      received = [];
      await spawn(name, alice);
      return until(() => received[0], 'the event');
    };
    const isTakenBy = ({ body, headers }: Received, secret: string): boolean => {
      try {
        return new Webhook(secret).verify(body, headers as Record<string, string>) !== undefined;
      } catch {
        return false;
      }
    };
    const hubOf = ({ headers }: Received): string => String(headers['x-webhook-signature']);
    await alice.expect(200, 'PUT', `/api/webhooks/${id}`, { secret: after });
    const during = await sent('later: during the rotation');
    expect([isTakenBy(during, before), isTakenBy(during, after)]).to.deep.equal([true, true]);
    expect(await verifyWithFallback(before, during.body, hubOf(during), [after])).to.equal(true);
    ahead += 25 * 3_600_000;
    const later = await sent('later: after a day');
    const signed = `${later.headers['webhook-id']}.${later.headers['webhook-timestamp']}.${later.body}`;
    const key = Buffer.from(after.slice('whsec_'.length), 'base64');
    expect(later.headers['webhook-signature']).to.equal(`v1,${createHmac('sha256', key).update(signed).digest('base64')}`);
    await alice.expect(200, 'PUT', `/api/webhooks/${id}`, { secret: before });
    await alice.expect(200, 'PUT', `/api/webhooks/${id}`, { secret: null });
    expect((await sent('later: without a secret')).headers).not.to.have.any.keys('webhook-signature', 'x-webhook-signature');
    ahead = 0;
    await remove(id);
  });

  it('W6 sends again what ended, with the same id and body', async () => {
    const id = await hook({ events: ['agent_spawned'] });
    answers = [410];
    await spawn('later: sent twice', alice);
    const dead = await delivered(id, 'dead');
    const path = `/api/webhooks/deliveries/${dead.id}/replay`;
    expect((await bob.expect(404, 'POST', path)).body.code).to.equal('webhooks_delivery_not_found');
    await alice.expect(200, 'PUT', `/api/webhooks/${id}`, { enabled: true });
    expect((await alice.expect(200, 'POST', path)).body).to.deep.include({ id: dead.id, reason: null, ended_at: null });
    expect(await delivered(id, 'sent')).to.deep.include({ id: dead.id, attempts: 2, response_status: 200 });
    const [first, second] = received;
    expect([second?.headers['webhook-id'], second?.body]).to.deep.equal([first?.headers['webhook-id'], first?.body]);
    answers = [500];
    await alice.expect(200, 'POST', path);
    await until(async () => (await deliveries(id)).find(({ attempts }) => attempts === 3), 'the third attempt');
    expect((await alice.expect(409, 'POST', path)).body.code).to.equal('webhooks_under_way');
    await remove(id);
  });

  it('W3 disables an address that is gone', async () => {
    const id = await hook({ events: ['agent_spawned'] });
    answers = [410];
    await spawn('last', alice);
    expect(await delivered(id, 'dead')).to.deep.include({ attempts: 1, response_status: 410 });
    expect((await alice.expect(200, 'GET', `/api/webhooks/${id}`)).body.enabled).to.equal(false);
    expect(await why(id)).to.match(/^It is disabled, so that nothing is sent\. The event agent_spawned of \S+ was given up after one attempt: the target answered 410/);
    await remove(id);
  });

  it('test sends one signed attempt and says how it went', async () => {
    const id = await hook({ secret: 'a text' });
    answers = [503];
    expect((await alice.expect(200, 'POST', `/api/webhooks/${id}/test`)).body).to.deep.equal({ status: 'sent', response_status: 503, webhook_id: id });
    expect(JSON.parse(received[0]?.body ?? '')).to.deep.include({ type: 'test', event: 'test', webhook_id: id });
    expect(received[0]?.headers['x-webhook-signature']).to.equal(
      `sha256=${createHmac('sha256', 'a text')
        .update(received[0]?.body ?? '')
        .digest('hex')}`,
    );
    await alice.expect(200, 'PUT', `/api/webhooks/${id}`, { url: 'http://127.0.0.1:1/closed' });
    expect((await alice.expect(200, 'POST', `/api/webhooks/${id}/test`)).body).to.deep.include({ status: 'error', webhook_id: id });
    expect(await deliveries(id)).to.deep.equal([]);
    await remove(id);
  });

  it('event subscriptions are sent to as well', async () => {
    const made = (await alice.expect(200, 'POST', '/api/webhooks/events', { event_type: 'agent.spawned', url: `${base}/events`, secret: 'text' })).body;
    expect(made).to.deep.include({ event_type: 'agent_spawned', enabled: true, has_secret: true });
    expect((await alice.expect(200, 'GET', '/api/webhooks/events')).body.map((one: { id: string }) => one.id)).to.deep.equal([made.id]);
    expect((await bob.expect(200, 'GET', '/api/webhooks/events')).body).to.deep.equal([]);
    await spawn('subscribed', alice);
    expect((await until(() => received[0], 'the event')).path).to.equal('/events');
    await alice.expect(200, 'PUT', `/api/webhooks/events/${made.id}`, { enabled: false });
    await bob.expect(404, 'DELETE', `/api/webhooks/events/${made.id}`);
    await alice.expect(200, 'DELETE', `/api/webhooks/events/${made.id}`);
    await alice.expect(404, 'DELETE', `/api/webhooks/events/${made.id}`);
  });

  it('H1 H2 asks an agent once for one id, and takes no slash command', async () => {
    const said = { message: '/new', agent: 'greeter' };
    const call = async () =>
      (await alice.post('/api/hooks/agent', said, { 'webhook-id': 'msg_1' })) as { status: number; body: { run_id: string; status: string; response: string; usage: { output_tokens: number } } };
    const [first, again] = [await call(), await call()];
    expect([first.status, first.body.status, again.body.run_id]).to.deep.equal([200, 'completed', first.body.run_id]);
    expect(first.body.usage.output_tokens, 'a model answered, no command').to.be.greaterThan(0);
    const woken = (await alice.expect(200, 'POST', '/api/hooks/wake', { text: 'the build failed' })).body;
    expect(woken).to.deep.include({ status: 'accepted', mode: 'now', agent_id: agent });
    expect((await alice.expect(404, 'POST', '/api/hooks/wake', { text: 'x', agent_id: 'nobody' })).body.code).to.equal('webhooks_no_agent');
    expect((await bob.expect(404, 'POST', '/api/hooks/agent', { message: 'x', agent })).body.code).to.equal('webhooks_no_agent');
    for (const body of [{ text: 'x', mode: 'next_heartbeat' }, { text: 'bell \u0007' }]) await alice.expect(400, 'POST', '/api/hooks/wake', body);
    for (const [more, status, code] of [
      [{ channel: 'telegram' }, 403, 'channels_denied'],
      [{ deliver: true }, 409, 'channels_no_last_chat'],
      [{ model: 'other' }, 400, 'webhooks_unsupported'],
    ] as const)
      expect((await alice.expect(status, 'POST', '/api/hooks/agent', { message: 'x', ...more })).body.code).to.equal(code);
  });

  it('A1 A3 takes API keys beside the token, which is the owner of the daemon here alone', async () => {
    const token = world.kernel.as(TOKEN);
    expect((await token.expect(200, 'POST', '/api/hooks/wake', { text: 'x' })).body.agent_id).to.equal(world.agent.id);
    expect((await token.expect(401, 'GET', '/api/agents')).body.code).to.equal('auth_key_invalid');
    expect((await world.kernel.as('nobody').expect(401, 'POST', '/api/hooks/wake', { text: 'x' })).body.code).to.equal('auth_key_invalid');
    expect((await world.kernel.as('').expect(401, 'POST', '/api/hooks/wake', { text: 'x' })).body.code).to.equal('webhooks_no_token');
  });
});
