/** What the extension hangs on the hooks of others, asked as those would ask. */
import type { AnyTool, Capabilities, ExtensionContext, Need } from '@svc/api';
import { virtualClock } from '@svc/platform/clock/clock';
import { expect } from 'chai';
import capabilities from '../src/index.js';

const ALL: Capabilities = {
  tools: ['*'],
  network: ['*'],
  memory_read: [],
  memory_write: [],
  shell: ['ls *'],
  agent_spawn: true,
  agent_message: ['writer'],
  file_system: true,
  max_llm_tokens_per_hour: null,
};
const LIMITS = { burst_ratio: 0, max_cost_per_hour_usd: 0, max_cost_per_day_usd: 0, max_cost_per_month_usd: 0, max_concurrent_tools: 0 };
const manifest = (more: Partial<Capabilities> = {}) => ({
  capabilities: { ...ALL, ...more },
  resources: LIMITS,
  autonomous: { max_iterations: 5 },
  tool_allowlist: [],
  tool_blocklist: [],
  tools_disabled: false,
});

describe('what capabilities hangs on the hooks of others', () => {
  type Tap = (...args: unknown[]) => unknown;
  const open = (services: Readonly<Record<string, object>> = {}) => {
    const taps = new Map<string, Tap>();
    const stages = new Map<string, number | undefined>();
    const ctx = {
      clock: virtualClock(0),
      log: { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined },
      config: {
        get: ({ section }: { readonly section: string }) => (section === 'capabilities' ? { admin: ['shell'], user: ['network', 'agent_message'], viewer: [] } : undefined),
        onChange: () => undefined,
      },
      capabilities: { declared: () => [] },
      services: { optional: ({ name }: { readonly name: string }) => ({ value: services[name] }) },
      hooks: {
        tap: ({ name }: { readonly name: string }, tap: Tap, options?: { stage?: number }) => {
          taps.set(name, tap);
          stages.set(name, options?.stage);
        },
      },
    };
    // Activation uses nothing else of its context.
    void capabilities.activate?.(ctx as unknown as ExtensionContext);
    const ask = async (hook: string, ...args: unknown[]) => taps.get(hook)?.(...args);
    return { ask, taps, stages };
  };
  const auth = { roleOf: async (id: string) => (id === 'user:ann' ? 'user' : undefined) };
  const tool = (name: string, risk: AnyTool['risk'], capabilities: readonly string[] = []) => ({ name, risk, capabilities });
  const request = (name: string, needs: readonly Need[], ownerId = 'owner') => ({
    tool: tool(name, 'agent'),
    needs,
    call: { agentId: 'a', actor: { id: ownerId, role: 'user', ownerId }, capabilities: ALL },
  });
  const to = (target?: string): Need[] => [{ capability: 'agent_message', ...(target === undefined ? {} : { target }) }];
  const textOf = (verdict: unknown): string => JSON.stringify(verdict ?? 'nothing');

  it('stands before everything else that validates a call', () => {
    const { stages } = open();
    expect(['tool.before', 'tool.grants', 'tool.list'].map((hook) => stages.get(hook))).to.deep.equal([-200, -200, -200]);
  });

  it('finds a receiver by its name and its id, and takes one that nobody knows for what it is called', async () => {
    const agents = { find: async (_actor: unknown, named: string) => (['writer', 'id-7'].includes(named) ? { name: 'writer', id: 'id-7' } : undefined) };
    const { ask } = open({ agents });
    for (const agent_id of ['writer', 'id-7']) expect(await ask('tool.before', request('agent_send', to(agent_id))), agent_id).to.equal(undefined);
    expect(textOf(await ask('tool.before', request('agent_send', to('reader'))))).to.contain('may not write to reader');
    expect(textOf(await ask('tool.before', request('agent_send', to())))).to.contain('may not write to that agent');
    expect(await ask('tool.before', request('agent_list', []))).to.equal(undefined);
    expect(await open().ask('tool.before', request('agent_send', to('writer'))), 'while agents is off').to.equal(undefined);
  });

  it('leaves an owner and the daemon all, a person what their role may grant, and a third party nothing', async () => {
    const granted = async (services: Readonly<Record<string, object>>, ownerId: string) => ((await open(services).ask('tool.grants', ALL, { ownerId })) as Capabilities).network;
    for (const ownerId of ['owner', 'system', 'user:ann']) expect(await granted({ auth }, ownerId), ownerId).to.deep.equal(['*']);
    expect(await granted({ auth }, 'user:eve')).to.deep.equal([]);
    expect(await granted({}, 'user:ann'), 'while auth is off').to.deep.equal([]);
    expect((await open({ auth }).ask('tool.grants', ALL, { ownerId: 'user:ann' })) as Capabilities).to.deep.include({ shell: [], agent_spawn: false });
  });

  it('lists the tools that could ever run, and changes no list that is for nobody', async () => {
    const tools = [tool('shell_exec', 'exec', ['shell']), tool('web_fetch', 'network', ['network']), tool('system_time', 'read')];
    const { ask } = open({ auth });
    const names = (listed: unknown) => (listed as typeof tools).map(({ name }) => name);
    expect(names(await ask('tool.list', tools, { capabilities: ALL, ownerId: 'user:ann', agentId: 'a' }))).to.deep.equal(['web_fetch', 'system_time']);
    expect(names(await ask('tool.list', tools, { capabilities: ALL, ownerId: 'owner', agentId: 'a' }))).to.have.length(3);
    expect(await ask('tool.list', tools, { agentId: '' })).to.equal(undefined);
    expect(await ask('tool.list', tools, { capabilities: ALL, agentId: 'a' })).to.equal(undefined);
  });

  it('refuses a child that would have more than its parent, or than its owner may grant', async () => {
    const { ask } = open({ auth });
    const actor = { id: 'user:ann', role: 'user', ownerId: 'user:ann' };
    const parent = { id: 'p', ownerId: 'owner', manifest: manifest() };
    const poor = manifest({ shell: [], agent_spawn: false, file_system: false });
    expect(await ask('agent.spawning', { actor, manifest: manifest(), parent })).to.equal(undefined);
    expect(textOf(await ask('agent.spawning', { actor, manifest: manifest({ shell: ['rm *'] }), parent })))
      .to.contain('Privilege escalation denied')
      .and.to.contain('shell rm *')
      .and.to.contain('capability_denied');
    expect(textOf(await ask('agent.spawning', { actor, manifest: manifest() })))
      .to.contain('This agent was not made')
      .and.to.contain('permission shell');
    expect(await ask('agent.spawning', { actor, manifest: poor })).to.equal(undefined);
    expect(textOf(await ask('agent.spawning', { actor, manifest: manifest(), parent: { ...parent, ownerId: 'user:ann' } }))).to.contain('permission shell');
  });

  it('W2 W4 validates of a change what it adds, and lets an owner who may grant less by now rename what they have', async () => {
    const { ask } = open({ auth });
    const actor = { id: 'user:ann', role: 'user', ownerId: 'user:ann' };
    const changes = { id: 'a', ownerId: 'user:ann', manifest: manifest() };
    expect(await ask('agent.spawning', { actor, manifest: { ...manifest(), name: 'new' }, parent: null, changes })).to.equal(undefined);
    expect(await ask('agent.spawning', { actor, manifest: manifest({ agent_message: ['writer', 'reader'] }), parent: null, changes })).to.equal(undefined);
    expect(textOf(await ask('agent.spawning', { actor, manifest: manifest({ shell: ['ls *', 'rm *'] }), parent: null, changes })))
      .to.contain('This agent was not changed')
      .and.to.contain('rm *');
  });

  it('W1 holds a child that is changed to its parent, for what the change adds', async () => {
    const { ask } = open({ auth });
    const actor = { id: 'owner', role: 'owner', ownerId: 'owner' };
    const parent = { id: 'p', ownerId: 'owner', manifest: manifest({ network: [] }) };
    const changes = { id: 'a', ownerId: 'owner', manifest: manifest() };
    expect(await ask('agent.spawning', { actor, manifest: manifest({ shell: [] }), parent, changes })).to.equal(undefined);
    expect(textOf(await ask('agent.spawning', { actor, manifest: manifest({ shell: ['*'] }), parent, changes }))).to.contain('Privilege escalation denied');
  });

  it('W3 lets nobody lift a limit of what they could not have granted', async () => {
    const { ask } = open({ auth: { roleOf: async () => 'admin' } });
    const actor = { id: 'user:adam', role: 'admin', ownerId: 'user:adam' };
    const bound = { mode: 'deny', programs: null, env: null, timeout_secs: null, no_output_timeout_secs: null, max_output_bytes: null } as const;
    const changes = { id: 'a', ownerId: 'owner', manifest: manifest({ exec: bound }) };
    expect(textOf(await ask('agent.spawning', { actor, manifest: manifest(), parent: null, changes }))).to.contain('This agent was not changed');
    expect(await ask('agent.spawning', { actor, manifest: manifest({ exec: bound, shell: [] }), parent: null, changes })).to.equal(undefined);
    expect(await ask('agent.spawning', { actor: { id: 'owner', role: 'owner', ownerId: 'owner' }, manifest: manifest(), parent: null, changes })).to.equal(undefined);
  });

  it('remarks on a manifest, and reports that its rules hold', async () => {
    const { ask } = open();
    expect(await ask('agent.review', { manifest: manifest({ shell: ['*'] }) })).to.have.length(1);
    expect(await ask('security.report')).to.deep.include({ name: 'capability_inheritance_validation', state: 'active' });
  });
});
