/** Conversations, files and templates over /api/mcp: each person sees their own. And resources and prompts of servers, as agents and people use them. */
import { createHash } from 'node:crypto';
import { symlink } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { defineExtension, HttpAuthorize } from '@svc/api';
import { bootWithModel, type ModelKernel, stopModelKernels, until } from '@svc/test/clients/model-kernel';
import { fixtureExtension, OPEN_RATE, type TestHttp } from '@svc/testing';
import { expect } from 'chai';
import { promptArguments } from '../src/prompt-arguments.js';

const KEYS = { owner: 'key-of-the-owner-here', alice: 'key-of-alice-here-2', bob: 'key-of-bob-here-3' };
const person = (name: 'alice' | 'bob'): string => `[[users]]\nname = "${name}"\nrole = "user"\napi_key_hash = "sha256:${createHash('sha256').update(KEYS[name]).digest('hex')}"\n`;

/** Routes that bob may not use while a test runs. */
const closed = new Set<string>();
const doorkeeper = fixtureExtension({
  id: 'closing',
  manifest: { hooks: [{ name: 'http.authorize' }], grants: [{ grant: 'callers', why: 'a test closes routes' }] },
  definition: defineExtension({
    activate: (ctx) => void ctx.hooks.tap(HttpAuthorize, ({ actor, routeId }) => (actor.id.includes('bob') && closed.has(routeId) ? { deny: 'closed for bob' } : undefined)),
  }),
});

interface Talk {
  readonly agent: string;
  readonly session: string;
}

describe('MCP resources and prompts', function () {
  this.timeout(60_000);
  let svc: ModelKernel;
  let url: string;
  const http: Record<'alice' | 'bob', TestHttp> = {} as never;
  const of: Record<'alice' | 'bob', Talk> = {} as never;

  const rpc = async (path: string, key: string | undefined, method: string, params: object = {}) => {
    const headers = { 'content-type': 'application/json', ...(key === undefined ? {} : { authorization: `Bearer ${key}` }) };
    const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }) });
    return (await answer.json()) as { result?: { resources?: Array<{ uri: string; name: string }>; [more: string]: unknown }; error?: { code: number; message: string } };
  };
  const asked = (who: keyof typeof KEYS, method: string, params: object = {}) => rpc('/api/mcp', KEYS[who], method, params);
  const read = (who: keyof typeof KEYS, uri: string) => asked(who, 'resources/read', { uri });
  const uris = async (who: keyof typeof KEYS): Promise<string[]> => ((await asked(who, 'resources/list')).result?.resources ?? []).map(({ uri }) => uri);
  const connected = async (who: keyof typeof KEYS, options = {}): Promise<Client> => {
    const client = new Client({ name: 'a-client', version: '1.0.0' }, options);
    await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/api/mcp`), { requestInit: { headers: { authorization: `Bearer ${KEYS[who]}` } } }));
    return client;
  };

  before(async () => {
    const config = `api_key = "${KEYS.owner}"\nlazy_tools_above = 500\n${OPEN_RATE}${person('alice')}${person('bob')}[extensions]\nenable = ["closing"]\n[tool_invoke]\nenabled = true\nallowlist = ["*"]\n`;
    svc = await bootWithModel({ text: 'forty-two' }, { config, key: KEYS.owner, extra: [doorkeeper] });
    url = svc.kernel.daemon.url;
    for (const name of ['alice', 'bob'] as const) {
      http[name] = svc.kernel.as(KEYS[name]);
      const { agent_id: agent } = (await http[name].expect(201, 'POST', '/api/agents', { manifest_toml: `name = "${name}s"\n` })).body;
      const { session_id: session } = (await http[name].expect(200, 'POST', `/api/agents/${agent}/message`, { message: `the secret of ${name} is a teapot` })).body;
      await http[name].expect(200, 'PUT', `/api/agents/${agent}/files/${encodeURIComponent('notes/of the day.md')}`, { content: `notes of ${name}` });
      of[name] = { agent, session };
    }
    await until(async () => (await uris('alice')).length === 2);
  });
  after(stopModelKernels);

  it('V4 show a person their conversations and files, and read them', async () => {
    const file = `svc://agents/${of.alice.agent}/files/notes/of%20the%20day.md`;
    expect((await uris('alice')).toSorted()).to.deep.equal([file, `svc://sessions/${of.alice.session}`].toSorted());
    const { contents } = (await read('alice', `svc://sessions/${of.alice.session}`)).result as { contents: Array<{ text: string; mimeType: string }> };
    expect(contents[0]?.mimeType).to.equal('text/markdown');
    expect(contents[0]?.text).to.match(/## user, .*\n\nthe secret of alice is a teapot\n\n## assistant, .*\n\nforty-two/);
    expect(((await read('alice', file)).result as { contents: unknown[] }).contents).to.deep.equal([{ uri: file, mimeType: 'text/plain', text: 'notes of alice' }]);
  });

  it('V4 are the same for clients of both revisions, and the owner has those of all', async () => {
    for (const mode of ['legacy', { pin: '2026-07-28' }] as const) {
      const client = await connected('alice', { versionNegotiation: { mode } });
      expect((await client.listResources()).resources.map(({ uri }) => uri)).to.have.length(2);
      expect((await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate)).to.deep.equal(['svc://sessions/{id}', 'svc://agents/{id}/files/{+path}']);
      const { contents } = await client.readResource({ uri: `svc://sessions/${of.alice.session}` });
      expect(JSON.stringify(contents)).to.include('teapot');
      const failure = await client.readResource({ uri: `svc://sessions/${of.bob.session}` }).catch((error: unknown) => error);
      expect(String(failure)).to.match(/no such resource/);
      await client.close();
    }
    expect(await uris('owner')).to.include.members([...(await uris('alice')), ...(await uris('bob'))]);
  });

  it('V4 show nobody what is of somebody else, however its address is written', async () => {
    const { agent, session } = of.alice;
    const missing = '00000000-0000-4000-8000-000000000000';
    const nothing = (await read('bob', `svc://sessions/${missing}`)).error;
    for (const uri of [
      `svc://sessions/${session}`,
      `svc://sessions/${session.toUpperCase()}`,
      `svc://agents/${agent}/files/notes/of%20the%20day.md`,
      `svc://agents/${of.bob.agent}/files/../${agent}/notes/of%20the%20day.md`,
      `svc://agents/${of.bob.agent}/files/..%2F${agent}%2Fnotes%2Fof%20the%20day.md`,
      `svc://agents/${of.bob.agent}%2F..%2F${agent}/files/notes/of%20the%20day.md`,
      `svc://agents/../files/${agent}/notes/of%20the%20day.md`,
      `svc://agents/${of.bob.agent}/files//etc/passwd`,
      `svc://agents/${of.bob.agent}/files/%00`,
      `svc://agents/${of.bob.agent}/files/%ff`,
      'file:///etc/passwd',
      `svc://sessions/${session}'--`,
      `svc://sessions/${'9'.repeat(5_000)}`,
      '',
    ])
      expect((await read('bob', uri)).error, uri).to.deep.equal(nothing);
    expect(JSON.stringify((await asked('bob', 'resources/read', { uri: { toString: 'x' } })).error)).to.equal(JSON.stringify(nothing));
    expect(await uris('bob')).to.have.length(2);
    expect((await asked('bob', 'resources/list', { cursor: agent })).result?.resources?.filter(({ uri }) => uri.includes(agent)) ?? []).to.deep.equal([]);
    expect((await asked('bob', 'resources/list', { cursor: "' or 1=1" })).error?.code).to.equal(-32_602);
  });

  it('V4 follow no link out of a workspace', async () => {
    const folder = `${svc.kernel.home}/workspaces`;
    await symlink(`${folder}/${of.alice.agent}/notes`, `${folder}/${of.bob.agent}/stolen`).catch(() => symlink(`${folder}/${of.alice.agent}/notes`, resolve(folder, of.bob.agent, 'stolen')));
    expect((await read('bob', `svc://agents/${of.bob.agent}/files/stolen/of%20the%20day.md`)).error?.code).to.equal(-32_002);
  });

  it('V4 show no deleted conversation, nothing that a rule closes, and nothing without a key', async () => {
    for (const routeId of ['getSessionById', 'getAgentFile', 'listTemplates']) closed.add(routeId);
    expect(await uris('bob')).to.deep.equal([]);
    expect((await read('bob', `svc://sessions/${of.bob.session}`)).error?.code).to.equal(-32_002);
    expect((await read('bob', `svc://agents/${of.bob.agent}/files/notes/of%20the%20day.md`)).error?.code).to.equal(-32_002);
    expect((await asked('bob', 'prompts/list')).result?.prompts).to.deep.equal([]);
    expect((await asked('bob', 'prompts/get', { name: 'researcher' })).error?.code).to.equal(-32_602);
    closed.clear();
    await http.bob.expect(200, 'DELETE', `/api/sessions/${of.bob.session}`);
    expect((await read('bob', `svc://sessions/${of.bob.session}`)).error?.code).to.equal(-32_002);
    for (const method of ['resources/list', 'resources/templates/list', 'prompts/list']) expect(Object.values((await rpc('/mcp', undefined, method)).result ?? {}), method).to.deep.equal([[]]);
    expect((await rpc('/mcp', undefined, 'resources/read', { uri: `svc://sessions/${of.alice.session}` })).error?.code).to.equal(-32_002);
    expect((await rpc('/mcp', undefined, 'prompts/get', { name: 'researcher' })).error?.code).to.equal(-32_602);
    expect((await rpc('/mcp', KEYS.alice, 'resources/list')).result?.resources).to.deep.equal([]);
  });

  it('give templates of agents as prompts, with what to do first', async () => {
    const client = await connected('alice');
    const { prompts } = await client.listPrompts();
    expect(prompts.find(({ name }) => name === 'researcher')?.arguments?.map(({ name }) => name)).to.deep.equal(['task']);
    const { messages } = await client.getPrompt({ name: 'researcher', arguments: { task: 'Find the source of the Nile.' } });
    expect(JSON.stringify(messages)).to.match(/research.*Find the source of the Nile\./is);
    expect(String(await client.getPrompt({ name: '../researcher' }).catch((error: unknown) => error))).to.match(/no such resource, prompt/);
    await client.close();
  });

  describe('of a server', () => {
    const invoke = (tool: string, args: object) => svc.http.post(`/api/tools/${tool}/invoke`, args);
    const say = async (message: string): Promise<string> => (await svc.http.expect(200, 'POST', `/api/agents/${svc.agent.id}/message`, { message })).body.response;
    before(async () => {
      const transport = { type: 'stdio', command: process.execPath, args: [resolve('node_modules/@modelcontextprotocol/server-everything/dist/index.js'), 'stdio'] };
      await svc.http.expect(201, 'POST', '/api/mcp/servers', { name: 'everything', transport });
    });

    it('R1 are two tools: what there is, and one of it; files are stored and named', async () => {
      const { body: list } = await invoke('mcp_everything_list_resources', {});
      expect(list.content)
        .to.match(/demo:\/\/resource\/static\/document\/\S+\.md · /)
        .and.include('pattern demo://resource/dynamic/text/');
      expect((await invoke('mcp_everything_read_resource', { uri: 'demo://resource/dynamic/text/3' })).body.content).to.match(/Resource 3: This is a plaintext/);
      const { body: blob } = await invoke('mcp_everything_read_resource', { uri: 'demo://resource/dynamic/blob/3' });
      expect(blob.content).to.match(/stored as the upload/);
      expect((await svc.http.get(`/api/uploads/${blob.files[0].file_id}`)).status).to.equal(200);
      expect((await invoke('mcp_everything_read_resource', { uri: 'demo://nowhere' })).body.error).to.match(/not found|nowhere/i);
      expect((await svc.http.expect(200, 'GET', '/api/tools/mcp_everything_read_resource')).body).to.deep.include({ source: 'mcp', mcp_server: 'everything', risk: 'write' });
    });

    it('M1 are sent to the agent by /prompt, labelled as from outside, and never a command themselves', async () => {
      expect(await say('/prompt')).to.include('/prompt everything args-prompt city=… [state=…]');
      expect(await say('/prompt everything args-prompt')).to.match(/needs city/);
      svc.model.beginAnew({ text: 'rainy' });
      expect(await say('/prompt everything args-prompt city="São Paulo" state=SP')).to.match(/was sent/);
      await until(() => svc.model.requests.length === 1);
      expect(JSON.stringify(svc.model.requests[0]?.body)).to.include("[Prompt args-prompt of the MCP server everything]\\n\\nWhat's weather in São Paulo, SP?");
      await until(async () => (await svc.http.expect(200, 'GET', '/api/runs?limit=1')).body.runs[0].status === 'done');
    });

    it('M2 are of servers that the agent is given', async () => {
      await svc.http.expect(200, 'PUT', `/api/agents/${svc.agent.id}/mcp_servers`, { mcp_servers: [] });
      expect(await say('/prompt everything args-prompt city=Rome')).to.match(/has no MCP server "everything"/);
      await svc.http.expect(200, 'PUT', `/api/agents/${svc.agent.id}/mcp_servers`, { mcp_servers: ['*'] });
    });
  });

  it('read arguments of prompts as people write them', () => {
    expect(promptArguments('a=1 b="two \\"words\\""', ['a', 'b'])).to.deep.equal({ a: '1', b: 'two "words"' });
    expect(promptArguments('just a sentence = fine', ['task', 'more'])).to.deep.equal({ task: 'just a sentence = fine' });
    expect(promptArguments('b=2 and the rest', ['a', 'b'])).to.deep.equal({ b: '2', a: 'and the rest' });
  });
});
