/** What a connected server is asked once in a minute. */
import type { Transport } from '@modelcontextprotocol/client';
import { systemClock } from '@svc/platform/clock/clock';
import { expect } from 'chai';
import { createLiveServer, type LiveDeps } from '../src/client/live-server.js';

interface Message {
  readonly id?: number;
  readonly method?: string;
}

const INITIALIZED = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'old', version: '1' } };

/** Knows the older handshake and its tools, and nothing else. */
const oldServer = (closed: string[]): Transport => {
  const transport: Transport = {
    start: async () => undefined,
    close: async () => {
      closed.push('closed');
      transport.onclose?.();
    },
    send: async (message) => {
      const { id, method } = message as Message;
      if (id === undefined) return;
      const known = method === 'initialize' ? INITIALIZED : method === 'tools/list' ? { tools: [] } : undefined;
      const answer = known === undefined ? { error: { code: -32601, message: `there is no ${method}` } } : { result: known };
      setImmediate(() => transport.onmessage?.({ jsonrpc: '2.0', id, ...answer } as never));
    },
  };
  return transport;
};

describe('a sign of life of an MCP server', () => {
  it('L5 is any answer: one that knows no ping stays connected', async () => {
    const closed: string[] = [];
    const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
    const deps = {
      clock: systemClock(),
      log: silent,
      version: '0',
      schemas: {},
      missing: async () => [],
      transport: async () => oldServer(closed),
      changed: async () => undefined,
    } as unknown as LiveDeps;
    const server = createLiveServer(deps, { name: 'old', transport: { type: 'http', url: 'http://127.0.0.1:1/mcp' }, timeout_secs: 5, env: [], headers: [], enabled: true } as never, []);
    await server.connect();
    expect(server.state().status, server.state().error ?? '').to.equal('connected');
    await server.look();
    expect([server.state().status, closed]).to.deep.equal(['connected', []]);
    await server.stop();
    expect(closed).to.include('closed');
  });
});
