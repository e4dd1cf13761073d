/** A third party's area brings a capability and a tool: people, agents and children of agents meet both. */
import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { defineCapability, defineTool, grantOf, needOf, Type } from '@svc/api';
import { bootTestKernel, fixtureExtension, OPEN_RATE, stopTestKernels, type TestHttp, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import { type ProviderServer, startOpenAiServer } from '@svc/fixtures/providers/openai-server';

const Read = defineCapability('calendar_read', '1.0.0', { description: 'Read these calendars', grant: 'names' });
const Share = defineCapability('calendar_share', '1.0.0', { description: 'Share calendars with everybody', grant: 'flag' });

const readTool = defineTool({
  name: 'calendar_read',
  description: 'Reads a calendar.',
  params: Type.Object({ calendar: Type.String() }),
  risk: 'read',
  replay: 'safe',
  parallel: true,
  capabilities: [Read.name],
  needs: ({ calendar }) => [needOf(Read, calendar)],
  run: async ({ calendar }, { capabilities }) => `${calendar} is empty; granted: ${grantOf(Read, capabilities).join(' ')}`,
});
const oddTool = defineTool({
  name: 'calendar_odd',
  description: 'Needs what nobody declares.',
  params: Type.Object({}),
  risk: 'read',
  replay: 'safe',
  parallel: true,
  needs: () => [{ capability: 'payments_send' }],
  run: async () => 'this never runs',
});

const calendar = fixtureExtension({
  id: 'calendar',
  manifest: { capabilities: [Read.name, Share.name] },
  contributions: { capabilities: [Read, Share], tools: [readTool, oddTool].map(({ name, risk, replay }) => ({ name, risk, replay })) },
  definition: { capabilities: [Read, Share], activate: (ctx) => void ctx.tools.add(readTool, oddTool) },
});

const KEYS = { owner: 'root-key-0', ann: 'ann-key-1', adam: 'adam-key-2' };
const person = (name: 'ann' | 'adam', role: string): string => `[[users]]\nname = "${name}"\nrole = "${role}"\napi_key_hash = "sha256:${createHash('sha256').update(KEYS[name]).digest('hex')}"\n`;

describe('a capability that an area brings', function () {
  this.timeout(30_000);
  let model: ProviderServer;
  let kernel: TestKernel;
  let owner: TestHttp;
  let ann: TestHttp;
  let adam: TestHttp;

  const config = (more = '', adamsRole = 'admin'): string =>
    `api_key = "${KEYS.owner}"\n${OPEN_RATE}[extensions]\nenable = ["calendar"]\n[default_model]\nprovider = "openai"\nmodel = "gpt-4o"\n[provider_urls]\nopenai = "${model.url}/v1"\n${person('ann', 'user')}${person('adam', adamsRole)}${more}`;
  const settings = async (text: string): Promise<void> => {
    await writeFile(join(kernel.home, 'config.toml'), text);
    await kernel.daemon.reloadConfig('test');
    expect(kernel.daemon.kernel.configProblems()).to.deep.equal([]);
  };

  beforeEach(async () => {
    model = await startOpenAiServer();
    kernel = await bootTestKernel({ config: config(), env: { OPENAI_API_KEY: 'sk-of-the-tests' }, extra: [calendar] });
    [owner, ann, adam] = [kernel.as(KEYS.owner), kernel.as(KEYS.ann), kernel.as(KEYS.adam)];
  });
  afterEach(async () => {
    await stopTestKernels();
    await model.close();
  });

  const spawn = (http: TestHttp, name: string, lines: string) => http.post('/api/agents', { manifest_toml: `name = "${name}"\n[capabilities]\n${lines}` });
  const made = async (http: TestHttp, name: string, lines: string): Promise<string> => {
    const { status, body } = await spawn(http, name, lines);
    expect(status, JSON.stringify(body)).to.equal(201);
    return body.agent_id;
  };
  const use = async (http: TestHttp, agentId: string, ...toolCalls: Array<{ name: string; args: unknown }>): Promise<{ results: string[]; offered: string[] }> => {
    model.script([{ toolCalls }, { text: 'done' }]);
    const from = model.requests.length;
    await http.expect(200, 'POST', `/api/agents/${agentId}/message`, { message: 'go on' });
    const offered: Array<{ function: { name: string } }> = model.requests[from]?.body.tools ?? [];
    const messages: Array<{ role: string; content: string }> = model.requests.at(-1)?.body.messages ?? [];
    return { results: messages.flatMap(({ role, content }) => (role === 'tool' ? [content] : [])).slice(-toolCalls.length), offered: offered.map((tool) => tool.function.name) };
  };
  const read = (of: string) => ({ name: 'calendar_read', args: { calendar: of } });

  it('lets a call through that the manifest covers, and refuses the others with the line to add', async () => {
    const agent = await made(owner, 'planner', 'calendar_read = ["work/*"]\n');
    const { results, offered } = await use(owner, agent, read('work/today'), read('private'), { name: 'calendar_odd', args: {} });
    expect(results[0]).to.equal('work/today is empty; granted: work/*');
    expect(results[1]).to.match(/does not have calendar_read for "private": .* allows work\/\*.*add the line calendar_read = \["private"\]/);
    expect(results[2]).to.match(/needs "payments_send", which is not a capability of this daemon/);
    expect(offered).to.include('calendar_read');
  });

  it('keeps the tool from an agent that could never use it', async () => {
    const agent = await made(owner, 'writer', 'tools = ["*"]\n');
    const { results, offered } = await use(owner, agent, read('work'));
    expect(offered).to.include('system_time').and.not.include('calendar_read');
    expect(results[0]).to.match(/grants nothing under \[capabilities\] calendar_read/);
  });

  it('gives a child what its parent has at most', async () => {
    const agent = await made(owner, 'boss', 'agent_spawn = true\ncalendar_read = ["work/*"]\n');
    const child = (name: string, capabilities: object) => ({ name: 'agent_spawn', args: { name, system_prompt: 'Help.', capabilities } });
    const { results } = await use(owner, agent, child('a', { calendar_read: ['work/today'] }), child('b', { calendar_read: ['*'] }), child('c', { calendar_share: true }));
    expect(results[0]).to.match(/agent_id/);
    expect(results[1]).to.match(/Privilege escalation denied: the child would have calendar_read \*/);
    expect(results[2]).to.match(/Privilege escalation denied: the child would have calendar_share/);
  });

  it('is granted by owners and admins, and by others when a setting says so, at every use', async () => {
    for (const http of [owner, adam]) await made(http, 'planner', 'calendar_read = ["work"]\n');
    expect((await spawn(ann, 'planner', 'calendar_read = ["work"]\n')).body.error).to.match(/calendar_read = "work" needs the permission calendar_read, and its owner has the role user/);

    await settings(config('[capabilities]\nuser = ["calendar_read"]\n'));
    const hers = await made(ann, 'hers', 'file_system = false\ncalendar_read = ["work"]\n');
    expect((await spawn(ann, 'more', 'file_system = false\ncalendar_share = true\n')).body.error).to.match(/needs the permission calendar_share/);
    expect((await use(ann, hers, read('work'))).results[0]).to.equal('work is empty; granted: work');

    await settings(config());
    const { results, offered } = await use(ann, hers, read('work'));
    expect(results[0]).to.match(/calendar_read = "work" needs the permission calendar_read/);
    expect(offered).to.not.include('calendar_read');
  });

  it('is taken from an admin’s agents with the role', async () => {
    const his = await made(adam, 'his', 'calendar_read = ["work"]\n');
    await settings(config('', 'viewer'));
    expect((await use(owner, his, read('work'))).results[0]).to.match(/its owner has the role viewer/);
  });

  it('refuses a setting that could be no name, and tells of one that nobody declares', async () => {
    await settings(config('[capabilities]\nuser = ["network", "calendar_raed"]\n'));
    const { doctor } = (await owner.expect(200, 'GET', '/api/health/detail')).body;
    expect(JSON.stringify(doctor)).to.match(/calendar_raed.*Did you mean \\"calendar_read\\"/);
    await writeFile(join(kernel.home, 'config.toml'), config('[capabilities]\nuser = ["netwrok"]\n'));
    await kernel.daemon.reloadConfig('test');
    expect(kernel.daemon.kernel.configProblems().map(({ key }) => key)).to.deep.equal(['capabilities.user.0']);
  });
});
