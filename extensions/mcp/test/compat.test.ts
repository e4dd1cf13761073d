/** HTTP services that know no MCP, as servers with tools. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { bootWithModel, type ModelKernel, stopModelKernels, until } from '@svc/test/clients/model-kernel';
import { OPEN_RATE } from '@svc/testing';
import { expect } from 'chai';

const SECRET = 'the-key-of-the-weather-17';
const IN_CONFIG = 'the-key-of-the-file-18';
const ofFile = (name: string, more: string) => `[[mcp_servers]]\nname = "${name}"\nenabled = false\n[mcp_servers.transport]\ntype = "stdio"\ncommand = "true"\n${more}`;

describe('HTTP services as MCP servers', function () {
  this.timeout(30_000);
  let svc: ModelKernel;
  let service: Server;
  let base: string;
  const seen: Array<{ readonly method: string | undefined; readonly url: string | undefined; readonly key: unknown; readonly fixed: unknown; readonly body: string }> = [];
  const text = (properties: readonly string[]) => ({ type: 'object', properties: Object.fromEntries(properties.map((name) => [name, { type: 'string' }])) });
  const transport = (more: object = {}) => ({
    type: 'http_compat',
    base_url: `${base}/v1`,
    headers: [
      { name: 'X-Key', value: SECRET },
      { name: 'X-Fixed', value_env: 'FIXED' },
    ],
    tools: [
      { name: 'today', description: 'The weather of a city', path: '/cities/{city}/today', response_mode: 'json', input_schema: { ...text(['city', 'unit']), required: ['city'] } },
      { name: 'report', path: '/reports', method: 'post', input_schema: text(['text']) },
      { name: 'ping', path: '/ping', method: 'delete', request_mode: 'none' },
      { name: 'away', path: '/away' },
      { name: 'prose', path: '/prose', response_mode: 'json' },
      { name: 'slow', path: '/slow' },
    ],
    ...more,
  });
  const invoke = async (tool: string, args: object = {}) => (await svc.http.post(`/api/tools/mcp_weather_${tool}/invoke`, args)).body;
  const add = (body: object) => svc.http.post('/api/mcp/servers', { name: 'weather', ...body });

  before(async () => {
    service = createServer(async (req, res) => {
      let body = '';
      for await (const piece of req) body += String(piece);
      seen.push({ method: req.method, url: req.url, key: req.headers['x-key'], fixed: req.headers['x-fixed'], body });
      const path = req.url?.split('?')[0];
      if (path === '/v1/slow') return;
      if (path === '/v1/away') return void res.writeHead(302, { location: `${base}/elsewhere` }).end();
      if (path === '/v1/prose') return void res.end('no JSON');
      if (path === '/v1/ping') return void res.writeHead(204).end();
      if (path === '/v1/cities/Atlantis/today') return void res.writeHead(404).end('no such city');
      res.end(JSON.stringify({ path, ok: true }));
    });
    await new Promise<void>((done) => service.listen(0, '127.0.0.1', done));
    base = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
    const configured = `[[mcp_servers]]\nname = "configured"\n[mcp_servers.transport]\ntype = "http_compat"\nbase_url = "${base}/v1"\n[[mcp_servers.transport.headers]]\nname = "X-Key"\nvalue = "${IN_CONFIG}"\n[[mcp_servers.transport.tools]]\nname = "ping"\npath = "/ping"\nmethod = "delete"\n`;
    svc = await bootWithModel(undefined, { config: `${OPEN_RATE}[tool_invoke]\nenabled = true\nallowlist = ["*"]\n${configured}${ofFile('free', '')}${ofFile('bounded', '[mcp_servers.sandbox]\n')}` });
    const { status, body } = await add({ transport: transport(), env: ['FIXED=blue'], timeout_secs: 4 });
    expect([status, body.state, body.tools_count, body.url], JSON.stringify(body)).to.deep.equal([201, 'connected', 6, `${base}/v1`]);
  });
  after(async () => {
    await stopModelKernels();
    service.closeAllConnections();
    service.close();
  });

  it('call one operation a tool, with headers from the vault that nobody is shown', async () => {
    expect((await invoke('today', { city: 'São Paulo', unit: 'C' })).content).to.equal('{"path":"/v1/cities/S%C3%A3o%20Paulo/today","ok":true}');
    expect(seen.at(-1)).to.deep.include({ method: 'GET', url: '/v1/cities/S%C3%A3o%20Paulo/today?unit=C', key: SECRET, fixed: 'blue', body: '' });
    await invoke('report', { text: 'rain' });
    expect(seen.at(-1)).to.deep.include({ method: 'POST', url: '/v1/reports', body: '{"text":"rain"}' });
    expect((await invoke('ping', {})).content).to.equal('HTTP 204, without content');
    const { body } = await svc.http.expect(200, 'GET', '/api/mcp/servers/weather');
    expect(body.transport).to.deep.include({ type: 'http_compat', base_url: `${base}/v1`, headers: [{ name: 'X-Key' }, { name: 'X-Fixed', value_env: 'FIXED' }] });
    expect(body.auth_state).to.deep.equal({ state: 'not_required' });
    for (const shown of [body, (await svc.http.get('/api/mcp/servers')).body]) expect(JSON.stringify(shown)).to.not.include(SECRET).and.not.include('blue');
  });

  it('C3 are errors of the tool where the service refuses, redirects, or answers what was not agreed', async () => {
    expect(await invoke('today', { city: 'Atlantis' })).to.deep.include({ is_error: true, content: 'The service answered HTTP 404: no such city' });
    expect((await invoke('away')).content).to.match(/HTTP 302, a redirect, which is not followed/);
    expect(seen.some(({ url }) => url === '/elsewhere')).to.equal(false);
    expect((await invoke('prose')).content).to.match(/no JSON: no JSON/);
    expect((await invoke('slow')).error).to.match(/did not answer within 4 s/);
  });

  it('C2 send nothing beyond base_url, whatever the arguments are', async () => {
    const before = seen.length;
    for (const city of ['..', '.', '']) expect((await invoke('today', { city })).error, city).to.match(/cannot be/);
    expect(seen.length).to.equal(before);
    for (const city of ['../../admin', '..%2f..%2fadmin', '%2e%2e', '?x=1', '#x', '\\..\\admin', '//evil.example']) {
      await invoke('today', { city });
      expect(seen.at(-1)?.url, city).to.match(/^\/v1\/cities\/[^/?#]+\/today$/);
    }
  });

  it('are refused by name where they cannot be', async () => {
    const code = async (more: object) => {
      const { status, body } = await svc.http.post('/api/mcp/servers', { name: 'other', transport: transport(more) });
      return [status, body.code];
    };
    for (const more of [
      { base_url: 'http://169.254.169.254/latest' },
      { base_url: `${base}/v1?key=1` },
      { base_url: 'http://user:secret@example.com' },
      { tools: [{ name: 'out', path: '/../admin' }] },
      { tools: [{ name: 'out', path: '/%2e%2e/admin' }] },
      {
        tools: [
          { name: 'twice', path: '/a' },
          { name: 'twice', path: '/b' },
        ],
      },
      { headers: [{ name: 'X', value: 'a', value_env: 'B' }] },
    ])
      expect(await code(more), JSON.stringify(more)).to.deep.equal([400, 'mcp_bad_spec']);
    for (const more of [{ tools: [] }, { tools: [{ name: 'a', path: 'no-slash' }] }, { colour: 'red' }, { headers: [{ name: 'X', value: 'a\r\nY: b' }] }])
      expect((await code(more))[0], JSON.stringify(more)).to.equal(400);
    expect((await svc.http.post('/api/mcp/servers', { name: 'other', transport: transport(), oauth: { client_id: 'x' } })).body.code).to.equal('mcp_bad_spec');
    expect((await svc.http.post('/api/mcp/servers', { name: 'other', transport: 'http_compat', url: base })).body.error).to.match(/needs \{"transport"/);
  });

  it('are set in config.toml as well, with their headers', async () => {
    await until(async () => (await svc.http.get('/api/mcp/servers/configured')).body.status === 'connected');
    await svc.http.expect(200, 'POST', '/api/tools/mcp_configured_ping/invoke', {});
    expect(seen.at(-1)).to.deep.include({ method: 'DELETE', url: '/v1/ping', key: IN_CONFIG });
    for (const path of ['/api/mcp/servers/configured', '/api/mcp/servers', '/api/config']) expect((await svc.http.expect(200, 'GET', path)).text, path).to.not.include(IN_CONFIG);
  });

  it('of config.toml have a sandbox where the file says so, and else none', async () => {
    const isSandboxed = async (name: string) => (await svc.http.expect(200, 'GET', `/api/mcp/servers/${name}`)).body.sandboxed;
    expect([await isSandboxed('free'), await isSandboxed('bounded')]).to.deep.equal([false, true]);
  });

  it('wait for the value of a header that is missing', async () => {
    const { body } = await svc.http.post('/api/mcp/servers', { name: 'waiting', transport: transport({ headers: [{ name: 'X-Key', value_env: 'NOWHERE_SET_17' }] }) });
    expect([body.state, body.error]).to.deep.equal(['setup', 'It needs NOWHERE_SET_17. Set it in the page, or with svc mcp add.']);
  });
});
