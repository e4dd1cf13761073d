/** Agents against the real servers of the protocol's makers, over the API that people use. */
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { expect } from 'chai';
import { bootWithModel, type ModelKernel, stopModelKernels, until } from '@svc/test/clients/model-kernel';
import { OPEN_RATE } from '@svc/testing';

const bin = (name: string, ...args: string[]) => ({ type: 'stdio', command: process.execPath, args: [resolve(`node_modules/@modelcontextprotocol/server-${name}/dist/index.js`), ...args] });
const odd = (...args: string[]) => ({ type: 'stdio', command: process.execPath, args: [resolve('extensions/mcp/test/odd-server.mjs'), ...args] });
const INVOKE = '[tool_invoke]\nenabled = true\nallowlist = ["*"]\n';

describe('MCP servers', function () {
  this.timeout(90_000);
  let svc: ModelKernel;
  let notes: string;
  const add = (body: object) => svc.http.expect(201, 'POST', '/api/mcp/servers', body);
  const get = async (name: string) => (await svc.http.expect(200, 'GET', `/api/mcp/servers/${name}`)).body;
  const invoke = (tool: string, args: object) => svc.http.post(`/api/tools/${tool}/invoke`, args);
  const stateOf = async (name: string, state: string): Promise<void> => until(async () => (await get(name)).status === state);
  before(async () => {
    svc = await bootWithModel(undefined, { config: `lazy_tools_above = 500\n${OPEN_RATE}${INVOKE}` });
    notes = `${svc.kernel.home}/notes`;
    await mkdir(notes);
    await writeFile(`${notes}/shopping.txt`, 'milk and bread');
    await add({ name: 'files', transport: bin('filesystem', notes) });
    await add({ name: 'memory', transport: bin('memory'), env: [`MEMORY_FILE_PATH=${notes}/memory.jsonl`] });
    await add({ name: 'everything', transport: bin('everything', 'stdio') });
  });
  after(stopModelKernels);

  it('T1 give an agent their tools, three servers at once, and what they answer', async () => {
    const calls = [
      { name: 'mcp_files_list_directory', args: { path: notes } },
      { name: 'mcp_memory_create_entities', args: { entities: [{ name: 'Ada', entityType: 'person', observations: ['likes bread'] }] } },
      { name: 'mcp_everything_echo', args: { message: 'hello' } },
    ];
    svc.model.beginAnew([{ toolCalls: calls }, { text: 'done' }]);
    await svc.http.expect(200, 'POST', `/api/agents/${svc.agent.id}/message`, { message: 'what is in the folder?' });
    const [first, second] = svc.model.requests.map(({ body }) => JSON.stringify(body));
    expect(first).to.include('mcp_files_list_directory').and.include('mcp_memory_create_entities').and.include('mcp_everything_echo');
    expect(second).to.include('shopping.txt').and.include('Ada').and.include('Echo: hello');
    const { body } = await svc.http.expect(200, 'GET', '/api/tools/mcp_files_list_directory');
    expect(body).to.deep.include({ source: 'mcp', mcp_server: 'files', risk: 'write', replay: 'never' });
  });

  it('T3 store pictures of a result, named in the text and never in it', async () => {
    const { status, body } = await invoke('mcp_everything_get_tiny_image', {});
    expect([status, body.files?.[0]?.content_type]).to.deep.equal([200, 'image/png']);
    expect(body.content)
      .to.match(/Picture: .*\.png \(image\/png/)
      .and.not.include('iVBOR');
    const file = await svc.http.get(`/api/uploads/${body.files[0].file_id}`);
    expect(file.status).to.equal(200);
  });

  it('are of the agents that are given them', async () => {
    const path = `/api/agents/${svc.agent.id}/mcp_servers`;
    const offered = async (): Promise<string> => {
      svc.model.beginAnew({ text: 'ok' });
      await svc.http.expect(200, 'POST', `/api/agents/${svc.agent.id}/message`, { message: 'hi' });
      return JSON.stringify((svc.model.requests[0]?.body as { tools?: unknown } | undefined)?.tools ?? []);
    };
    expect((await svc.http.expect(200, 'GET', path)).body).to.deep.include({ assigned: [], mode: 'all' });
    await svc.http.expect(200, 'PUT', path, { mcp_servers: ['memory'] });
    expect(await offered())
      .to.include('mcp_memory_read_graph')
      .and.not.include('mcp_files_');
    await svc.http.expect(200, 'PUT', path, { mcp_servers: [] });
    expect(await offered()).to.not.include('mcp_memory_read_graph');
    expect((await svc.http.expect(200, 'GET', path)).body.mode).to.equal('none');
    expect((await svc.http.put(path, { mcp_servers: ['nowhere'] })).body.code).to.equal('mcp_unknown_servers');
    await svc.http.expect(200, 'PUT', path, { mcp_servers: ['*'] });
    expect(await offered()).to.include('mcp_files_list_directory');
  });

  it('L2 L3 come back after they die in a call, and the call says how they ended', async () => {
    await add({ name: 'mortal', transport: odd() });
    const { body } = await invoke('mcp_mortal_echo', { text: 'die' });
    expect(body.content ?? body.error).to.match(/ended during this call.*exit code 9/s);
    await stateOf('mortal', 'connected');
    expect((await invoke('mcp_mortal_echo', { text: 'again' })).body.content).to.equal('echo: again');
  });

  it('L3 say with which exit code and words they died at the start', async () => {
    const { body } = await add({ name: 'dying', transport: odd('dies') });
    expect(body.state).to.equal('error');
    expect(body.error).to.match(/exit code 3.*the licence file is missing/s);
    expect((await get('dying')).stderr).to.deep.equal(['fatal: the licence file is missing']);
    expect((await svc.http.post('/api/mcp/servers/dying/reconnect', {})).body).to.include({ status: 'error', id: 'dying' });
    await svc.http.expect(200, 'DELETE', '/api/mcp/servers/dying');
  });

  it('P1 fail the one call whose answer is too large, and pass over lines that are no message', async () => {
    await add({ name: 'noisy', transport: odd('noisy') });
    expect((await invoke('mcp_noisy_echo', { text: 'large' })).body.error).to.match(/more than 16777216 bytes/);
    expect((await invoke('mcp_noisy_echo', { text: 'small' })).body.content).to.equal('echo: small');
  });

  it('L4 wait for a call as long as progress comes, and no longer than their time', async () => {
    await add({ name: 'slow', transport: odd(), timeout_secs: 3 });
    expect((await invoke('mcp_slow_echo', { text: 'progress' })).body.content).to.equal('slow and done');
    expect((await invoke('mcp_slow_echo', { text: 'hang' })).body.error).to.match(/did not answer within 3 s/);
    expect((await invoke('mcp_slow_echo', { text: 'still here' })).body.content).to.equal('echo: still here');
  });

  it('offer tools that they add later, under names that fit, and leave out what nobody can use', async () => {
    await add({ name: 'growing', transport: odd() });
    await invoke('mcp_growing_echo', { text: 'more' });
    await until(async () => (await svc.http.get('/api/tools/mcp_growing_added')).status === 200);
    const { body } = await add({ name: 'Odd.One', transport: odd('odd') });
    expect(body.tools.map(({ tool }: { tool: string }) => tool)).to.have.length(2);
    for (const { tool } of body.tools) expect(tool).to.match(/^mcp_odd_one_[a-z0-9_]{1,52}$/);
    expect(body.warnings).to.have.length(2);
    expect((await get('Odd.One')).suspicious.join()).to.match(/^good: /);
    const none = await add({ name: 'empty', transport: odd('none') });
    expect(none.body.warnings).to.deep.equal(['The server has no tools.']);
  });

  it('E1 get their values from the vault, in variables and arguments, and nobody is shown them', async () => {
    const secret = 'tok-very-secret-value-17';
    await add({ name: 'keyed', transport: odd('plain', ['$', '{TOKEN}'].join('')), env: [`TOKEN=${secret}`] });
    expect((await invoke('mcp_keyed_echo', { text: 'env' })).body.content).to.equal(`${secret}|${secret}`);
    const shown = JSON.stringify([await get('keyed'), (await svc.http.get('/api/mcp/servers')).body]);
    expect(shown).to.include('TOKEN').and.not.include(secret);
    await svc.http.expect(200, 'PUT', '/api/mcp/servers/keyed', { transport: odd('plain'), env: ['TOKEN'] });
    expect((await invoke('mcp_keyed_echo', { text: 'env' })).body.content).to.equal(`${secret}|`);
    await svc.http.expect(200, 'DELETE', '/api/mcp/servers/keyed');
    const again = await add({ name: 'keyed', transport: odd('plain'), env: ['TOKEN'] });
    expect([again.body.state, again.body.error]).to.deep.equal(['setup', 'It needs TOKEN. Set it in the page, or with svc mcp add.']);
  });

  it('E2 are refused where they are a shell, have unknown keys, an impossible name, one that is taken, or lead to cloud metadata', async () => {
    const transport = odd();
    const codes: Record<string, unknown> = {};
    for (const [what, body] of Object.entries({
      shell: { name: 'a', transport: { type: 'stdio', command: '/bin/bash', args: ['-c', 'id'] } },
      unknown: { name: 'a', transport, colour: 'red' },
      slash: { name: 'a/b', transport },
      nameless: { transport },
      nothing: { name: 'a' },
      metadata: { name: 'a', transport: { type: 'http', url: 'http://169.254.169.254/mcp' } },
      taken: { name: 'files', transport },
      template: { template_id: 'githb' },
    })) {
      const { status, body: answer } = await svc.http.post('/api/mcp/servers', body);
      codes[what] = `${status} ${answer.code}`;
    }
    expect(codes).to.deep.equal({
      shell: '400 mcp_bad_spec',
      unknown: '400 invalid_request',
      slash: '400 mcp_bad_spec',
      nameless: '400 mcp_bad_spec',
      nothing: '400 mcp_bad_spec',
      metadata: '400 mcp_bad_spec',
      taken: '409 mcp_exists',
      template: '404 mcp_template_not_found',
    });
  });

  it('S4 are removed with their own values alone, whatever the names of others begin with', async () => {
    const url = 'http://127.0.0.1:9/mcp';
    await add({ name: 'a', transport: odd(), env: ['TOKEN=of-a'], enabled: false });
    await add({ name: 'b', transport: { type: 'http', url }, headers: ['x.env.TOKEN: of-b'], enabled: false });
    for (const name of ['a.header', 'a.env', 'b.header.x']) await add({ name, transport: odd(), env: [`TOKEN=of-${name}`], enabled: false });
    await svc.http.expect(200, 'PUT', '/api/mcp/servers/a', { transport: odd(), enabled: false });
    await svc.http.expect(200, 'DELETE', '/api/mcp/servers/a');
    await svc.http.expect(200, 'DELETE', '/api/mcp/servers/b');
    for (const name of ['a.header', 'a.env', 'b.header.x']) {
      await svc.http.expect(200, 'PUT', `/api/mcp/servers/${name}`, { transport: odd(), env: ['TOKEN'] });
      await stateOf(name, 'connected');
      expect((await invoke(`mcp_${name.replaceAll('.', '_')}_echo`, { text: 'env' })).body.content).to.equal(`of-${name}|`);
    }
    const { body } = await add({ name: 'b', transport: { type: 'http', url }, headers: ['x.env.TOKEN'] });
    expect([body.state, body.error]).to.deep.equal(['setup', 'It needs x.env.token. Set it in the page, or with svc mcp add.']);
    for (const name of ['a.header', 'a.env', 'b.header.x', 'b']) await svc.http.expect(200, 'DELETE', `/api/mcp/servers/${name}`);
  });

  it('L1 hold up nobody while they never answer, and are gone when they are removed', async () => {
    const since = Date.now();
    const adding = add({ name: 'silent', transport: odd('silent') });
    void svc.http.post('/api/mcp/servers', { name: 'late', transport: odd('late') });
    await until(async () => (await svc.http.get('/api/mcp/servers/silent')).body.stderr?.length === 1);
    const [, pid = ''] = /^pid (\d+)$/.exec((await get('silent')).stderr[0]) ?? [];
    expect((await invoke('mcp_memory_read_graph', {})).status).to.equal(200);
    const { body } = await adding;
    expect([body.state, body.tools_count]).to.deep.equal(['connecting', 0]);
    expect(Date.now() - since).to.be.within(9_000, 20_000);
    // The client gives up its first question after ten seconds; the program stays, and is asked the older one.
    await new Promise((done) => setTimeout(done, Math.max(0, since + 12_500 - Date.now())));
    const { status, stderr } = await get('silent');
    expect([status, stderr]).to.deep.equal(['connecting', [`pid ${pid}`]]);
    expect(existsSync(`/proc/${pid}`)).to.equal(true);
    const late = await get('late');
    expect([late.status, late.stderr.length, late.tools_count]).to.deep.equal(['connected', 1, 1]);
    await svc.http.expect(200, 'DELETE', '/api/mcp/servers/late');
    await svc.http.expect(200, 'DELETE', '/api/mcp/servers/silent');
    await until(() => !existsSync(`/proc/${pid}`));
    expect((await svc.http.get('/api/mcp/servers/silent')).status).to.equal(404);
  });

  it('L1 are begun with the older handshake where their program ends at a newer question', async () => {
    await add({ name: 'strict', transport: odd('strict') });
    await stateOf('strict', 'connected');
    expect((await invoke('mcp_strict_echo', { text: 'hello' })).body.content).to.equal('echo: hello');
    await svc.http.expect(200, 'DELETE', '/api/mcp/servers/strict');
  });

  it('P1 P2 flood with lines, notifications and errors, and still answer the call', async () => {
    await add({ name: 'flooding', transport: odd() });
    const flooded = invoke('mcp_flooding_echo', { text: 'flood' });
    expect((await invoke('mcp_memory_read_graph', {})).status).to.equal(200);
    expect((await flooded).body.content).to.equal('echo: flood');
    const { status, stderr } = await get('flooding');
    expect([status, stderr.length]).to.deep.equal(['connected', 200]);
    expect((await invoke('mcp_flooding_echo', { text: 'after it' })).body.content).to.equal('echo: after it');
    await svc.http.expect(200, 'DELETE', '/api/mcp/servers/flooding');
  });

  it('name the missing program and where it comes from', async () => {
    const { body } = await add({ name: 'lost', transport: { type: 'stdio', command: 'no-such-program-17' } });
    expect(body.error).to.match(/no program "no-such-program-17"/);
  });

  it('come from the catalog, and wait for what is missing', async () => {
    const { body } = await svc.http.expect(200, 'GET', '/api/mcp/catalog');
    expect(body.count).to.equal(33);
    const made = await add({ template_id: 'filesystem' });
    expect(made.body).to.include({ status: 'added', state: 'setup', template_id: 'filesystem' });
    expect((await svc.http.expect(200, 'GET', '/api/mcp/catalog/filesystem')).body.installed).to.equal(true);
    const { body: checkUp } = await svc.http.expect(200, 'GET', '/api/mcp/health');
    expect(checkUp.health.find(({ id }: { id: string }) => id === 'files')).to.include({ status: 'connected', consecutive_failures: 0 });
  });

  it('S4 leave nothing behind when they are removed', async () => {
    await svc.http.expect(200, 'DELETE', '/api/mcp/servers/everything');
    expect((await svc.http.get('/api/tools/mcp_everything_echo')).status).to.equal(404);
    expect((await svc.http.get('/api/mcp/servers/everything')).body.code).to.equal('mcp_not_found');
  });
});
