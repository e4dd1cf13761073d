import { expect } from 'chai';
import { stopModelKernels, until } from '@svc/test/clients/model-kernel';
import { bootWithPeople, madeBy } from './people-kit.js';

const NOBODY = '00000000-0000-4000-8000-000000000000';
const idOf = (path: string): string => path.split('/').at(-1) ?? '';

describe('many agents in one request', () => {
  afterEach(stopModelKernels);

  it('are made one by one, each validated by itself, and a failure keeps no other from being made', async () => {
    const { alice } = await bootWithPeople();
    await madeBy(alice, 'taken');
    const { body } = await alice.expect(200, 'POST', '/api/agents/bulk', {
      agents: [
        { name: 'one' },
        { name: 'taken' },
        { manifest_toml: 'name = "two"\n[capabilities]\nshell = ["*"]\n' },
        { manifest_toml: 'temperature = 9' },
        {},
        { template: 'nonsense' },
        { signed_manifest: 'x', name: 'signed' },
        { template: 'tutor', name: 'teacher' },
        { name: 'one' },
      ],
    });
    expect(body).to.deep.include({ total: 9, succeeded: 2, failed: 7 });
    expect(body.results.map(({ index, success, name, code }: Record<string, unknown>) => [index, success, success ? name : code])).to.deep.equal([
      [0, true, 'one'],
      [1, false, 'agent_already_exists'],
      [2, false, 'agents_spawn_denied'],
      [3, false, 'agents_invalid_manifest'],
      [4, false, 'agents_nothing_to_spawn'],
      [5, false, 'template_not_found'],
      [6, false, 'agents_signature_unsupported'],
      [7, true, 'teacher'],
      [8, false, 'agent_already_exists'],
    ]);
    expect((await alice.expect(200, 'GET', '/api/agents')).body.total).to.equal(3);
  });

  it('are at least one and at most fifty, of the right form, or nothing is done', async () => {
    const { alice, vera } = await bootWithPeople();
    const names = (count: number) => Array.from({ length: count }, (_, index) => ({ name: `n${index}` }));
    for (const agents of [[], names(51), [{ name: 'a' }, { name: 7 }], 'x', undefined])
      expect((await alice.post('/api/agents/bulk', { agents })).status, JSON.stringify(agents)?.slice(0, 40)).to.equal(400);
    const ids = Array.from({ length: 51 }, () => NOBODY);
    for (const [method, path] of [
      ['DELETE', '/api/agents/bulk'],
      ['POST', '/api/agents/bulk/start'],
      ['POST', '/api/agents/bulk/stop'],
    ] as const) {
      for (const agent_ids of [[], ids, [7], undefined]) expect((await alice.send(method, path, { agent_ids })).status, `${path} ${agent_ids?.length}`).to.equal(400);
      expect((await vera.send(method, path, { agent_ids: [NOBODY] })).status).to.equal(403);
    }
    expect((await vera.post('/api/agents/bulk', { agents: names(1) })).status).to.equal(403);
    expect((await alice.expect(200, 'GET', '/api/agents')).body.total).to.equal(0);
    const { body } = await alice.expect(200, 'POST', '/api/agents/bulk', { agents: names(50) });
    expect(body).to.deep.include({ total: 50, succeeded: 50, failed: 0 });
  });

  it('are made once, however often the request is sent with its key', async () => {
    const { alice } = await bootWithPeople();
    const send = () => alice.expect(200, 'POST', '/api/agents/bulk', { agents: [{ name: 'a' }, { name: 'b' }] }, { 'idempotency-key': 'k' });
    const ids = async () => (await send()).body.results.map((result: { agent_id: string }) => result.agent_id);
    expect(await ids()).to.deep.equal(await ids());
    expect((await alice.expect(200, 'GET', '/api/agents')).body.total).to.equal(2);
  });

  it('are killed where they are there and one’s own, a name that comes twice the first time', async () => {
    const { owner, alice, bob } = await bootWithPeople();
    const [one, two, foreign] = [idOf(await madeBy(alice, 'one')), idOf(await madeBy(alice, 'two')), idOf(await madeBy(bob, 'his'))];
    const { body } = await alice.expect(200, 'DELETE', '/api/agents/bulk', { agent_ids: [one, one, foreign, 'nonsense', NOBODY, two.toUpperCase()] });
    expect(body).to.deep.include({ total: 6, succeeded: 2, failed: 4 });
    expect(body.results.map(({ agent_id, success, message, code }: Record<string, unknown>) => [agent_id, success ? message : code])).to.deep.equal([
      [one, 'Deleted'],
      [one, 'agent_not_found'],
      [foreign, 'agent_not_found'],
      ['nonsense', 'invalid_agent_id'],
      [NOBODY, 'agent_not_found'],
      [two.toUpperCase(), 'Deleted'],
    ]);
    expect((await owner.get(`/api/agents/${foreign}`)).status).to.equal(200);
    const all = await alice.expect(200, 'DELETE', '/api/agents/bulk', { agent_ids: [one] });
    expect(all.body).to.deep.include({ succeeded: 0, failed: 1 });
  });

  it('are stopped with what they do, take no messages, and do again when they are started', async () => {
    const { alice, bob, model } = await bootWithPeople({ hang: true });
    const [busy, idle, foreign] = [await madeBy(alice, 'busy'), await madeBy(alice, 'idle'), await madeBy(bob, 'his')];
    const answer = alice.post(`${busy}/message`, { message: 'think' });
    await until(() => model.requests.length === 1);
    const ids = { agent_ids: [idOf(busy), idOf(idle), idOf(busy), idOf(foreign)] };
    const stopped = (await alice.expect(200, 'POST', '/api/agents/bulk/stop', ids)).body;
    expect(stopped.results.map(({ message, code }: Record<string, unknown>) => message ?? code)).to.deep.equal(['Run cancelled', 'No active run', 'No active run', 'agent_not_found']);
    await answer;
    expect((await alice.post(`${idle}/message`, { message: 'x' })).body.code).to.equal('run_agent_suspended');
    expect((await bob.expect(200, 'GET', foreign)).body.state).to.equal('Running');

    model.script({ text: 'awake' });
    const started = (await alice.expect(200, 'POST', '/api/agents/bulk/start', ids)).body;
    expect(started).to.deep.include({ total: 4, succeeded: 3, failed: 1 });
    for (const path of [busy, idle]) expect((await alice.expect(200, 'POST', `${path}/message`, { message: 'x' })).body.response).to.equal('awake');
  });
});

describe('profiles', () => {
  afterEach(stopModelKernels);

  it('are six, and give their tools to an agent that names one', async () => {
    const { alice } = await bootWithPeople();
    const { body } = await alice.expect(200, 'GET', '/api/profiles');
    expect(body.total).to.equal(6);
    expect(body.profiles.map(({ name }: { name: string }) => name)).to.deep.equal(['minimal', 'coding', 'research', 'messaging', 'automation', 'full']);
    expect(body.profiles.find(({ name }: { name: string }) => name === 'full').tools).to.deep.equal(['*']);
    for (const profile of body.profiles) {
      expect((await alice.expect(200, 'GET', `/api/profiles/${profile.name}`)).body).to.deep.equal(profile);
      const path = await madeBy(alice, profile.name, `profile = "${profile.name}"\n`);
      const agent = (await alice.expect(200, 'GET', path)).body;
      expect([agent.profile, agent.capabilities.tools]).to.deep.equal([profile.name, profile.name === 'full' ? [] : profile.tools]);
    }
    for (const name of ['custom', 'nonsense', '__proto__']) {
      const missing = await alice.get(`/api/profiles/${name}`);
      expect([missing.status, missing.body.code]).to.deep.equal([404, 'agents_profile_not_found']);
    }
  });
});
