import type { AnyTool, AuditNote, ToolCall, ToolOutput } from '@svc/api';
import { expect } from 'chai';
import { escalationOf } from '../../capabilities/src/inheritance.js';
import { spawnAgent } from '../src/spawning.js';
import { agentTools } from '../src/tools.js';
import { CALENDAR } from './calendar.js';
import { alice, bob, codeOf, type OpenAgents, openAgents } from './agents-kit.js';

describe('agent tools', () => {
  let kit: OpenAgents;
  let tools: AnyTool[];
  let noted: AuditNote[];
  beforeEach(async () => {
    kit = await openAgents();
    noted = [];
    tools = agentTools({ agents: kit.agents, removing: kit.removing, spawn: (actor, request) => spawnAgent(kit.deps, actor, request), note: async (note) => void noted.push(note) });
  });
  afterEach(() => kit.close());

  const use = async (name: string, agentId: string, args: Record<string, unknown>, callId = 'c1', runId = 'r'): Promise<Record<string, unknown>> => {
    const tool = tools.find((one) => one.name === name);
    const { manifest } = await kit.agents.get(alice, agentId);
    const call: ToolCall = { callId, runId, agentId, sessionId: 's', actor: alice, depth: 0, capabilities: manifest.capabilities, signal: new AbortController().signal, log: kit.log };
    const output: ToolOutput | string | undefined = await tool?.run(args as never, call);
    return JSON.parse(typeof output === 'string' ? output : (output?.content ?? 'null'));
  };

  it('agent_spawn makes one agent however often the same call is repeated', async () => {
    const parent = await kit.agents.spawn(alice, { name: 'parent' });
    const first = await use('agent_spawn', parent.id, { name: 'child', system_prompt: 'Help.' });
    const again = await use('agent_spawn', parent.id, { name: 'child', system_prompt: 'Help.' });
    expect(again).to.deep.equal(first);
    expect((await kit.agents.get(alice, String(first.agent_id))).parentId).to.equal(parent.id);
  });

  it('agent_kill ends what the agent made, and what that made, and nobody else', async () => {
    const parent = await kit.agents.spawn(alice, { name: 'parent' });
    const other = await kit.agents.spawn(alice, { name: 'other' });
    const child = String((await use('agent_spawn', parent.id, { name: 'child', system_prompt: 'Help.' })).agent_id);
    const grandchild = String((await use('agent_spawn', child, { name: 'grandchild', system_prompt: 'Help.' }, 'c2')).agent_id);
    for (const name of [other.id, 'other', parent.id, 'nobody']) expect(await codeOf(use('agent_kill', parent.id, { agent_id: name })), name).to.equal('agents_kill_denied');
    expect(await codeOf(use('agent_kill', child, { agent_id: 'parent' }))).to.equal('agents_kill_denied');
    expect(noted, 'a refused call kills nobody').to.deep.equal([]);
    expect(await use('agent_kill', parent.id, { agent_id: grandchild })).to.deep.equal({ status: 'killed', agent_id: grandchild, name: 'grandchild' });
    expect(await use('agent_kill', parent.id, { agent_id: 'child' })).to.deep.include({ status: 'killed' });
    expect(
      noted.map(({ type, agentId, details, personal }) => [type, agentId, details?.by_agent, personal?.actor]),
      'the trail names the agent that did it',
    ).to.deep.equal([
      ['agent_killed', grandchild, parent.id, 'agent:parent'],
      ['agent_killed', child, parent.id, 'agent:parent'],
    ]);
    expect(await kit.agents.find(alice, child)).to.equal(undefined);
    expect((await kit.agents.list(alice)).map(({ name }) => name)).to.have.members(['parent', 'other']);
  });

  it('agent_spawn takes a call of another run for another call, though a small server numbers both alike', async () => {
    const parent = await kit.agents.spawn(alice, { name: 'parent' });
    const first = await use('agent_spawn', parent.id, { name: 'one', system_prompt: 'Help.' }, 'call_0', 'r1');
    const second = await use('agent_spawn', parent.id, { name: 'two', system_prompt: 'Help.' }, 'call_0', 'r2');
    expect(second).to.deep.include({ name: 'two' });
    expect(second.agent_id).to.not.equal(first.agent_id);
  });

  it('agent_spawn asks for no more than the parent has, whatever narrows it', async () => {
    const manifest = {
      name: 'parent',
      tool_blocklist: ['web_*'],
      tool_allowlist: ['file_*', 'web_*'],
      capabilities: { tools: ['file_*'], network: ['*'], shell: ['git *'], agent_spawn: true, file_system: false, max_llm_tokens_per_hour: 50 },
      resources: { max_tool_calls_per_minute: 5 },
      exec_policy: { mode: 'allowlist', allowed_commands: ['git'], allowed_env_vars: ['LANG'], timeout_secs: 10, max_output_bytes: 100 },
      autonomous: { max_iterations: 7 },
    };
    const parent = await kit.agents.spawn(alice, { manifest });
    const made = await use('agent_spawn', parent.id, { name: 'child', system_prompt: 'Help.' });
    const child = await kit.agents.get(alice, String(made.agent_id));
    expect(escalationOf(parent.manifest, child.manifest)).to.equal(undefined);
    expect(child.manifest.autonomous.max_iterations).to.equal(7);
    expect(child.manifest.capabilities.exec).to.deep.equal(parent.manifest.capabilities.exec);
    const greedy = await use('agent_spawn', parent.id, { name: 'greedy', system_prompt: 'Help.', shell: ['*'] }, 'c2');
    expect(escalationOf(parent.manifest, (await kit.agents.get(alice, String(greedy.agent_id))).manifest)).to.equal('shell *');
  });

  it('agent_spawn hands on what areas declare only where it is asked to, and never a capability of the interface that way', async () => {
    kit.deps = { ...kit.deps, capabilities: { declared: () => CALENDAR } };
    const parent = (await spawnAgent(kit.deps, alice, { manifest: { name: 'parent', capabilities: { agent_spawn: true, calendar_read: ['work/*'], calendar_share: true } } })).agentId;
    const declaredOf = async (made: Record<string, unknown>) => (await kit.agents.get(alice, String(made.agent_id))).manifest.capabilities.declared;
    const ask = (name: string, capabilities?: object) => use('agent_spawn', parent, { name, system_prompt: 'Help.', ...(capabilities ? { capabilities } : {}) }, name);
    expect(await declaredOf(await ask('poor'))).to.equal(undefined);
    expect(await declaredOf(await ask('helper', { calendar_read: ['work/today'] }))).to.deep.equal({ calendar_read: ['work/today'] });
    for (const own of [{ shell: ['*'] }, { agent_spawn: true }, { agent_message: ['*'] }, { max_llm_tokens_per_hour: true }, JSON.parse('{ "__proto__": true }')])
      expect(await codeOf(ask('greedy', own)), JSON.stringify(own)).to.equal('agents_spawn_denied');
    expect(await codeOf(ask('lost', { payments_send: true }))).to.equal('agents_invalid_manifest');
  });

  it('agent_find and agent_list show what the caller may see, and no more', async () => {
    const parent = await kit.agents.spawn(alice, { manifest: { name: 'parent', tags: ['research'] } });
    await kit.agents.spawn(bob, { manifest: { name: 'his', tags: ['research'] } });
    expect(await use('agent_find', parent.id, { query: 'RESEARCH' })).to.have.property('total', 1);
    expect(await use('agent_list', parent.id, {})).to.have.property('total', 1);
  });
});
