import { createHash } from 'node:crypto';
import { OPEN_RATE, type TestHttp } from '@svc/testing';
import { bootWithModel, type ModelKernel, stopModelKernels } from '@svc/test/clients/model-kernel';
import { expect } from 'chai';

const KEYS = { owner: 'goals-root-key', alice: 'goals-alice-key', bob: 'goals-bob-key' };
const person = (name: 'alice' | 'bob'): string => `[[users]]\nname = "${name}"\nrole = "user"\napi_key_hash = "sha256:${createHash('sha256').update(KEYS[name]).digest('hex')}"\n`;
const MISSING = '00000000-0000-4000-8000-000000000000';

describe('goals', function () {
  this.timeout(30_000);
  let world: ModelKernel;
  let alice: TestHttp;
  let bob: TestHttp;
  let owner: TestHttp;
  before(async () => {
    world = await bootWithModel(undefined, { config: `api_key = "${KEYS.owner}"\n${OPEN_RATE}${person('alice')}${person('bob')}`, key: KEYS.owner });
    [owner, alice, bob] = [world.kernel.as(KEYS.owner), world.kernel.as(KEYS.alice), world.kernel.as(KEYS.bob)];
  });
  after(stopModelKernels);

  const add = async (fields: object, http = alice): Promise<{ id: string; owner_id: string }> => (await http.expect(200, 'POST', '/api/goals', { title: 'Reach it', ...fields })).body;
  const code = async (status: number, method: string, path: string, body: unknown, http = alice): Promise<string> => (await http.expect(status, method, path, body)).body.code;
  const get = async (id: string) => (await alice.expect(200, 'GET', `/api/goals/${id}`)).body;
  const spawn = async (name: string, http = alice): Promise<string> => (await http.expect(201, 'POST', '/api/agents', { manifest: { name, capabilities: { tools: ['goal_update'] } } })).body.agent_id;

  it('take a title without the spaces around it, and an empty text for no parent and no agent', async () => {
    const { id } = await add({ title: '  Launch  ', parent_id: '', agent_id: '' });
    expect(await get(id)).to.deep.include({ title: 'Launch', description: '', status: 'pending', progress: 0, parent_id: null, agent_id: null, due_at: null });
    for (const bad of [
      { title: '   ' },
      { title: 'x'.repeat(257) },
      { title: 'x', progress: 101 },
      { title: 'x', progress: 1.5 },
      { title: 'x', status: 'done' },
      { title: 'x', due_at: 'soon' },
      { title: 'x', parent_id: 'no' },
    ])
      expect((await alice.post('/api/goals', bad)).status, JSON.stringify(bad)).to.equal(400);
  });

  it('are listed under both names of the list', async () => {
    const { id } = await add({ title: 'Listed once', status: 'completed' });
    const { body } = await alice.expect(200, 'GET', '/api/goals?q=listed%20once&status=completed');
    expect([body.goals.map((goal: { id: string }) => goal.id), body.items, body.total]).to.deep.equal([[id], body.goals, 1]);
  });

  it('G1 form a tree: a goal stands below no goal that is missing, that is its own, or that stands below it', async () => {
    const top = await add({});
    const middle = await add({ parent_id: top.id });
    const low = await add({ parent_id: middle.id });
    expect(await code(404, 'POST', '/api/goals', { title: 'x', parent_id: MISSING })).to.equal('goals_parent_not_found');
    expect(await code(404, 'POST', '/api/goals', { title: 'x', parent_id: top.id }, bob)).to.equal('goals_parent_not_found');
    for (const parent of [top, middle, low]) expect(await code(400, 'PUT', `/api/goals/${top.id}`, { parent_id: parent.id })).to.equal('goals_cycle');
    await alice.expect(200, 'PUT', `/api/goals/${low.id}`, { parent_id: null });
    await alice.expect(200, 'PUT', `/api/goals/${top.id}`, { parent_id: low.id });
    expect((await get(middle.id)).parent_id).to.equal(top.id);
  });

  it('G1 form a tree also when two goals are put below each other at once', async () => {
    for (let n = 0; n < 10; n += 1) {
      const [one, other] = [await add({}), await add({})];
      const answers = await Promise.all([alice.put(`/api/goals/${one.id}`, { parent_id: other.id }), alice.put(`/api/goals/${other.id}`, { parent_id: one.id })]);
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 400]);
    }
  });

  it('G1 stand 32 levels deep at most', async () => {
    let parent = await add({});
    for (let level = 1; level <= 32; level += 1) parent = await add({ parent_id: parent.id });
    expect(await code(400, 'POST', '/api/goals', { title: 'too deep', parent_id: parent.id })).to.equal('goals_too_deep');
  });

  it('G2 belong to the owner of the goal above them, and move below nobody else’s', async () => {
    const hers = await add({});
    const below = await add({ parent_id: hers.id }, owner);
    expect(below.owner_id).to.equal(hers.owner_id);
    const own = await add({}, owner);
    expect(await code(400, 'PUT', `/api/goals/${own.id}`, { parent_id: hers.id }, owner)).to.equal('goals_parent_of_another');
  });

  it('G2 go with the goal above them, and no others do', async () => {
    const top = await add({});
    const children = [await add({ parent_id: top.id, title: 'first' }), await add({ parent_id: top.id, title: 'second' })];
    const low = await add({ parent_id: children[1]?.id });
    const other = await add({});
    const { body } = await alice.expect(200, 'GET', `/api/goals/${top.id}/children`);
    expect([body.children.map(({ title }: { title: string }) => title), body.total]).to.deep.equal([['first', 'second'], 2]);
    await bob.expect(404, 'GET', `/api/goals/${top.id}/children`);
    expect((await alice.expect(200, 'DELETE', `/api/goals/${top.id}`)).body).to.deep.equal({ status: 'deleted', goal_id: top.id });
    for (const { id } of [top, ...children, low]) await alice.expect(404, 'GET', `/api/goals/${id}`);
    await get(other.id);
  });

  it('are given to agents that their owner may see, and stay without one when the agent is erased', async () => {
    const [agent, his] = [await spawn('worker'), await spawn('his-worker', bob)];
    const { id } = await add({ agent_id: agent });
    expect(await code(404, 'PUT', `/api/goals/${id}`, { agent_id: his })).to.equal('agent_not_found');
    await alice.expect(200, 'DELETE', `/api/agents/${agent}?erase=true`);
    let left = await get(id);
    for (let tries = 0; tries < 100 && left.agent_id !== null; tries += 1) left = await new Promise((resolve) => setTimeout(resolve, 20)).then(() => get(id));
    expect(left.agent_id).to.equal(null);
  });

  it('are read by their agent until they are completed, and their progress is reported by it and no other', async () => {
    const [agent, another] = [await spawn('reader'), await spawn('onlooker')];
    const open = await add({ title: 'Count the herons', agent_id: agent, description: 'at the pond' });
    await add({ title: 'Long done', agent_id: agent, status: 'completed' });
    const say = async (agentId: string, args: object): Promise<string> => {
      world.model.script([{ toolCalls: [{ name: 'goal_update', args: { goal_id: open.id, ...args } }] }, { text: 'done' }]);
      const from = world.model.requests.length;
      await alice.expect(200, 'POST', `/api/agents/${agentId}/message`, { message: 'go on' });
      return JSON.stringify(world.model.requests.slice(from).map(({ body }) => body.messages));
    };
    const read = await say(agent, { status: 'in_progress', progress: 30 });
    expect(read).to.contain('Count the herons').and.contain('at the pond').and.not.contain('Long done');
    expect(await get(open.id)).to.include({ status: 'in_progress', progress: 30 });
    const refused = await say(another, { progress: 90 });
    expect(refused).to.contain(`There is no goal ${open.id}`).and.not.contain('herons');
    expect((await get(open.id)).progress).to.equal(30);
    await say(agent, { status: 'completed' });
    expect(await say(agent, {})).to.not.contain('## Your goals');
  });

  it('come with templates that can be created as they are', async () => {
    const { templates } = (await alice.expect(200, 'GET', '/api/goals/templates')).body;
    expect(templates.map(({ id }: { id: string }) => id)).to.deep.equal(['product_launch', 'agent_deployment', 'security_audit', 'data_pipeline', 'team_onboarding', 'incident_response']);
    for (const { goals } of templates) for (const goal of goals) await add(goal);
  });
});
