import { defineList, Type } from '@svc/api';
import { expect } from 'chai';
import { ensureFirstAgent } from '../src/first-agent.js';
import { createLastActive } from '../src/shown/last-active.js';
import { spawnAgent } from '../src/spawning.js';
import { alice, bob, codeOf, type OpenAgents, openAgents, owner } from './agents-kit.js';

describe('agents', () => {
  let kit: OpenAgents;
  beforeEach(async () => {
    kit = await openAgents();
  });
  afterEach(() => kit.close());

  it('A1 gives an agent with the name of a dead one another id', async () => {
    const first = await kit.agents.spawn(owner, { name: 'helper' });
    await kit.agents.kill(owner, first.id);
    const second = await kit.agents.spawn(owner, { name: 'helper' });
    expect(second.id).not.to.equal(first.id);
    expect(second.sessionId).not.to.equal(first.sessionId);
  });

  it('A2 gives the same agent for the same key and request, once announced', async () => {
    const [one, two] = await Promise.all([spawnAgent(kit.deps, owner, { name: 'helper', key: 'k' }), spawnAgent(kit.deps, owner, { name: 'helper', key: 'k' })]);
    const three = await spawnAgent(kit.deps, owner, { name: 'helper', key: 'k' });
    expect(two.agentId).to.equal(one.agentId);
    expect(three.agentId).to.equal(one.agentId);
    expect(kit.said.filter(({ event }) => event === 'agent.spawned')).to.have.length(1);
  });

  it('A2 refuses the same key with another request, and keeps the keys of two owners apart', async () => {
    await spawnAgent(kit.deps, alice, { name: 'helper', key: 'k' });
    expect(await codeOf(spawnAgent(kit.deps, alice, { name: 'other', key: 'k' }))).to.equal('journal_key_conflict');
    expect((await spawnAgent(kit.deps, bob, { name: 'other', key: 'k' })).name).to.equal('other');
  });

  it('A2 answers a resent request after the kill without making a second agent', async () => {
    const first = await spawnAgent(kit.deps, owner, { name: 'helper', key: 'k' });
    await kit.agents.kill(owner, first.agentId);
    expect((await spawnAgent(kit.deps, owner, { name: 'helper', key: 'k' })).agentId).to.equal(first.agentId);
    expect(await kit.agents.list(owner)).to.deep.equal([]);
    expect(await codeOf(kit.agents.spawn(owner, { name: 'helper', key: 'k' }))).to.equal('agents_spawned_agent_gone');
  });

  it('A3 gives a name to one of two who ask at once, and to each owner once', async () => {
    const results = await Promise.allSettled([kit.agents.spawn(alice, { name: 'helper' }), kit.agents.spawn(alice, { name: 'helper' })]);
    expect(results.map(({ status }) => status).sort()).to.deep.equal(['fulfilled', 'rejected']);
    expect(await codeOf(kit.agents.spawn(alice, { name: 'helper' }))).to.equal('agent_already_exists');
    expect((await kit.agents.spawn(bob, { name: 'helper' })).ownerId).to.equal('user:bob');
  });

  it('A4 makes nothing when a tap of agent.spawning objects, and says why', async () => {
    kit.taps.veto = { deny: 'Privilege escalation denied: too much.' };
    const error = await kit.agents.spawn(owner, { name: 'child' }).catch((caught: Error) => caught);
    expect(error).to.include({ code: 'agents_spawn_denied', message: 'Privilege escalation denied: too much.' });
    expect(await kit.agents.list(owner)).to.deep.equal([]);
  });

  it('A4 gives a child to the owner of its parent', async () => {
    const parent = await kit.agents.spawn(alice, { name: 'parent' });
    const child = await kit.agents.spawn(owner, { name: 'child', parentId: parent.id });
    expect(child).to.include({ ownerId: 'user:alice', parentId: parent.id });
  });

  it("A5 shows nobody another one's agent, also after it was read and kept", async () => {
    const agent = await kit.agents.spawn(alice, { name: 'secret' });
    await kit.agents.get(alice, agent.id);
    expect(await codeOf(kit.agents.get(bob, agent.id))).to.equal('agent_not_found');
    expect(await kit.agents.find(bob, 'secret')).to.equal(undefined);
    expect(await kit.agents.list(bob)).to.deep.equal([]);
    expect(await codeOf(kit.agents.kill(bob, agent.id))).to.equal('agent_not_found');
    expect((await kit.agents.get(owner, agent.id)).name).to.equal('secret');
  });

  it('tells a malformed id from an unknown one', async () => {
    expect(await codeOf(kit.agents.get(owner, 'nonsense'))).to.equal('invalid_agent_id');
    expect(await codeOf(kit.agents.get(owner, '00000000-0000-4000-8000-999999999999'))).to.equal('agent_not_found');
  });

  it('A6 lets every area drop its rows before the agent is gone', async () => {
    const agent = await kit.agents.spawn(owner, { name: 'helper' });
    await kit.agents.kill(owner, agent.id);
    expect(kit.taps.purged).to.deep.equal([agent.id]);
    expect(kit.said.map(({ event }) => event)).to.deep.equal(['agent.spawned', 'agent.changed', 'agent.killed']);
    expect(await codeOf(kit.agents.kill(owner, agent.id))).to.equal('agent_not_found');
  });

  it('A6 announces the end once when two kill at the same time', async () => {
    const agent = await kit.agents.spawn(owner, { name: 'helper' });
    await Promise.all([kit.agents.kill(owner, agent.id), kit.agents.kill(owner, agent.id)]);
    expect(kit.said.filter(({ event }) => event === 'agent.killed')).to.have.length(1);
  });

  it('A6 hides an agent whose kill was cut off, and finishes it at the next start', async () => {
    const agent = await kit.agents.spawn(owner, { name: 'helper' });
    kit.taps.purgeFails = true;
    await kit.agents.kill(owner, agent.id).catch(() => undefined);
    expect(await codeOf(kit.agents.get(owner, agent.id))).to.equal('agent_not_found');
    kit.taps.purgeFails = false;
    await kit.removing.finish();
    expect(await kit.deps.store.terminated()).to.deep.equal([]);
    expect(kit.said.at(-1)?.event).to.equal('agent.killed');
  });

  it('sets the session of an agent for whoever sees it', async () => {
    const agent = await kit.agents.spawn(owner, { name: 'helper' });
    expect(await codeOf(kit.agents.setSession(bob, agent.id, agent.sessionId))).to.equal('agent_not_found');
  });

  it('shows a new session as soon as the commit that set it is through', async () => {
    const agent = await kit.agents.spawn(owner, { name: 'helper' });
    await kit.agents.get(owner, agent.id);
    const session = '11111111-0000-4000-8000-000000000000';
    await kit.deps.store.commit(await kit.agents.setSession(owner, agent.id, session));
    expect((await kit.agents.get(owner, agent.id)).sessionId).to.equal(session);
  });

  it('keeps a changed model, and leaves the rest of the manifest alone', async () => {
    const agent = await kit.agents.spawn(owner, { manifest: { name: 'helper', model: { system_prompt: 'Be kind.' } } });
    await kit.agents.setModel(owner, agent.id, { provider: 'openai', model: 'gpt-4o' });
    expect((await kit.agents.get(owner, agent.id)).manifest.model).to.include({ provider: 'openai', model: 'gpt-4o', system_prompt: 'Be kind.' });
  });

  it('finds pages by part of a name or description, with odd characters taken as they are', async () => {
    for (const name of ['alpha', 'beta', 'gam%ma']) await kit.agents.spawn(alice, { manifest: { name, description: `knows ${name}` } });
    await kit.agents.spawn(bob, { name: 'alpha' });
    const list = defineList({ item: Type.Unknown(), as: ['agents'] });
    const page = (q: string) => kit.deps.store.page(alice, list, { q, sort: 'name', order: 'asc' }, {});
    expect((await page('KNOWS ALP')).rows.map(({ name }) => name)).to.deep.equal(['alpha']);
    expect((await page('%')).rows.map(({ name }) => name)).to.deep.equal(['gam%ma']);
    const second = await kit.deps.store.page(alice, list, { sort: 'name', order: 'desc', limit: 1, offset: 1 }, {});
    expect(second.total).to.equal(3);
    expect(second.rows.map(({ name }) => name)).to.deep.equal(['beta']);
  });

  it('makes the first agent once per database, without a shell', async () => {
    await Promise.all([ensureFirstAgent(kit.deps), ensureFirstAgent(kit.deps)]);
    const assistant = await kit.agents.find(owner, 'assistant');
    expect(assistant?.manifest.capabilities).to.deep.include({ shell: [], network: ['*'] });
    await kit.agents.kill(owner, assistant?.id ?? '');
    await ensureFirstAgent(kit.deps);
    expect(await kit.agents.list(owner)).to.deep.equal([]);
  });

  it('writes when an agent was last active, without a commit for each message', async () => {
    const agent = await kit.agents.spawn(owner, { name: 'helper' });
    const active = createLastActive(kit.deps.store, kit.deps.clock);
    await active.touch(agent.id);
    expect((await kit.deps.store.get(owner, agent.id))?.lastActiveAt).to.equal(null);
    await active.flush();
    expect((await kit.deps.store.get(owner, agent.id))?.lastActiveAt).to.match(/^2026-01-01T/);
  });
});
