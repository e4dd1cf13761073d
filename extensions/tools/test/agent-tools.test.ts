/** GET and PUT /api/agents/{id}/tools. */
import { createHash } from 'node:crypto';
import { bootTestKernel, OPEN_RATE, stopTestKernels, type TestHttp } from '@svc/testing';
import { expect } from 'chai';
import { idleEntries } from '../src/routes/agent-tool-routes.js';
import { ALL } from './tools-kit.js';

const person = (name: string, role: string): string => `[[users]]\nname = "${name}"\nrole = "${role}"\napi_key_hash = "sha256:${createHash('sha256').update(`${name}-key`).digest('hex')}"\n`;
const PEOPLE = `api_key = "root-key"\n${OPEN_RATE}${person('ann', 'user')}${person('bob', 'user')}${person('vi', 'viewer')}`;
const NOBODY = '00000000-0000-4000-8000-000000000000';

describe('the tools of an agent', () => {
  afterEach(stopTestKernels);

  const agentOf = async (http: TestHttp, more = '', name = 'helper'): Promise<string> => (await http.expect(201, 'POST', '/api/agents', { manifest_toml: `name = "${name}"\n${more}` })).body.agent_id;
  const put = (http: TestHttp, id: string, body: unknown) => http.put(`/api/agents/${id}/tools`, body);

  it('are what its manifest says, and each list is set by itself', async () => {
    const { http } = await bootTestKernel();
    const id = await agentOf(http, 'tool_blocklist = ["shell_exec"]\n[capabilities]\ntools = ["file_*", "shell_exec"]\n');
    const first = { capabilities_tools: ['file_*', 'shell_exec'], tool_allowlist: [], tool_blocklist: ['shell_exec'], disabled: false, mode: 'allowlist' };
    expect((await http.expect(200, 'GET', `/api/agents/${id}/tools`)).body).to.deep.equal(first);
    expect((await put(http, id, { tool_allowlist: ['file_read'] })).body).to.deep.equal({ ...first, tool_allowlist: ['file_read'] });
    const lifted = { capabilities_tools: [], tool_allowlist: [], tool_blocklist: [], disabled: false, mode: 'all' };
    expect((await put(http, id, { tools: [], tool_allowlist: [], tool_blocklist: [] })).body).to.deep.equal(lifted);
    expect((await put(http, id, { disabled: true })).body).to.deep.equal({ ...lifted, disabled: true, mode: 'none' });
    expect((await http.get(`/api/agents/${id}/tools`)).body).to.deep.equal({ ...lifted, disabled: true, mode: 'none' });
  });

  it('hold at once for what it calls', async () => {
    const { http } = await bootTestKernel({ config: `${OPEN_RATE}[tool_invoke]\nenabled = true\nallowlist = ["*"]\n` });
    const id = await agentOf(http);
    const time = () => http.post(`/api/tools/system_time/invoke?agent_id=${id}`);
    expect((await time()).status).to.equal(200);
    await http.expect(200, 'PUT', `/api/agents/${id}/tools`, { tool_blocklist: ['system_*'] });
    expect((await time()).body.code).to.equal('tools_not_offered');
    await http.expect(200, 'PUT', `/api/agents/${id}/tools`, { tool_blocklist: [] });
    expect((await time()).status).to.equal(200);
  });

  it('are refused where nothing is said, too much, or what is no list', async () => {
    const { http } = await bootTestKernel();
    const id = await agentOf(http);
    expect((await put(http, id, {})).body.code).to.equal('tools_nothing_to_change');
    expect((await put(http, id, { tools: ['a'], capabilities_tools: ['a'] })).body.code).to.equal('tools_two_lists');
    for (const body of [{ tools: 'file_read' }, { tool_allowlist: [7] }, { tool_blocklist: [''] }, { tools: Array(501).fill('a') }, { tools: ['x'.repeat(201)] }, { disabled: 'yes' }])
      expect((await put(http, id, body)).status, JSON.stringify(body).slice(0, 60)).to.equal(400);
    for (const [agent, status, code] of [
      ['hello', 400, 'invalid_agent_id'],
      [NOBODY, 404, 'agent_not_found'],
    ] as const) {
      const answers = [await http.get(`/api/agents/${agent}/tools`), await put(http, agent, { tools: [] })];
      expect(answers.map((answer) => [answer.status, answer.body.code])).to.deep.equal(Array(2).fill([status, code]));
    }
  });

  it('warn of entries that do nothing', async () => {
    const { http } = await bootTestKernel();
    const id = await agentOf(http);
    const { body } = await put(http, id, { tools: ['file_read', 'file_rite'], tool_allowlist: ['web_*', 'file_*'] });
    expect(body.warnings).to.deep.equal([
      'This daemon does not have the tool file_rite: the agent works without it. Did you mean "file_write"?',
      'tool_allowlist names "web_*", which capabilities.tools does not grant: it admits nothing.',
    ]);
    const lists = (granted: string[], tool_allowlist: string[]) => ({ capabilities: { ...ALL, tools: granted }, tool_allowlist, tool_blocklist: [], tools_disabled: false });
    expect(idleEntries(lists([], ['a']), ['a'])).to.deep.equal([]);
    expect(idleEntries(lists(['a*z', 'b*'], ['a*', '*z', 'abz', 'c*']), ['abz', 'b', 'cz'])).to.deep.equal(['tool_allowlist names "c*", which capabilities.tools does not grant: it admits nothing.']);
    expect(
      idleEntries(
        lists(
          [],
          Array.from({ length: 30 }, (_, at) => `x${at}`),
        ),
        ['y'],
      ),
    ).to.have.length(21);
  });

  it('of somebody else are not there, and a viewer changes none', async () => {
    const kernel = await bootTestKernel({ config: PEOPLE, key: 'root-key' });
    const [ann, bob, vi] = [kernel.as('ann-key'), kernel.as('bob-key'), kernel.as('vi-key')];
    const anns = await agentOf(ann);
    for (const answer of [await bob.get(`/api/agents/${anns}/tools`), await put(bob, anns, { tools: [] })]) expect([answer.status, answer.body.code]).to.deep.equal([404, 'agent_not_found']);
    const refused = await put(vi, anns, { tools: [] });
    expect([refused.status, refused.body.code]).to.deep.equal([403, 'auth_role_refused']);
    expect((await put(ann, anns, { tools: ['file_read'] })).status).to.equal(200);
    const before = (await ann.get(`/api/agents/${anns}/tools`)).body;
    expect((await put(kernel.http, anns, { tool_blocklist: ['web_*'] })).body).to.deep.include({ ...before, tool_blocklist: ['web_*'], mode: 'allowlist' });
  });

  it('of a child grow no further than those of its parent', async () => {
    const { http } = await bootTestKernel({ config: `${OPEN_RATE}[tool_invoke]\nenabled = true\nallowlist = ["agent_spawn"]\n` });
    const parent = await agentOf(http, '[capabilities]\ntools = ["agent_spawn", "file_*"]\nagent_spawn = true\nfile_system = true\n');
    const made = await http.expect(200, 'POST', `/api/tools/agent_spawn/invoke?agent_id=${parent}`, { name: 'child', system_prompt: 'x', tools: ['file_read'] });
    const child: string = JSON.parse(made.body.content).agent_id;
    expect((await put(http, child, { tools: ['file_read', 'file_list'] })).status).to.equal(200);
    for (const body of [{ tools: ['shell_exec'] }, { tools: [] }, { tools: ['*'] }]) {
      const refused = await put(http, child, body);
      expect([refused.status, refused.body.code], JSON.stringify(body)).to.deep.equal([403, 'agents_change_denied']);
      expect(refused.body.error).to.match(/Privilege escalation denied/);
    }
    expect((await http.get(`/api/agents/${child}/tools`)).body.capabilities_tools).to.deep.equal(['file_read', 'file_list']);
  });
});
