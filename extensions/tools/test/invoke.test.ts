/** Tools that people call without a run, over HTTP. */
import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { defineTool, ToolBefore, Type } from '@svc/api';
import { bootTestKernel, fixtureExtension, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import { callDigest } from '../src/call-digest.js';

const NOBODY = '00000000-0000-4000-8000-000000000000';
const person = (name: string, role: string): string => `[[users]]\nname = "${name}"\nrole = "${role}"\napi_key_hash = "sha256:${createHash('sha256').update(`${name}-key`).digest('hex')}"\n`;
const PEOPLE = `api_key = "root-key"\n${OPEN_RATE}${person('ann', 'admin')}${person('bob', 'user')}${person('vi', 'viewer')}`;

const asking = fixtureExtension({
  id: 'asking',
  manifest: { hooks: [{ name: 'tool.before' }] },
  contributions: { tools: [{ name: 'asks_first', risk: 'read', replay: 'safe' }] },
  definition: {
    activate(ctx) {
      ctx.tools.add(defineTool({ name: 'asks_first', description: 'Waits for a person.', params: Type.Object({}), risk: 'read', replay: 'safe', parallel: true, run: async () => 'ran' }));
      ctx.hooks.tap(ToolBefore, ({ tool, digest }) => {
        if (digest !== callDigest(tool.name, {}) && tool.name === 'asks_first') return { deny: 'no arguments are wanted' };
        return tool.name === 'asks_first' ? { suspend: { reason: 'somebody has to look', wakeKey: 'w' } } : undefined;
      });
    },
  },
});

describe('a tool that is called directly', () => {
  afterEach(stopTestKernels);

  const invoke = ({ http }: Pick<TestKernel, 'http'>, name: string, body: unknown = {}, query = '') => http.post(`/api/tools/${name}/invoke${query}`, body);
  const allowing = (list: string, more = ''): string => `${OPEN_RATE}[tool_invoke]\nenabled = true\nallowlist = ${list}\n${more}`;
  const agentWith = async ({ http }: Pick<TestKernel, 'http'>, capabilities: string, name = 'hand'): Promise<string> =>
    (await http.expect(201, 'POST', '/api/agents', { manifest_toml: `name = "${name}"\n[capabilities]\n${capabilities}\n` })).body.agent_id;

  it('is refused while direct calls are off, whether or not there is such a tool', async () => {
    const kernel = await bootTestKernel();
    for (const name of ['system_time', 'no_such_tool']) {
      const { status, body } = await invoke(kernel, name);
      expect([status, body.code], name).to.deep.equal([403, 'tools_invoke_disabled']);
      expect(body.hint).to.contain('[tool_invoke]');
    }
  });

  it('is refused where the list does not name it, before anything is said of whether there is one', async () => {
    const kernel = await bootTestKernel({ config: allowing('["system_time", "made_*"]') });
    const refused = await Promise.all(['shell_exec', 'no_such_tool'].map((name) => invoke(kernel, name)));
    expect(refused.map(({ status, body }) => [status, body.code])).to.deep.equal(Array(2).fill([403, 'tools_invoke_not_allowed']));
    expect(refused[1]?.body.error).to.equal(refused[0]?.body.error.replace('shell_exec', 'no_such_tool'));
    const unknown = await invoke(kernel, 'made_up');
    expect([unknown.status, unknown.body.code]).to.deep.equal([404, 'tools_unknown']);
    expect((await invoke(kernel, 'system_time')).status).to.equal(200);
  });

  it('answers with its result in the form of the interface, with a body or without one', async () => {
    const kernel = await bootTestKernel({ config: allowing('["*"]') });
    const answer = await invoke(kernel, 'system_time');
    expect(answer.status).to.equal(200);
    expect(answer.body).to.include({ tool_use_id: 'rest-api', tool_name: 'system_time', is_error: false, status: 'completed' });
    expect(JSON.parse(answer.body.content)).to.have.property('utc');
    expect((await kernel.http.send('POST', '/api/tools/system_time/invoke', undefined)).status).to.equal(200);
  });

  it('is refused for input that does not fit, naming the field, and for a body that is no object', async () => {
    const kernel = await bootTestKernel({ config: allowing('["*"]') });
    for (const [body, named] of [
      [{}, /path is missing/],
      [{ path: 7 }, /path .*must be string/],
      [{ path: 'a', offset: 0 }, /offset/],
    ] as const) {
      const answer = await invoke(kernel, 'file_read', body);
      expect([answer.status, answer.body.code]).to.deep.equal([400, 'tools_bad_arguments']);
      expect(answer.body.error).to.match(named);
    }
    for (const body of ['[]', '"x"', '{']) expect((await invoke(kernel, 'file_read', body)).status, body).to.equal(400);
  });

  it('that runs and fails is 400 with its result, which is an error of the usual form too', async () => {
    const kernel = await bootTestKernel({ config: allowing('["*"]') });
    const { status, body } = await invoke(kernel, 'file_read', { path: 'none.txt' });
    expect(status).to.equal(400);
    expect(body).to.include({ tool_use_id: 'rest-api', is_error: true, status: 'error', code: 'tools_call_failed', error: body.content });
    expect(body.content).to.contain('no file "none.txt"');
    expect(body.request_id).to.be.a('string');
  });

  it('has the capabilities and the folder of the agent that is named', async () => {
    const kernel = await bootTestKernel({ config: allowing('["*"]') });
    const agent = await agentWith(kernel, 'file_system = true');
    await kernel.http.expect(200, 'POST', `/api/tools/file_write/invoke?agent_id=${agent}`, { path: 'a.txt', content: 'hello' });
    expect((await invoke(kernel, 'file_list', {}, `?agent_id=${agent}`)).body.content).to.equal('a.txt (5 bytes)');
    const shell = await invoke(kernel, 'shell_exec', { command: 'ls' }, `?agent_id=${agent}`);
    expect([shell.status, shell.body.code]).to.deep.equal([403, 'capability_denied']);
    // Without an agent the caller has what its role may grant, in the folder that holds those of the agents.
    const all = await invoke(kernel, 'shell_exec', { command: `cat ${agent}/a.txt` });
    expect(all.body.content).to.match(/exit code 0.*\nhello/s);
  });

  it('is refused where the manifest of the agent takes it away', async () => {
    const kernel = await bootTestKernel({ config: allowing('["*"]') });
    const { body } = await kernel.http.expect(201, 'POST', '/api/agents', { manifest_toml: 'name = "bare"\ntool_blocklist = ["system_*"]\n' });
    const answer = await invoke(kernel, 'system_time', {}, `?agent_id=${body.agent_id}`);
    expect([answer.status, answer.body.code]).to.deep.equal([403, 'tools_not_offered']);
  });

  it('is refused for an agent that is none, or that is not there', async () => {
    const kernel = await bootTestKernel({ config: allowing('["*"]') });
    const answers = [await invoke(kernel, 'system_time', {}, '?agent_id=hello'), await invoke(kernel, 'system_time', {}, `?agent_id=${NOBODY}`)];
    expect(answers.map(({ status, body }) => [status, body.code])).to.deep.equal([
      [400, 'invalid_agent_id'],
      [404, 'agent_not_found'],
    ]);
  });

  it('is for owners and admins; an agent of somebody else acts for its own owner, and gets no more than that one may grant', async () => {
    const kernel = await bootTestKernel({ config: `${PEOPLE}[tool_invoke]\nenabled = true\nallowlist = ["*"]\n`, key: 'root-key' });
    for (const key of ['bob-key', 'vi-key']) {
      const answer = await invoke({ http: kernel.as(key) }, 'system_time');
      expect([answer.status, answer.body.code], key).to.deep.equal([403, 'auth_role_refused']);
    }
    expect((await invoke({ http: kernel.as('ann-key') }, 'system_time')).status).to.equal(200);
    const bobs = await agentWith({ http: kernel.as('bob-key') }, 'file_system = true');
    const ann = { http: kernel.as('ann-key') };
    expect((await invoke(ann, 'file_list', {}, `?agent_id=${bobs}`)).status).to.equal(200);
    const shell = await invoke(ann, 'shell_exec', { command: 'ls' }, `?agent_id=${bobs}`);
    expect([shell.status, shell.body.code]).to.deep.equal([403, 'capability_denied']);
  });

  it('that a person has to approve first is refused: nobody waits for a direct call', async () => {
    const kernel = await bootTestKernel({ config: `[extensions]\nenable = ["asking"]\n${allowing('["*"]')}`, extra: [asking] });
    const waits = await invoke(kernel, 'asks_first');
    expect([waits.status, waits.body.code]).to.deep.equal([403, 'tools_needs_approval']);
    const denied = await invoke(kernel, 'asks_first', { more: true });
    expect([denied.status, denied.body.code, denied.body.error]).to.deep.equal([403, 'tool_denied', 'no arguments are wanted']);
  });

  it('ends at the time that the settings give it', async () => {
    const kernel = await bootTestKernel({ config: allowing('["*"]', '[tool_timeouts]\n"shell_*" = 1\n') });
    const { status, body } = await invoke(kernel, 'shell_exec', { command: 'sleep 30' });
    expect(status).to.equal(400);
    expect(body.content).to.match(/shell_exec did not end within 1 s/);
  });

  it('is off where the settings cannot be read', async () => {
    const kernel = await bootTestKernel({ config: `${OPEN_RATE}[tool_invoke]\nenabled = "yes"\nallowlist = ["*"]\n` });
    expect((await invoke(kernel, 'system_time')).body.code).to.equal('tools_invoke_disabled');
  });

  it('reads and writes no file outside of the folder of the agents', async () => {
    const kernel = await bootTestKernel({ config: allowing('["*"]') });
    await mkdir(join(kernel.home, 'elsewhere'), { recursive: true });
    await writeFile(join(kernel.home, 'elsewhere', 'x'), 'secret');
    const { status, body } = await invoke(kernel, 'file_read', { path: '../elsewhere/x' });
    expect(status).to.equal(400);
    expect(body.content).to.match(/Path traversal denied/);
  });
});

describe('one tool', () => {
  afterEach(stopTestKernels);

  it('is shown as in the list, and one that is not there is 404 with those that look like it', async () => {
    const { http } = await bootTestKernel();
    const { tools, total } = (await http.expect(200, 'GET', '/api/tools')).body;
    expect(total).to.equal(tools.length);
    for (const tool of tools) expect((await http.expect(200, 'GET', `/api/tools/${tool.name}`)).body).to.deep.equal(tool);
    const missing = await http.get('/api/tools/file_raed');
    expect([missing.status, missing.body.code]).to.deep.equal([404, 'tools_unknown']);
    expect(missing.body.error).to.contain('Did you mean file_read');
    expect((await http.get(`/api/tools/${'x'.repeat(201)}`)).status).to.equal(400);
  });
});
