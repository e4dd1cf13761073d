/** Hooks with a token and signatures, of a daemon that asks for no key, with a clock that the test moves. */
import { sign as signForHub } from '@octokit/webhooks-methods';
import { startNtfyServer } from '@svc/fixtures/channels/ntfy-server';
import { bootWithModel, type ModelKernel, stopModelKernels, until } from '@svc/test/clients/model-kernel';
import { systemClock } from '@svc/platform/clock/clock';
import { OPEN_RATE, type TestHttp } from '@svc/testing';
import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';

const TOKEN = 'a token of hooks that is long enough';
const WAKE = '/api/hooks/wake';
const DAY_MS = 24 * 3_600_000;
const BODY = JSON.stringify({ text: 'the build failed' });

describe('hooks with a token', function () {
  this.timeout(60_000);
  let world: ModelKernel;
  let http: TestHttp;
  let ahead = 0;
  before(async () => {
    const real = systemClock();
    const clock = { ...real, now: () => real.now() + ahead, iso: () => new Date(real.now() + ahead).toISOString() };
    world = await bootWithModel(undefined, {
      clock,
      config: `${OPEN_RATE}[webhook_triggers]\nenabled = true\ntoken_env = "MY_HOOK_TOKEN"\nmax_payload_bytes = 2048\nrate_limit_per_minute = 40\n`,
      env: { MY_HOOK_TOKEN: TOKEN },
    });
    http = world.kernel.as('');
  });
  // Each test has the calls of a minute for itself.
  beforeEach(() => {
    ahead += 120_000;
  });
  after(() => stopModelKernels());

  const now = (): Date => new Date(Date.now() + ahead);
  const standard = (id: string, { at = now(), body = BODY, token = TOKEN } = {}): Record<string, string> => ({
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(token, { format: 'raw' }).sign(id, at, body),
  });
  const woken = async (headers: Record<string, string>, body: string = BODY): Promise<string> => (await http.expect(200, 'POST', WAKE, body, headers)).body.run_id;
  const refused = async (headers: Record<string, string>, body: string = BODY): Promise<string> => {
    const answer = await http.expect(401, 'POST', WAKE, body, headers);
    expect(answer.headers.get('www-authenticate')).to.equal('Bearer');
    return answer.body.code;
  };

  it('A1 A3 asks for the token where the daemon asks for no key', async () => {
    await http.expect(200, 'GET', '/api/agents');
    expect(await refused({})).to.equal('webhooks_no_token');
    expect(await refused({ authorization: 'Bearer somebody else' })).to.equal('webhooks_no_token');
    expect(await refused({ 'x-api-key': `${TOKEN}!` })).to.equal('webhooks_no_token');
    const asked = (await http.expect(200, 'POST', '/api/hooks/agent', { message: 'hello' }, { authorization: `Bearer ${TOKEN}` })).body;
    expect(asked).to.deep.include({ status: 'completed', agent_id: world.agent.id });
    const run = (await http.expect(200, 'GET', `/api/runs/${asked.run_id}`)).body;
    expect(run.cause).to.deep.include({ kind: 'webhook' });
  });

  it('H3 sends the answer to a chat as well, once', async () => {
    const ntfy = await startNtfyServer();
    const headers = { authorization: `Bearer ${TOKEN}`, 'idempotency-key': 'to a chat' };
    const ask = (status: number, fields: object, more = headers) => http.expect(status, 'POST', '/api/hooks/agent', { message: 'what is new?', ...fields }, more);
    try {
      expect((await ask(409, { deliver: true })).body.code).to.equal('channels_no_last_chat');
      expect((await ask(409, { channel: 'ntfy' })).body.code).to.equal('channels_not_configured');
      await http.expect(200, 'POST', '/api/channels/ntfy/configure', { fields: { topic: 'hooks', server_url: ntfy.url } });
      const answers = [await ask(200, { channel: 'ntfy' }), await ask(200, { channel: 'ntfy' })].map(({ body }) => body);
      expect(answers.map(({ delivers_to: to }) => to)).to.deep.equal(['ntfy:hooks', 'ntfy:hooks']);
      expect(answers[0].run_id).to.equal(answers[1].run_id);
      await until(() => ntfy.messages.length > 0);
      // To where its owner wrote last.
      ntfy.publish('hooks', 'hello');
      await until(() => ntfy.messages.length === 3);
      expect((await ask(200, { deliver: true }, { ...headers, 'idempotency-key': 'another' })).body.delivers_to).to.equal('ntfy:hooks');
      await until(() => ntfy.messages.length === 4);
      expect((await ask(200, { deliver: false, channel: 'ntfy' }, { ...headers, 'idempotency-key': 'nowhere' })).body.delivers_to).to.equal(undefined);
      expect([ntfy.messages[0]?.message, ntfy.messages.length]).to.deep.equal([answers[0].response, 4]);
    } finally {
      await http.expect(200, 'DELETE', '/api/channels/ntfy/configure');
      await ntfy.close();
    }
  });

  it('A2 takes what standardwebhooks signs, once, and nothing that was changed or is late', async () => {
    const first = await woken(standard('msg_1'));
    expect(await woken(standard('msg_1')), 'the same id').to.equal(first);
    expect(await woken({ ...standard('msg_1'), 'idempotency-key': 'another' }), 'a replayed call with an id of its own').to.equal(first);
    expect(await woken(standard('msg_2'))).not.to.equal(first);
    expect(await refused(standard('msg_3', { body: '{"text":"another"}' }))).to.equal('webhooks_bad_signature');
    expect(await refused({ ...standard('msg_3'), 'webhook-id': 'msg_4' })).to.equal('webhooks_bad_signature');
    expect(await refused(standard('msg_3', { token: 'another token that is as long as it' }))).to.equal('webhooks_bad_signature');
    for (const minutes of [-6, 6]) expect(await refused(standard('msg_3', { at: new Date(now().getTime() + minutes * 60_000) }))).to.equal('webhooks_bad_signature');
    expect(await refused({ 'webhook-signature': 'v1,AAAA' })).to.equal('webhooks_bad_signature');
    const older = standard('msg_5', { token: 'a key that was replaced since then' })['webhook-signature'];
    const rotated = standard('msg_5');
    await woken({ ...rotated, 'webhook-signature': `${older} ${rotated['webhook-signature']}` });
  });

  it('A2 takes what octokit signs, and its delivery once', async () => {
    const headers = { 'x-hub-signature-256': await signForHub(TOKEN, BODY), 'x-github-delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958' };
    expect(await woken(headers)).to.equal(await woken(headers));
    expect(await refused({ ...headers, 'x-hub-signature-256': await signForHub('not the token', BODY) })).to.equal('webhooks_bad_signature');
    expect(await refused(headers, '{"text":"another"}')).to.equal('webhooks_bad_signature');
  });

  it('H2 knows an id for 24 hours', async () => {
    const call = { authorization: `Bearer ${TOKEN}`, 'idempotency-key': 'nightly' };
    const first = await woken(call);
    const both = await Promise.all([woken({ ...call, 'idempotency-key': 'twice' }), woken({ ...call, 'idempotency-key': 'twice' })]);
    expect(both[0]).to.equal(both[1]);
    ahead += DAY_MS - 60_000;
    expect(await woken(call)).to.equal(first);
    ahead += 120_000;
    const next = await woken(call, '{"text":"another night"}');
    expect(next).not.to.equal(first);
    expect(await woken(call, '{"text":"another night"}')).to.equal(next);
    expect((await http.expect(409, 'POST', WAKE, '{"text":"another text"}', call)).status).to.equal(409);
  });

  it('H2 says again what a call that comes again said: the daemon may have ended before it did', async () => {
    const call = { authorization: `Bearer ${TOKEN}`, 'idempotency-key': 'cut off' };
    const first = await woken(call);
    const trigger = (await http.expect(201, 'POST', '/api/triggers', { agent_id: world.agent.id, pattern: { content_match: { substring: 'the build failed' } }, prompt_template: 'Look: {{event}}' }))
      .body.trigger_id;
    for (let again = 0; again < 2; again += 1) expect(await woken(call)).to.equal(first);
    const fires = async () => (await http.expect(200, 'GET', `/api/triggers/${trigger}/history`)).body.history;
    for (let tries = 0; tries < 200 && (await fires()).length === 0; tries += 1) await new Promise((resolve) => setTimeout(resolve, 10));
    expect((await fires()).length).to.equal(1);
    await http.expect(200, 'DELETE', `/api/triggers/${trigger}`);
  });

  it('limits the size and the number of calls', async () => {
    const call = { authorization: `Bearer ${TOKEN}` };
    expect((await http.expect(413, 'POST', WAKE, { text: 'x'.repeat(3_000) }, call)).body.code).to.equal('webhooks_too_large');
    for (let calls = 0; calls < 39; calls += 1) await refused({});
    const over = await http.expect(429, 'POST', WAKE, BODY, call);
    expect([over.body.code, over.headers.get('retry-after')]).to.deep.equal(['webhooks_too_many_calls', '60']);
  });
});
