/** Triggers that senders call, with a model on its wire and a clock that the test moves. */
import { sign as signForHub } from '@octokit/webhooks-methods';
import type { Script } from '@svc/fixtures/providers/openai-server';
import { createHash, createHmac } from 'node:crypto';
import { bootWithModel, type ModelKernel, stopModelKernels } from '@svc/test/clients/model-kernel';
import { systemClock } from '@svc/platform/clock/clock';
import { OPEN_RATE, type TestHttp } from '@svc/testing';
import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';

const KEYS = { owner: 'hooks-in-root-key', alice: 'hooks-in-alice-key', bob: 'hooks-in-bob-key' };
const person = (name: 'alice' | 'bob', role: 'admin' | 'user'): string =>
  `[[users]]\nname = "${name}"\nrole = "${role}"\napi_key_hash = "sha256:${createHash('sha256').update(KEYS[name]).digest('hex')}"\n`;
const SECRET = 'a secret of this sender';
const WHSEC = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const PULL = JSON.stringify({ action: 'opened', pull_request: { number: 7, title: 'Fix {{action}}', labels: [{ name: 'door' }] }, sender: null });
type Headers = Record<string, string>;

const COMMAND = 'echo from-the-hook';
/** Runs what it is asked to run; anything else is answered. */
const script: Script = ({ body }) => {
  const { role, content } = body.messages.at(-1);
  return role !== 'tool' && JSON.stringify(content).includes(COMMAND) ? { toolCalls: [{ id: 'call_0', name: 'shell_exec', args: { command: COMMAND } }] } : { text: 'fine' };
};

describe('triggers that senders call', function () {
  this.timeout(60_000);
  let world: ModelKernel;
  let alice: TestHttp;
  let nobody: TestHttp;
  let agent: string;
  let ahead = 0;
  before(async () => {
    const real = systemClock();
    world = await bootWithModel(script, {
      clock: { ...real, now: () => real.now() + ahead, iso: () => new Date(real.now() + ahead).toISOString() },
      config: `api_key = "${KEYS.owner}"\n${OPEN_RATE}${person('alice', 'admin')}${person('bob', 'user')}`,
      key: KEYS.owner,
    });
    [alice, nobody] = [world.kernel.as(KEYS.alice), world.kernel.as('')];
    agent = (await alice.expect(201, 'POST', '/api/agents', { manifest: { name: 'receiver', capabilities: { tools: ['*'], shell: ['echo *'] } } })).body.agent_id;
  });
  after(() => stopModelKernels());

  const create = async (scheme: string, fields: object = {}): Promise<string> => {
    const draft = { agent_id: agent, pattern: { webhook: { scheme } }, secret: SECRET, cooldown_secs: 0, prompt_template: 'Look: {{event}}', ...fields };
    const { trigger_id: id, hook_path: path } = (await alice.expect(201, 'POST', '/api/triggers', draft)).body;
    expect(path).to.equal(`/api/hooks/in/${id}`);
    return id;
  };
  const call = async (id: string, headers: Headers, body = PULL) =>
    (await nobody.expect(200, 'POST', `/api/hooks/in/${id}`, body, headers)).body as { status: string; fire_id: string; reason: string };
  const refused = async (id: string, headers: Headers, body = PULL): Promise<string> => {
    const answer = (await nobody.expect(401, 'POST', `/api/hooks/in/${id}`, body, headers)).body;
    return `${answer.code} ${answer.error}`;
  };
  const history = async (id: string): Promise<Array<{ id: string; status: string; reason: string | null; run_id: string | null }>> =>
    (await alice.expect(200, 'GET', `/api/triggers/${id}/history`)).body.history;
  const settled = async (id: string, count = 1) => {
    for (let tries = 0; tries < 400; tries += 1) {
      const all = await history(id);
      if (all.length >= count && all.every(({ status }) => status !== 'running')) return all;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    throw new Error('it did not settle');
  };
  const now = (): Date => new Date(Date.now() + ahead);
  const stamp = (): string => String(Math.floor(now().getTime() / 1_000));
  const standard = (id: string, secret: string, body = PULL): Headers => ({ 'webhook-id': id, 'webhook-timestamp': stamp(), 'webhook-signature': new Webhook(secret).sign(id, now(), body) });
  const stripe = (body: string, secret = SECRET, at = stamp()): Headers => ({
    'stripe-signature': `t=${at},v0=00,v1=${'0'.repeat(64)},v1=${createHmac('sha256', secret).update(`${at}.${body}`).digest('hex')}`,
  });
  const hub = async (delivery: string, secret = SECRET, body = PULL): Promise<Headers> => ({
    'x-hub-signature-256': await signForHub(secret, body),
    'x-github-delivery': delivery,
    'x-github-event': 'pull_request',
  });

  it('H1 H2 asks its agent by a template over the body, once for each delivery', async () => {
    const id = await create('github', { prompt_template: '{{header.x-github-event}} {{pull_request.number}}: {{pull_request.title}} {{$.pull_request.labels[0].name}}{{sender}} {{unknown}}' });
    const first = await call(id, await hub('d-1'));
    expect(first.status).to.equal('accepted');
    const [fire] = await settled(id);
    expect(fire).to.deep.include({ id: first.fire_id, status: 'ok' });
    expect(JSON.stringify(world.model.requests.at(-1)?.body)).to.contain('pull_request 7: Fix {{action}} door {{unknown}}');
    const run = (await alice.expect(200, 'GET', `/api/runs/${fire?.run_id}`)).body;
    expect(run.cause).to.deep.equal({ kind: 'trigger', id });
    expect((await call(id, await hub('d-1'))).fire_id).to.equal(first.fire_id);
    expect((await history(id)).length).to.equal(1);
  });

  it('A1 takes what each scheme signs, and nothing that is forged, stale or signed for another body', async () => {
    const ids = { standard: await create('standard', { secret: WHSEC }), github: await create('github'), stripe: await create('stripe'), token: await create('token') };
    const event = JSON.stringify({ id: 'evt_1', type: 'invoice.paid' });
    expect((await call(ids.standard, standard('msg_1', WHSEC))).status).to.equal('accepted');
    expect((await call(ids.stripe, stripe(event), event)).status).to.equal('accepted');
    for (const headers of [{ authorization: `Bearer ${SECRET}` }, { 'x-gitlab-token': SECRET }, { 'x-api-key': SECRET }] as Headers[])
      expect((await call(ids.token, headers)).status).to.equal('accepted');
    expect(await refused(ids.standard, standard('msg_2', 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDazfWWfWXtGY='))).to.match(/^triggers_bad_signature .*does not fit the body/);
    expect(await refused(ids.standard, { ...standard('msg_2', WHSEC), 'webhook-id': 'msg_3' })).to.contain('does not fit');
    expect(await refused(ids.standard, {})).to.contain('is missing');
    expect(await refused(ids.github, await hub('d-2', 'another secret of others'))).to.contain('does not fit');
    expect(await refused(ids.github, await hub('d-2'), '{"action":"closed"}')).to.contain('does not fit');
    expect(await refused(ids.github, { 'x-hub-signature-256': 'sha256=' })).to.contain('does not fit');
    expect(await refused(ids.stripe, stripe(event, 'another secret of others'), event)).to.contain('does not fit');
    expect(await refused(ids.token, { authorization: `Bearer ${KEYS.alice}` })).to.contain('the token is another one');
    const [late, old] = [standard('msg_4', WHSEC), stripe(event)];
    ahead += 301_000;
    expect(await refused(ids.standard, late)).to.contain('older than five minutes');
    expect(await refused(ids.stripe, old, event)).to.contain('older than five minutes');
  });

  it('H2 A2 fires once for an id within 24 hours, and anew after them', async () => {
    const id = await create('stripe');
    const body = JSON.stringify({ id: 'evt_2', type: 'invoice.paid' });
    const [first, same] = await Promise.all([call(id, stripe(body), body), call(id, stripe(body), body)]);
    expect(first?.fire_id).to.equal(same?.fire_id);
    ahead += 24 * 3_600_000 - 60_000;
    expect((await call(id, stripe(body), body)).fire_id).to.equal(first?.fire_id);
    ahead += 120_000;
    expect((await call(id, stripe(body), body)).fire_id).not.to.equal(first?.fire_id);
    expect((await settled(id, 2)).length).to.equal(2);
  });

  it('S1 takes both secrets for a day after a change', async () => {
    const id = await create('standard', { secret: WHSEC });
    const next = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDazfWWfWXtGY=';
    await alice.expect(200, 'PATCH', `/api/triggers/${id}`, { secret: next });
    expect((await call(id, standard('r-1', WHSEC))).status).to.equal('accepted');
    expect((await call(id, standard('r-2', next))).status).to.equal('accepted');
    ahead += 25 * 3_600_000;
    expect(await refused(id, standard('r-3', WHSEC))).to.contain('does not fit');
    expect((await call(id, standard('r-4', next))).status).to.equal('accepted');
  });

  it('ignores other values, says why it skips, and starts a workflow', async () => {
    const steps = [{ name: 'one', agent: 'receiver', input: 'Step: {{input}}' }];
    const workflow = (await alice.expect(201, 'POST', '/api/workflows', { name: 'of a hook', steps })).body.workflow_id;
    const pattern = { webhook: { scheme: 'token', where: { action: 'opened', 'pull_request.number': '7' } } };
    const id = await create('token', { pattern, workflow_id: workflow, prompt_template: 'Pull request {{pull_request.number}}' });
    const token = { authorization: `Bearer ${SECRET}` };
    expect((await call(id, token, '{"action":"closed"}')).status).to.equal('ignored');
    expect((await call(id, token)).status).to.equal('accepted');
    expect((await settled(id))[0]?.status).to.equal('ok');
    expect(JSON.stringify(world.model.requests.at(-1)?.body)).to.contain('Step: Pull request 7');
    await alice.expect(200, 'PATCH', `/api/triggers/${id}`, { enabled: false });
    expect(await call(id, { ...token, 'idempotency-key': 'off' })).to.deep.include({ status: 'skipped', reason: 'disabled: the trigger is switched off' });
  });

  it('H3 decides no command, for an agent or in a workflow, until a person agrees', async () => {
    const steps = [{ name: 'one', agent: 'receiver', input: 'Do this: {{input}}' }];
    const workflow = (await alice.expect(201, 'POST', '/api/workflows', { name: 'with a command', steps })).body.workflow_id;
    const asked = async (): Promise<Array<{ id: string; description: string }>> =>
      (await alice.expect(200, 'GET', '/api/approvals')).body.approvals.filter(({ status }: { status: string }) => status === 'pending');
    for (const fields of [{}, { workflow_id: workflow }]) {
      const id = await create('token', { ...fields, prompt_template: 'Run {{command}}' });
      await call(id, { authorization: `Bearer ${SECRET}` }, JSON.stringify({ command: COMMAND }));
      let pending = await asked();
      for (let tries = 0; tries < 200 && pending.length === 0; tries += 1) {
        await new Promise((resolve) => setTimeout(resolve, 25));
        pending = await asked();
      }
      expect(pending[0]?.description).to.contain('came from a webhook').and.contain('Label ExternalNetwork');
      await alice.expect(200, 'POST', `/api/approvals/${pending[0]?.id}/reject`, {});
      await settled(id);
    }
  });

  it('needs a secret, hides it, and is there for its owner alone', async () => {
    const bob = world.kernel.as(KEYS.bob);
    const draft = { agent_id: agent, pattern: { webhook: { scheme: 'github' } } };
    expect((await alice.expect(400, 'POST', '/api/triggers', draft)).body.code).to.equal('triggers_no_secret');
    const id = await create('github');
    expect(JSON.stringify((await alice.expect(200, 'GET', `/api/triggers/${id}`)).body))
      .to.contain('"has_secret":true')
      .and.not.contain(SECRET);
    expect((await alice.expect(400, 'PATCH', `/api/triggers/${id}`, { secret: null })).body.code).to.equal('triggers_no_secret');
    await bob.expect(404, 'PATCH', `/api/triggers/${id}`, { secret: 'the secret of bob himself' });
    for (const other of [crypto.randomUUID(), (await alice.expect(201, 'POST', '/api/triggers', { agent_id: agent, pattern: 'lifecycle' })).body.trigger_id])
      expect(await refused(other, await hub('d-8'))).to.contain('triggers_bad_signature');
    await nobody.expect(400, 'POST', `/api/hooks/in/${id}`, '["a list"]', await hub('d-9', SECRET, '["a list"]'));
    const toml = '[[triggers]]\npattern = { webhook = { scheme = "github" } }';
    expect(JSON.stringify((await alice.expect(400, 'POST', '/api/agents', { manifest_toml: `name = "of a file"\n${toml}` })).body)).to.contain('needs a secret');
  });
});
