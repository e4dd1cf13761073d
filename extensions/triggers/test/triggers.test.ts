/** Triggers over HTTP, with a model on its wire. */
import { createHash } from 'node:crypto';
import type { Script } from '@svc/fixtures/providers/openai-server';
import { bootWithModel, type ModelKernel, stopModelKernels } from '@svc/test/clients/model-kernel';
import { OPEN_RATE, type TestHttp } from '@svc/testing';
import { expect } from 'chai';

const KEYS = { owner: 'triggers-root-key', alice: 'triggers-alice-key', bob: 'triggers-bob-key' };
const person = (name: 'alice' | 'bob'): string => `[[users]]\nname = "${name}"\nrole = "user"\napi_key_hash = "sha256:${createHash('sha256').update(KEYS[name]).digest('hex')}"\n`;

/** `post` posts a task; anything else is answered with what was said last. */
const script: Script = ({ body }) => {
  const { role, content } = body.messages.at(-1);
  const said = typeof content === 'string' ? content : content.map((part: { text?: string }) => part.text ?? '').join('\n');
  if (role !== 'tool' && said.includes('post another')) return { toolCalls: [{ id: 'call_0', name: 'task_post', args: { title: 'post another' } }] };
  return { text: `answered: ${said.slice(0, 200)}` };
};

interface Fire {
  readonly status: string;
  readonly event: string;
  readonly reason: string | null;
  readonly run_id: string | null;
  readonly depth: number;
  readonly text: string;
}

describe('triggers', function () {
  this.timeout(60_000);
  let world: ModelKernel;
  let alice: TestHttp;
  let bob: TestHttp;
  let agent: string;
  before(async () => {
    world = await bootWithModel(script, { config: `api_key = "${KEYS.owner}"\n${OPEN_RATE}${person('alice')}${person('bob')}`, key: KEYS.owner });
    [alice, bob] = [world.kernel.as(KEYS.alice), world.kernel.as(KEYS.bob)];
    agent = await spawn('watcher');
  });
  after(() => stopModelKernels());

  const spawn = async (name: string, http = alice): Promise<string> =>
    (await http.expect(201, 'POST', '/api/agents', { manifest: { name, capabilities: { tools: ['*'], agent_message: ['*'] } } })).body.agent_id;
  const create = async (fields: object, http = alice): Promise<string> => (await http.expect(201, 'POST', '/api/triggers', { agent_id: agent, cooldown_secs: 0, ...fields })).body.trigger_id;
  const history = async (id: string): Promise<Fire[]> => (await alice.expect(200, 'GET', `/api/triggers/${id}/history`)).body.history;
  const post = async (title: string, more: object = {}): Promise<string> => (await alice.expect(200, 'POST', '/api/comms/task', { title, ...more })).body.task_id;
  const until = async <T>(look: () => Promise<T | undefined>, what: string): Promise<T> => {
    for (let tries = 0; tries < 400; tries += 1) {
      const found = await look();
      if (found !== undefined) return found;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    throw new Error(`it never came: ${what}`);
  };
  const fires = (id: string, count: number): Promise<Fire[]> =>
    until(async () => {
      const all = await history(id);
      return all.length >= count && all.every(({ status }) => status !== 'running') ? all : undefined;
    }, `${count} fires`);
  const remove = (id: string) => alice.expect(200, 'DELETE', `/api/triggers/${id}`);

  it('are kept apart by person, and changed field by field', async () => {
    const made = (await alice.expect(201, 'POST', '/api/triggers', { agent_id: agent, pattern: { all: {} }, enabled: false })).body;
    expect(made).to.deep.equal({ trigger_id: made.trigger_id, agent_id: agent });
    const path = `/api/triggers/${made.trigger_id}`;
    expect((await alice.expect(200, 'GET', path)).body).to.deep.include({ pattern: 'all', prompt_template: 'Event: {{event}}', fire_count: 0, cooldown_secs: null, target_agent_id: null });
    for (const [method, at, said] of [
      ['GET', path],
      ['PATCH', path, { enabled: true }],
      ['DELETE', path],
      ['GET', `${path}/history`],
    ] as const)
      expect((await bob.expect(404, method, at, said)).body.code, at).to.equal('triggers_not_found');
    expect((await alice.expect(200, 'PATCH', path, { cooldown_secs: 7, max_fires: 2 })).body).to.deep.include({ cooldown_secs: 7, max_fires: 2, pattern: 'all' });
    expect((await alice.expect(200, 'PATCH', path, { cooldown_secs: null })).body.cooldown_secs).to.equal(null);
    expect((await alice.expect(200, 'GET', `/api/triggers?agent_id=${agent}`)).body.triggers.map(({ id }: { id: string }) => id)).to.deep.equal([made.trigger_id]);
    expect((await bob.expect(200, 'GET', '/api/triggers')).body.total).to.equal(0);
    expect((await remove(made.trigger_id)).body).to.deep.equal({ status: 'removed', trigger_id: made.trigger_id });
    await alice.expect(404, 'DELETE', path);
  });

  it('refuse patterns that are none, agents of others and workflows that are not there', async () => {
    const code = async (status: number, fields: object): Promise<string> => (await alice.expect(status, 'POST', '/api/triggers', { agent_id: agent, pattern: 'all', ...fields })).body.code;
    for (const pattern of ['moon_rose', { task_posted: { to: 'me' } }, { all: { x: 1 } }, { agent_spawned: {} }])
      expect(await code(400, { pattern }), JSON.stringify(pattern)).to.equal('invalid_request');
    const his = await spawn('his', bob);
    expect(await code(404, { agent_id: his })).to.equal('triggers_no_agent');
    expect(await code(404, { target_agent_id: his })).to.equal('triggers_no_agent');
    expect(await code(404, { workflow_id: 'nothing' })).to.equal('triggers_no_workflow');
  });

  it('R1 R2 fire for a task of their owner, once, and ask their agent', async () => {
    const mine = await create({ pattern: { task_posted: { assignee_match: 'unassigned' } }, prompt_template: 'Look: {{event}}' });
    await bob.expect(200, 'POST', '/api/comms/task', { title: 'not yours' });
    const task = await post('water the plants');
    const [fire, ...others] = await fires(mine, 1);
    expect(others).to.deep.equal([]);
    expect(fire).to.deep.include({ status: 'ok', event: 'task_posted', reason: null, depth: 1 });
    const run = (await alice.expect(200, 'GET', `/api/runs/${fire?.run_id}`)).body;
    expect(run.cause).to.deep.equal({ kind: 'trigger', id: mine });
    expect(JSON.stringify(world.model.requests.at(-1)?.body)).to.contain(`Look: The task ${task} was posted: water the plants`);
    expect((await alice.expect(200, 'GET', `/api/triggers/${mine}`)).body.fire_count).to.equal(1);
    await remove(mine);
  });

  it('R3 R4 rest for each subject alone, and say why they did not fire', async () => {
    const one = await create({ pattern: { agent_spawned: { name_pattern: 'twin' } }, cooldown_secs: 600 });
    const wide = await create({ pattern: { content_match: { substring: 'TWIN' } }, cooldown_secs: 600 });
    await spawn('twin a');
    await fires(wide, 1);
    await spawn('twin b');
    expect((await fires(one, 2)).map(({ status }) => status)).to.deep.equal(['ok', 'ok']);
    const [skipped] = await fires(wide, 2);
    expect(skipped?.status).to.equal('skipped');
    expect(skipped?.reason).to.match(/^cooldown: /);
    await Promise.all([remove(one), remove(wide)]);
  });

  it('max_fires disables a trigger, and its row stays', async () => {
    const once = await create({ pattern: 'task_posted', max_fires: 1 });
    await post('first');
    await fires(once, 1);
    await until(async () => ((await alice.expect(200, 'GET', `/api/triggers/${once}`)).body.enabled ? undefined : true), 'the end of the trigger');
    await post('second');
    await post('third');
    expect((await history(once)).filter(({ status }) => status === 'ok').length).to.equal(1);
    await remove(once);
  });

  it('R5 end where they wake each other, with the depth as reason', async () => {
    const loop = await create({ pattern: { content_match: { substring: 'post another' } } });
    await post('post another');
    const all = await until(async () => {
      const found = await history(loop);
      return found.some(({ reason }) => reason?.startsWith('depth: ')) ? found : undefined;
    }, 'the end of the chain');
    expect(Math.max(...all.filter(({ status }) => status !== 'skipped').map(({ depth }) => depth))).to.equal(5);
    const roots = await Promise.all(
      all.filter(({ run_id: id, event }) => id !== null && event === 'task_posted').map(async ({ run_id: id }) => (await alice.expect(200, 'GET', `/api/runs/${id}`)).body.root_id),
    );
    expect(new Set(roots).size, 'one root').to.equal(1);
    await remove(loop);
  });

  it('go with their agent', async () => {
    const gone = await spawn('short-lived');
    const id = (await alice.expect(201, 'POST', '/api/triggers', { agent_id: gone, pattern: 'all' })).body.trigger_id;
    await alice.expect(200, 'DELETE', `/api/agents/${gone}?confirm=true`);
    await alice.expect(404, 'GET', `/api/triggers/${id}`);
  });
});
