/** What an agent is shown with beside its own row, and what is asked of areas above agents. */
import { type AtOnce, type CallOf, cacheRows, type HookDecl, type OwnHook, SvcError } from '@svc/api';
import { expect } from 'chai';
import type { AgentColumns, ResolveModel } from '../src/contract.js';
import { haltAgent } from '../src/halting.js';
import { type SummaryDeps, summariesOf } from '../src/shown/agent-summary.js';
import { shownModels } from '../src/shown/model-shown.js';
import { type OpenAgents, openAgents, owner } from './agents-kit.js';

/** As whoever defines it holds it. */
const hook = <H extends HookDecl>(tap?: (...args: Parameters<CallOf<H>>) => AtOnce<Awaited<ReturnType<CallOf<H>>>>): OwnHook<H> => ({
  isEmpty: () => tap === undefined,
  call: (async (...args: Parameters<CallOf<H>>) => tap?.(...args)) as CallOf<H>,
  atOnce: ((...args: Parameters<CallOf<H>>) => tap?.(...args)) as OwnHook<H>['atOnce'],
});
const off = { value: undefined, onChange: () => ({ dispose: () => undefined }) };
const standard = { provider: 'openai', model: 'gpt-4o' };
// Of providers only this is asked.
const providers = { value: { shownDefault: async () => standard, list: async () => [], usable: async () => [] }, onChange: off.onChange } as never;

describe('what other areas know of agents', () => {
  let kit: OpenAgents;
  let deps: SummaryDeps;

  before(async () => {
    kit = await openAgents();
    for (const name of ['one', 'two']) await kit.agents.spawn(owner, { manifest: { name, model: { provider: 'p', model: `model of ${name}` } } });
    deps = {
      providers: off,
      models: off,
      resolve: hook(),
      columns: hook(),
      store: kit.deps.store,
      children: cacheRows(kit.deps.clock),
      lastActive: { waiting: () => undefined },
      clock: kit.deps.clock,
    };
  });
  after(() => kit.close());

  it('is asked for once for a whole list, with the model of each, and null where nobody answers', async () => {
    const agents = await kit.agents.list(owner);
    const [one, two] = agents;
    const asked: unknown[] = [];
    const columns = hook<typeof AgentColumns>((question) => {
      asked.push(question.agents);
      return [
        { owner: 'llm', value: { spentMicros: { [one?.id ?? '']: 1_500_000 }, canThink: { [one?.id ?? '']: true } } },
        { owner: 'other', value: {} },
      ];
    });
    const shown = await summariesOf({ ...deps, columns }, owner, agents);
    expect(asked).to.deep.equal([agents.map(({ id, name }) => ({ id, provider: 'p', model: `model of ${name}` }))]);
    expect(shown[0]).to.include({ id: one?.id, cost_24h: 1.5, supports_thinking: true, session_count: null });
    expect(shown[1]).to.include({ id: two?.id, cost_24h: 0, supports_thinking: null, sessions_24h: null });
  });

  it('is null while nobody taps', async () => {
    const [shown] = await summariesOf(deps, owner, await kit.agents.list(owner));
    expect(shown).to.include({ cost_24h: null, supports_thinking: null, session_count: null, sessions_24h: null });
  });

  it('fails the list where a tap fails, instead of a column that says zero', async () => {
    const columns = hook<typeof AgentColumns>(() => Promise.reject(new SvcError('storage_locked', 'locked', { status: 503 })));
    const error = await Promise.resolve(summariesOf({ ...deps, columns }, owner, await kit.agents.list(owner))).catch((cause: unknown) => cause);
    expect(error).to.include({ code: 'storage_locked' });
  });

  it('resolves an open model once, and guesses where nobody can say', async () => {
    let calls = 0;
    const open = { provider: 'default', model: 'default' };
    const resolve = hook<typeof ResolveModel>(() => {
      calls += 1;
      return { provider: 'groq', model: 'llama' };
    });
    expect(await shownModels({ ...deps, providers, resolve }, [open, open, { provider: 'p', model: 'm' }])).to.deep.equal([
      { provider: 'groq', model: 'llama' },
      { provider: 'groq', model: 'llama' },
      { provider: 'p', model: 'm' },
    ]);
    expect(calls).to.equal(1);
    const refusing = hook<typeof ResolveModel>(() => Promise.reject(new SvcError('provider_key_missing', 'no key', { status: 503 })));
    for (const none of [hook<typeof ResolveModel>(), refusing]) expect(await shownModels({ ...deps, providers, resolve: none }, [open])).to.deep.equal([standard]);
  });

  it('is told before and after an agent is suspended, and counts what was stopped', async () => {
    const agent = await kit.agents.spawn(owner, { manifest: { name: 'halted' } });
    const states: unknown[] = [];
    const halt = hook<typeof import('../src/contract.js').AgentHalt>(async ({ actor, agentId }) => {
      states.push((await kit.agents.get(actor, agentId)).state);
      return [
        { owner: 'runs', value: 2 },
        { owner: 'other', value: 1 },
      ];
    });
    expect(await haltAgent({ agents: kit.agents, halt }, owner, agent.id)).to.equal(6);
    expect(states).to.deep.equal(['Running', 'Suspended']);
  });
});
