/** The one way an agent changes, below the routes: races, revisions, what is validated. */
import { describeOnEngines } from '@svc/testing/postgres/engines';
import { expect } from 'chai';
import { patchOf, replacementOf } from '../src/changing/change.js';
import { editAgent } from '../src/changing/edit-agent.js';
import { setMode } from '../src/changing/set-mode.js';
import { alice, bob, codeOf, type OpenAgents, openAgents, owner } from './agents-kit.js';

const OPEN = ['1', '2', '3', '4', '5', '6'];

describeOnEngines('a change of an agent', (engine) => {
  let kit: OpenAgents;
  beforeEach(async () => {
    kit = await openAgents(engine);
  });
  afterEach(() => kit.close());

  const made = async (manifest: object = {}) => kit.agents.spawn(owner, { manifest: { name: 'helper', ...manifest } });
  const now = async (id: string) => (await kit.deps.store.get(owner, id))?.manifest;
  const none = { value: undefined, onChange: () => ({ dispose: () => undefined }) };

  /** The reads of the first two changes meet before either is written. */
  const atOnce = () => {
    const { store } = kit.deps;
    let waiting = 2;
    const both: { open?: () => void } = {};
    const met = new Promise<void>((resolve) => {
      both.open = resolve;
    });
    return {
      ...kit.deps,
      store: {
        ...store,
        get: async (...args: Parameters<typeof store.get>) => {
          const agent = await store.get(...args);
          waiting -= 1;
          if (waiting <= 0) both.open?.();
          await met;
          return agent;
        },
      },
    };
  };

  it('E1 is validated as a spawn is: its keys, and whoever listens for agents that are made', async () => {
    const agent = await made();
    expect(await codeOf(kit.agents.edit(owner, agent.id, { manifest: { model: { temperature: 3 } } }))).to.equal('agents_invalid_manifest');
    kit.taps.veto = { deny: 'Privilege escalation denied: too much.' };
    expect(await codeOf(kit.agents.edit(owner, agent.id, { manifest: { capabilities: { shell: ['*'] } } }))).to.equal('agents_change_denied');
    const asked = kit.taps.spawning.at(-1) as { manifest: { capabilities: { shell: string[] } }; changes: { id: string; manifest: { capabilities: { shell: string[] } } } };
    expect(asked.manifest.capabilities.shell).to.deep.equal(['*']);
    expect(asked.changes).to.deep.include({ id: agent.id });
    expect(asked.changes.manifest.capabilities.shell).to.deep.equal([]);
    expect((await now(agent.id))?.capabilities.shell).to.deep.equal([]);
  });

  it('E1 shows whoever validates it the parent of a child', async () => {
    const parent = await made();
    const child = await kit.agents.spawn(owner, { name: 'child', parentId: parent.id });
    await kit.agents.edit(owner, child.id, { manifest: { description: 'x' } });
    expect(kit.taps.spawning.at(-1)).to.have.nested.property('parent.id', parent.id);
  });

  it('E2 of two at once about different keys are both kept', async () => {
    const agent = await made();
    const deps = atOnce();
    await Promise.all([editAgent(deps, owner, agent.id, patchOf({ description: 'one' })), editAgent(deps, owner, agent.id, patchOf({ model: { temperature: 0.1 } }))]);
    const manifest = await now(agent.id);
    expect([manifest?.description, manifest?.model.temperature]).to.deep.equal(['one', 0.1]);
    expect((await kit.deps.store.get(owner, agent.id))?.revision).to.equal(2);
  });

  it('E2 of two at once about the same key, the later is refused and says which', async () => {
    const agent = await made();
    const deps = atOnce();
    const results = await Promise.allSettled(['one', 'two'].map((description) => editAgent(deps, owner, agent.id, patchOf({ description }))));
    const refused = results.filter((result) => result.status === 'rejected');
    expect(refused).to.have.length(1);
    expect(refused[0]?.reason).to.include({ code: 'agents_changed_meanwhile', status: 409 });
    expect(refused[0]?.reason.message).to.contain('description');
  });

  it('E2 of two at once that say the same are one change', async () => {
    const agent = await made();
    const deps = atOnce();
    await Promise.all([1, 2].map(() => editAgent(deps, owner, agent.id, patchOf({ description: 'one' }))));
    expect((await kit.deps.store.get(owner, agent.id))?.revision).to.equal(1);
  });

  it('E2 a whole manifest is not put over a change that came in between', async () => {
    const agent = await made();
    const deps = atOnce();
    const results = await Promise.allSettled([
      editAgent(deps, owner, agent.id, patchOf({ description: 'one' })),
      editAgent(deps, owner, agent.id, replacementOf({ name: 'helper', description: 'two' }, 'name = "helper"\ndescription = "two"\n')),
    ]);
    expect(results.map(({ status }) => status).sort()).to.deep.equal(['fulfilled', 'rejected']);
  });

  it('E2 goes on through many that come in between, and each is kept', async () => {
    const agent = await made();
    await Promise.all(OPEN.map((key) => kit.agents.edit(owner, agent.id, { manifest: { metadata: { [key]: true } } })));
    expect((await now(agent.id))?.kept.metadata).to.deep.equal(Object.fromEntries(OPEN.map((key) => [key, true])));
  });

  it('with a revision is refused whenever anything else was changed, and done otherwise', async () => {
    const agent = await made();
    const { agent: first } = await kit.agents.edit(owner, agent.id, { manifest: { description: 'one' }, revision: 0 });
    expect(first.revision).to.equal(1);
    expect(await codeOf(kit.agents.edit(owner, agent.id, { manifest: { tags: ['x'] }, revision: 0 }))).to.equal('agents_changed_meanwhile');
    expect((await kit.agents.edit(owner, agent.id, { manifest: { tags: ['x'] }, revision: 1 })).agent.revision).to.equal(2);
  });

  it('E3 leaves one fact, and none when nothing changes', async () => {
    const agent = await made({ description: 'one' });
    const facts = () => kit.said.filter(({ event }) => event === 'agent.changed').length;
    await kit.agents.edit(owner, agent.id, { manifest: { description: 'one' } });
    expect(facts()).to.equal(0);
    await kit.agents.edit(owner, agent.id, { manifest: { description: 'two' } });
    expect(facts()).to.equal(1);
    expect((await kit.agents.get(owner, agent.id)).manifest.description).to.equal('two');
  });

  it('takes no name that another agent of its owner has, and one that somebody else has', async () => {
    const agent = await made();
    await kit.agents.spawn(owner, { name: 'taken' });
    await kit.agents.spawn(alice, { name: 'free' });
    expect(await codeOf(kit.agents.edit(owner, agent.id, { manifest: { name: 'taken' } }))).to.equal('agent_already_exists');
    expect((await kit.agents.edit(owner, agent.id, { manifest: { name: 'free' } })).agent.name).to.equal('free');
    expect((await kit.deps.store.byName(owner, 'free'))?.id).to.equal(agent.id);
  });

  it("cannot be made of somebody else's agent, nor of one on its way out", async () => {
    const agent = await made();
    expect(await codeOf(kit.agents.edit(bob, agent.id, { manifest: { description: 'mine' } }))).to.equal('agent_not_found');
    kit.taps.purgeFails = true;
    await kit.agents.kill(owner, agent.id).catch(() => undefined);
    expect(await codeOf(kit.agents.edit(owner, agent.id, { manifest: { description: 'late' } }))).to.equal('agent_not_found');
    expect(await codeOf(kit.deps.store.commit([kit.deps.store.change(agent, { ...agent, state: 'Running' })]))).to.equal('storage_conflict');
  });

  it('merges tables, replaces lists, and takes back what is null', async () => {
    const agent = await made({ capabilities: { tools: ['file_read', 'file_list'], network: ['example.org'] }, tool_blocklist: ['x'], max_history_messages: 20, thinking: { budget_tokens: 2_000 } });
    await kit.agents.edit(owner, agent.id, { manifest: { capabilities: { tools: ['web_fetch'] }, tool_blocklist: null, max_history_messages: null, thinking: null } });
    const manifest = await now(agent.id);
    expect(manifest?.capabilities).to.deep.include({ tools: ['web_fetch'], network: ['example.org'] });
    expect(manifest).to.deep.include({ tool_blocklist: [], max_history_messages: null, thinking: null });
  });

  it('takes a key that may stand in two places in the place that counts', async () => {
    const agent = await made({ capabilities: { max_llm_tokens_per_hour: 10 }, model: { model: 'a' } });
    await kit.agents.edit(owner, agent.id, { manifest: { resources: { max_llm_tokens_per_hour: 20 }, model: { name: 'b' } } });
    const manifest = await now(agent.id);
    expect([manifest?.capabilities.max_llm_tokens_per_hour, manifest?.model.model]).to.deep.equal([20, 'b']);
  });

  it('to another profile gives its tools, but not over tools that it names itself', async () => {
    const agent = await made({ profile: 'minimal' });
    await kit.agents.edit(owner, agent.id, { manifest: { profile: 'research' } });
    expect((await now(agent.id))?.capabilities.tools).to.include('web_search');
    await kit.agents.edit(owner, agent.id, { manifest: { profile: 'coding', capabilities: { tools: ['file_list'] } } });
    expect((await now(agent.id))?.capabilities.tools).to.deep.equal(['file_list']);
  });

  it('warns of what is new in it, and not again of what was so before', async () => {
    const agent = await made({ priority: 'High' });
    expect((await kit.agents.edit(owner, agent.id, { manifest: { description: 'x' } })).warnings).to.deep.equal([]);
    expect((await kit.agents.edit(owner, agent.id, { manifest: { show_progress: false } })).warnings.join()).to.contain('show_progress');
  });

  it('cannot set what is no plain data, nor the prototype of anything', async () => {
    const agent = await made();
    await kit.agents.edit(owner, agent.id, { manifest: JSON.parse('{"metadata":{"__proto__":{"polluted":true}}}') });
    expect(({} as { polluted?: boolean }).polluted).to.equal(undefined);
    expect(await codeOf(kit.agents.edit(owner, agent.id, { manifest: {} }))).to.equal('agents_nothing_to_change');
  });

  it('of its state meets one of its manifest, and both are kept', async () => {
    const agent = await made();
    await Promise.all([
      kit.agents.setSuspended(owner, agent.id, true),
      kit.agents.edit(owner, agent.id, { manifest: { description: 'x' } }),
      kit.agents.setModel(owner, agent.id, { provider: 'p', model: 'm' }),
    ]);
    const after = await kit.deps.store.get(owner, agent.id);
    expect([after?.state, after?.manifest.description, after?.manifest.model.model]).to.deep.equal(['Suspended', 'x', 'm']);
  });

  it('O1 Stable pins what answers, other keys still change, and Normal releases it', async () => {
    const agent = await made({ model: { provider: 'openai', model: 'gpt-4o' } });
    const modes = { ...kit.deps, models: none, resolve: { isEmpty: () => true, call: async () => undefined } };
    const stable = await setMode(modes, owner, agent.id, 'Stable');
    expect(stable.manifest).to.deep.include({ pinned_model: 'openai/gpt-4o', asked_model: { provider: 'openai', model: 'gpt-4o' } });
    expect(await codeOf(kit.agents.setModel(owner, agent.id, { provider: 'other', model: 'x' }))).to.equal('agents_model_pinned');
    expect(await codeOf(kit.agents.edit(owner, agent.id, { manifest: { pinned_model: null } }))).to.equal('agents_model_pinned');
    expect((await kit.agents.edit(owner, agent.id, { manifest: { description: 'x' } })).agent.manifest.pinned_model).to.equal('openai/gpt-4o');
    const normal = await setMode(modes, owner, agent.id, 'Normal');
    expect(normal.manifest).not.to.have.any.keys('pinned_model', 'asked_model');
    expect((await kit.agents.setModel(owner, agent.id, { provider: 'other', model: 'x' })).manifest.model.model).to.equal('x');
  });

  it('O1 Stable pins the model that the manifest names for it, and what it asks for comes back', async () => {
    const agent = await made({ model: { provider: 'default', model: 'default' }, pinned_model: 'openai/org/special' });
    const providers = { value: { get: async () => ({}), list: async () => [] }, onChange: none.onChange } as never;
    const stable = await setMode({ ...kit.deps, providers, models: none, resolve: { isEmpty: () => true, call: async () => undefined } }, owner, agent.id, 'Stable');
    expect(stable.manifest.model).to.include({ provider: 'openai', model: 'org/special' });
    const normal = await setMode({ ...kit.deps, models: none, resolve: { isEmpty: () => true, call: async () => undefined } }, owner, agent.id, 'Normal');
    expect(normal.manifest.model).to.include({ provider: 'default', model: 'default' });
  });
});
