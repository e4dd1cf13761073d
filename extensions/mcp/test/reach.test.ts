/** What stays reachable behind servers that come and go. */
import { expect } from 'chai';
import { launched, type LaunchDeps } from '../src/client/launch.js';
import { type Opened, reachFrom } from '../src/sign-in/reach.js';

describe('MCP servers at addresses', () => {
  const open = new Set<object>();
  const egress = {
    allow: (url: string) => {
      const entry = { url };
      open.add(entry);
      return { dispose: () => void open.delete(entry) };
    },
  };
  afterEach(() => open.clear());

  it('are reached until their connection is closed, however often they are connected', async () => {
    const deps = { ctx: { egress, fetch: async () => Promise.reject(new Error('nobody is there')) }, given: () => undefined, access: () => ({}) } as unknown as LaunchDeps;
    const spec = { name: 'weather', timeout_secs: 1, env: [], headers: [], enabled: true };
    for (const transport of [
      { type: 'http_compat', base_url: 'http://10.0.0.7/v1', tools: [{ name: 'today', path: '/today' }] },
      { type: 'http', url: 'http://10.0.0.8/mcp' },
      { type: 'sse', url: 'http://10.0.0.9/sse' },
    ] as const) {
      const connection = await launched(deps, { ...spec, transport }, {} as never);
      expect(open.size, transport.type).to.equal(1);
      await connection.close();
      await connection.close();
      expect(open.size, transport.type).to.equal(0);
    }
    await launched(deps, { ...spec, transport: { type: 'http', url: 'http://10.0.0.8/mcp' }, headers: 7 as never }, {} as never).then(
      () => expect.fail('it was opened'),
      () => undefined,
    );
    expect(open.size, 'what could not be opened').to.equal(0);
  });

  it('name no more places to sign in at than are remembered', async () => {
    const opened: Opened = new Map();
    const reach = reachFrom({ egress, fetch: async () => ({}) as never } as never, ['http://10.0.0.7/mcp'], opened);
    for (let port = 1; port <= 200; port += 1) await reach(`http://10.0.0.7:${port}/token`);
    expect([open.size, opened.size, opened.has('http://10.0.0.7:200')]).to.deep.equal([50, 50, true]);
  });
});
