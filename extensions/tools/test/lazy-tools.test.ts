/** Agents with many tools: which of them a model is sent, finds and loads, over restarts and hand-overs. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AnyTool, defineTool, Type } from '@svc/api';
import { fixtureExtension, OPEN_RATE } from '@svc/testing';
import { expect } from 'chai';
import { bootWithModel, type ModelKernel, stopModelKernels, until } from '@svc/test/clients/model-kernel';
import type { ToolInfo } from '../src/contract.js';
import { asOffered } from '../src/lazy/lazy-list.js';
import { ranked } from '../src/lazy/lazy-tools.js';

const info = (name: string, description = ''): ToolInfo => ({ name, description, input_schema: {}, source: 'builtin', risk: 'read', replay: 'safe', parallel: true });
const names = (tools: readonly ToolInfo[]): string[] => tools.map(({ name }) => name);
const deferred = (tools: readonly ToolInfo[]): string[] => names(tools.filter((tool) => tool.deferred));

describe('the tools that a model is sent at first', () => {
  const finders = [info('tool_load'), info('tool_search')];
  const some = [info('file_read'), info('garden_water'), info('memory_store'), ...finders];

  it('Z1 are all of them up to so many, and a few above that', () => {
    expect(names(asOffered(some, {}, 3))).to.deep.equal(['file_read', 'garden_water', 'memory_store']);
    const lazy = asOffered(some, {}, 2);
    expect(names(lazy)).to.deep.equal(names(some));
    expect(deferred(lazy)).to.deep.equal(['garden_water']);
  });

  it('Z1 are what the manifest says, whatever their number', () => {
    expect(deferred(asOffered(some, { lazy_tools: true }, 1_000))).to.deep.equal(['garden_water']);
    expect(names(asOffered(some, { lazy_tools: false }, 0))).to.deep.equal(['file_read', 'garden_water', 'memory_store']);
  });

  it('are all of them where one of the two tools that find and load is blocked, or nothing is left to find', () => {
    expect(names(asOffered(some.slice(0, -1), { lazy_tools: true }, 0))).to.deep.equal(['file_read', 'garden_water', 'memory_store']);
    expect(names(asOffered([info('file_read'), ...finders], { lazy_tools: true }, 0))).to.deep.equal(['file_read']);
  });

  it('are found by words in names before words in descriptions, in any case, and not by words that they lack', () => {
    const all = [info('web_fetch', 'Downloads a page'), info('file_download', 'Saves'), info('clock', 'The time')];
    expect(names(ranked(all, 'DOWNLOAD page'))).to.deep.equal(['file_download', 'web_fetch']);
    expect(names(ranked(all, 'download'))).to.deep.equal(['file_download', 'web_fetch']);
    expect(ranked(all, 'weather !? .*')).to.deep.equal([]);
  });
});

const tool = (name: string, description: string, more: Partial<AnyTool> = {}): AnyTool =>
  defineTool({ name, description, params: Type.Object({ bed: Type.String() }), risk: 'read', openWorld: false, replay: 'safe', parallel: false, run: async ({ bed }) => `${name} ${bed}`, ...more });

const garden = fixtureExtension({
  id: 'garden',
  contributions: { tools: ['garden_water', 'garden_weed', 'garden_burn'].map((name) => ({ name, risk: 'read', replay: 'safe' })) },
  definition: {
    activate: (ctx) => void ctx.tools.add(tool('garden_water', 'Waters a bed.'), tool('garden_weed', 'Weeds a bed.'), tool('garden_burn', 'Burns everything.')),
  },
});

const CONFIG = `lazy_tools_above = 5\n${OPEN_RATE}[extensions]\nenable = ["garden"]\n`;

describe('an agent with many tools', function () {
  this.timeout(60_000);
  let svc: ModelKernel;
  before(async () => {
    svc = await bootWithModel(undefined, { config: CONFIG, extra: [garden] });
  });
  after(stopModelKernels);

  const spawn = async (name: string, manifest: object = {}): Promise<string> => (await svc.http.expect(201, 'POST', '/api/agents', { manifest: { name, ...manifest } })).body.agent_id;
  const sent = (index = -1): string[] => {
    const body = svc.model.requests.at(index)?.body as { tools?: Array<{ function: { name: string } }> };
    return (body.tools ?? []).map((one) => one.function.name);
  };
  const result = (): string => {
    const body = svc.model.requests.at(-1)?.body as { messages: Array<{ role: string; content: unknown }> };
    return String(body.messages.findLast(({ role }) => role === 'tool')?.content);
  };
  const say = async (agent: string, ...calls: Array<readonly [string, object]>): Promise<void> => {
    svc.model.script([...calls.map(([name, args]) => ({ toolCalls: [{ id: `c${Math.random()}`, name, args }] })), { text: 'done' }]);
    await svc.http.expect(200, 'POST', `/api/agents/${agent}/message`, { message: 'go' });
  };

  it('has its model sent a few, with the two that find and load the others', async () => {
    await say(await spawn('few'));
    expect(sent())
      .to.include.members(['file_read', 'tool_load', 'tool_search', 'web_search'].filter((name) => name !== 'web_search'))
      .and.not.include('garden_water');
    await say(await spawn('all', { lazy_tools: false }));
    expect(sent()).to.include('garden_water').and.not.include('tool_load');
    await say(await spawn('as-librefang-says', { metadata: { lazy_tools: false } }));
    expect(sent()).to.include('garden_water').and.not.include('tool_load');
  });

  it('finds a tool and loads it: from then on it is sent, in this message and in later ones of the conversation', async () => {
    const agent = await spawn('loads');
    await say(agent, ['tool_search', { query: 'water bed' }]);
    expect(JSON.parse(result()).tools[0]).to.deep.equal({ name: 'garden_water', description: 'Waters a bed.' });
    await say(agent, ['tool_load', { name: 'garden_water' }], ['garden_water', { bed: 'roses' }]);
    expect(result()).to.equal('garden_water roses');
    expect([-3, -2, -1].map((index) => sent(index).includes('garden_water'))).to.deep.equal([false, true, true]);
    expect(sent()).to.not.include('garden_weed');
    await say(agent);
    expect(sent()).to.include('garden_water').and.not.include('garden_weed');
  });

  it('is given the schema with the tool', async () => {
    await say(await spawn('schema'), ['tool_load', { name: 'garden_weed' }]);
    const { name, description, parameters } = JSON.parse(result());
    expect([name, description, parameters.required]).to.deep.equal(['garden_weed', 'Weeds a bed.', ['bed']]);
  });

  it('Z2 neither finds nor loads a tool that it may not use, and does not learn that it exists', async () => {
    for (const [name, lists] of [
      ['blocked', { tool_blocklist: ['garden_burn'] }],
      ['not-granted', { capabilities: { tools: ['garden_w*', 'file_*', 'system_*', 'web_*'], network: ['*'] }, lazy_tools: true }],
    ] as const) {
      const agent = await spawn(name, lists);
      await say(agent, ['tool_search', { query: 'burns everything garden' }]);
      expect(result(), name).to.contain('garden_water').and.not.contain('garden_burn');
      await say(agent, ['tool_load', { name: 'garden_burn' }]);
      const refused = result();
      await say(agent, ['tool_load', { name: 'garden_bury' }]);
      expect(refused.replaceAll('garden_burn', 'X'), name).to.equal(result().replaceAll('garden_bury', 'X'));
      await say(agent, ['garden_burn', { bed: 'all' }]);
      expect(result(), name).to.match(/may not use garden_burn/);
      expect(sent(), name).to.not.include('garden_burn');
    }
  });
});

describe('a loaded tool', function () {
  this.timeout(60_000);
  let home: string;
  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'svc-lazy-'));
  });
  after(async () => {
    await stopModelKernels();
    await rm(home, { recursive: true, force: true });
  });

  it('is sent again when the run goes on in a later life of the daemon', async () => {
    const options = { config: CONFIG, extra: [garden], home };
    const first = await bootWithModel([{ toolCalls: [{ id: 'c1', name: 'tool_load', args: { name: 'garden_water' } }] }, { hang: true }], options);
    void first.http.post(`/api/agents/${first.agent.id}/message`, { message: 'go' }).catch(() => undefined);
    await until(() => first.model.requests.length === 2);
    await first.kernel.stop();
    const second = await bootWithModel([{ text: 'done' }], options);
    await until(() => second.model.requests.length === 1);
    const request = second.model.requests[0]?.body as { tools: Array<{ function: { name: string } }> };
    expect(request.tools.map((one) => one.function.name))
      .to.include('garden_water')
      .and.not.include('garden_weed');
  });
});
