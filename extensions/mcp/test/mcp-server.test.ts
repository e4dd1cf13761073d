/** svc as an MCP server, with the clients that people have. */
import { Client as NewClient, StreamableHTTPClientTransport as NewTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport as OldTransportType } from '@modelcontextprotocol/sdk/shared/transport.js';
import { OPEN_RATE } from '@svc/testing';
import { bootWithModel, type ModelKernel, stopModelKernels, until } from '@svc/test/clients/model-kernel';
import { expect } from 'chai';

const KEY = 'key-of-the-owner-of-this-test';
const INFO = { name: 'a-client', version: '1.0.0' };

describe('svc as an MCP server', function () {
  this.timeout(60_000);
  let svc: ModelKernel;
  let url: string;
  const bearer = { headers: { authorization: `Bearer ${KEY}` } };
  const post = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
    const answer = await fetch(`${url}${path}`, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: typeof body === 'string' ? body : JSON.stringify(body) });
    const text = await answer.text();
    return { status: answer.status, body: text === '' ? undefined : JSON.parse(text) };
  };
  before(async () => {
    svc = await bootWithModel({ text: 'forty-two' }, { config: `api_key = "${KEY}"\n${OPEN_RATE}[tool_invoke]\nenabled = true\nallowlist = ["system_time", "file_list"]\n`, key: KEY });
    url = svc.kernel.daemon.url;
  });
  after(stopModelKernels);

  it('V1 shows the public tools without a key, to programs that know only JSON-RPC', async () => {
    const { status, body } = await post('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' });
    expect([status, body.result.tools.map(({ name }: { name: string }) => name)]).to.deep.equal([200, ['system_time']]);
    const { body: answer } = await post('/mcp', { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'system_time', arguments: {} } });
    expect(answer.result.isError ?? false, JSON.stringify(answer)).to.equal(false);
    expect((await post('/mcp', { jsonrpc: '2.0', id: 3, method: 'tools/call', params: { name: 'file_list', arguments: {} } })).body.error.code).to.equal(-32_602);
    expect((await post('/mcp', { jsonrpc: '2.0', id: 4, method: 'nothing/here' })).body.error.code).to.equal(-32_601);
    expect((await post('/mcp', { jsonrpc: '2.0', method: 'notifications/initialized' })).status).to.equal(202);
  });

  it('V2 asks agents for who has a key, and nobody without one', async () => {
    expect((await post('/api/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' })).status).to.equal(401);
    const { body } = await post(
      '/api/mcp',
      { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'ask_agent', arguments: { agent: svc.agent.name, message: 'the answer?' } } },
      bearer.headers,
    );
    expect(body.result.content[0].text).to.match(/^forty-two\n\n\[session /);
    const { body: lost } = await post('/api/mcp', { jsonrpc: '2.0', id: 3, method: 'tools/call', params: { name: 'ask_agent', arguments: { agent: 'nobody', message: 'hi' } } }, bearer.headers);
    expect(lost.result.isError).to.equal(true);
  });

  it('W1 speaks with the client of the earlier SDK', async () => {
    const client = new OldClient(INFO);
    // Its own declarations differ under exact optional types.
    await client.connect(new OldTransport(new URL(`${url}/api/mcp`), { requestInit: bearer }) as OldTransportType);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).to.deep.equal(['ask_agent', 'file_list', 'system_time']);
    const result = await client.callTool({ name: 'system_time', arguments: {} });
    expect(JSON.stringify(result.content)).to.match(/20\d\d/);
    await client.close();
  });

  it('W1 speaks with the client of the new SDK at its newest revision', async () => {
    const client = new NewClient(INFO, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
    await client.connect(new NewTransport(new URL(`${url}/api/mcp`), { requestInit: bearer }));
    expect(client.getNegotiatedProtocolVersion()).to.equal('2026-07-28');
    const result = await client.callTool({ name: 'ask_agent', arguments: { agent: svc.agent.name, message: 'again?' } });
    expect(JSON.stringify(result.content)).to.include('forty-two');
    await client.close();
  });

  it('V3 reports the progress of an agent, and stops it with the call', async () => {
    const client = new NewClient(INFO, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
    await client.connect(new NewTransport(new URL(`${url}/api/mcp`), { requestInit: bearer }));
    svc.model.beginAnew({ text: 'late', delayMs: 30_000 });
    const heard: string[] = [];
    const over = new AbortController();
    const asked = client.callTool(
      { name: 'ask_agent', arguments: { agent: svc.agent.name, message: 'slowly' } },
      {
        signal: over.signal,
        onprogress: ({ message }) => {
          heard.push(message ?? '');
          if (heard.length === 2) over.abort(new Error('enough'));
        },
      },
    );
    const failure = await asked.catch((error: unknown) => error);
    expect(String(failure)).to.match(/enough|abort/i);
    expect(heard[0]).to.match(new RegExp(`^${svc.agent.name}: `));
    await until(async () => (await svc.http.expect(200, 'GET', '/api/runs?limit=1')).body.runs[0].status === 'cancelled');
    await client.close();
  });

  it('W2 refuses pages of other sites, and a name that was re-pointed', async () => {
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    expect((await post('/mcp', body, { origin: 'https://evil.example' })).status).to.equal(403);
    const own = new URL(url).origin;
    expect((await post('/mcp', body, { origin: own })).status).to.equal(200);
  });
});
