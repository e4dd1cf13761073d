/**
 * svc as an MCP server over HTTP: /mcp for everybody, /api/mcp for those with a key.
 *
 * W1  Revisions 2024-11-05 to 2025-11-25 without sessions, and 2026-07-28. A client that accepts no stream of events gets plain JSON, also without a handshake.
 * W2  A page reaches /mcp only from this machine's own address, or where cors_origins names it: a page whose name was re-pointed here has another one.
 */
import { type Actor, bytes, isSvcError, type RouteDecl, routeGroup, stream, type MediaReply, Type } from '@svc/api';
import { mcpErrors } from '../errors.js';
import type { Caller } from './served-prompts.js';
import { callOffered, LISTS, NOT_FOUND, offered, type ServedDeps, serverFor } from './served-tools.js';

const route = routeGroup({ area: 'mcp' });
const MAX_BODY_BYTES = 4 * 1_048_576;
const COST = 10;
const JSON_TYPE = 'application/json';

export type McpRouteDeps = ServedDeps;

const Body = Type.Object(
  { jsonrpc: Type.Optional(Type.Unknown({ description: '`2.0`' })), method: Type.Optional(Type.Unknown({ description: 'Such as `tools/list`' })) },
  { additionalProperties: true, description: 'JSON-RPC 2.0: a request or a notification' },
);
const Answer = Type.Unknown({ description: 'JSON-RPC 2.0' });

const EXAMPLES = {
  'list the tools': { jsonrpc: '2.0', id: 1, method: 'tools/list' },
  'call a tool': { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'system_time', arguments: {} } },
  begin: { jsonrpc: '2.0', id: 0, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'example', version: '1' } } },
};

interface Asked {
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: unknown;
  readonly signal: AbortSignal;
  readonly actor: Actor;
}

export const mcpRoutes = (deps: McpRouteDeps): RouteDecl[] => [
  route({
    id: 'callPublicMcp',
    method: 'POST',
    path: '/mcp',
    summary: 'Speak MCP without a key',
    description: 'svc as an MCP server for everybody who reaches it: the tools of `[mcp] public_tools` and nothing else. With a key, use `/api/mcp`.',
    auth: 'public',
    permission: 'mcp.send',
    cost: COST,
    body: Body,
    bodyRule: 'optional',
    examples: EXAMPLES,
    maxBodyBytes: MAX_BODY_BYTES,
    errors: [403],
    responses: { 200: Answer, 202: Answer },
    handler: ({ headers, body, signal, actor, page }) => {
      refuseOtherSites(headers, page === 'named');
      return served(deps, undefined, { headers, body, signal, actor });
    },
  }),
  route({
    id: 'callMcp',
    method: 'POST',
    path: '/api/mcp',
    summary: 'Speak MCP',
    description:
      'svc as an MCP server: `ask_agent` for each of your agents, for owners and admins the tools that `[tool_invoke]` allows, your conversations and the files of your agents as resources, and templates of agents as prompts. Streamable HTTP of the revisions 2024-11-05 to 2025-11-25, without sessions, and 2026-07-28.',
    permission: 'mcp.send',
    cost: COST,
    body: Body,
    bodyRule: 'optional',
    examples: { ...EXAMPLES, 'ask an agent': { jsonrpc: '2.0', id: 3, method: 'tools/call', params: { name: 'ask_agent', arguments: { agent: 'assistant', message: 'hello' } } } },
    maxBodyBytes: MAX_BODY_BYTES,
    errors: [403],
    responses: { 200: Answer, 202: Answer },
    handler: ({ headers, body, signal, actor }) => served(deps, actor, { headers, body, signal, actor }),
  }),
];

const served = async (deps: McpRouteDeps, caller: Caller, asked: Asked): Promise<MediaReply> => {
  const { actor } = asked;
  if (!(asked.headers.accept ?? '').includes('text/event-stream')) {
    const plain = await plainAnswer(deps, caller, asked);
    if (plain) return plain;
  }
  const { createMcpHandler } = await import('@modelcontextprotocol/server');
  const handler = createMcpHandler(() => serverFor(deps, caller, actor), { legacy: 'stateless' });
  const request = new Request('http://svc.invalid/mcp', { method: 'POST', headers: textHeaders(asked.headers), body: JSON.stringify(asked.body), signal: asked.signal });
  return replyOf(await handler.fetch(request, { parsedBody: asked.body }));
};

const LOCAL = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/i;

/** A name that leads to this machine is the only one that a rebound name cannot have. Programs send no origin. */
const refuseOtherSites = ({ host = '', origin }: Asked['headers'], isNamed: boolean): void => {
  if (origin === undefined || isNamed) return;
  if (!LOCAL.test(host) || origin.replace(/^https?:\/\//, '').toLowerCase() !== host.toLowerCase()) throw mcpErrors.other_site(origin.slice(0, 200));
};

const textHeaders = (headers: Asked['headers']): Record<string, string> =>
  Object.fromEntries(
    ['accept', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name', 'mcp-session-id', 'last-event-id'].flatMap((name) =>
      headers[name] === undefined ? [] : [[name, headers[name] ?? '']],
    ),
  );

/** A client that knows only JSON-RPC: no handshake, no stream. Undefined for what the protocol's own handler answers. */
const plainAnswer = async (deps: McpRouteDeps, caller: Caller, { body, signal, actor }: Asked): Promise<MediaReply | undefined> => {
  const { id, method, params, jsonrpc } = (body ?? {}) as { id?: unknown; method?: unknown; params?: Record<string, unknown>; jsonrpc?: unknown };
  if ((params?._meta as Record<string, unknown> | undefined)?.['io.modelcontextprotocol/protocolVersion'] !== undefined) return undefined;
  const result = (value: unknown): MediaReply => bytes(200, JSON_TYPE, JSON.stringify({ jsonrpc: '2.0', id: id ?? null, result: value }));
  const refused = (code: number, message: string): MediaReply => bytes(200, JSON_TYPE, JSON.stringify({ jsonrpc: '2.0', id: id ?? null, error: { code, message } }));
  if (jsonrpc !== '2.0' || typeof method !== 'string') return refused(-32_600, 'This is no request of JSON-RPC 2.0: it needs "jsonrpc": "2.0" and "method".');
  if (id === undefined) return bytes(202, JSON_TYPE, '');
  if (method === 'initialize')
    return result({
      protocolVersion: typeof params?.protocolVersion === 'string' && KNOWN.has(params.protocolVersion) ? params.protocolVersion : LATEST,
      capabilities: { tools: {}, resources: {}, prompts: {} },
      serverInfo: { name: 'svc', version: deps.version },
    });
  if (method === 'ping') return result({});
  if (method === 'tools/list') return result({ tools: await offered(deps, caller) });
  if (Object.hasOwn(LISTS, method)) {
    try {
      const found = await LISTS[method as keyof typeof LISTS](deps, caller, params ?? {});
      return found ? result(found) : refused(method === 'resources/read' ? -32_002 : -32_602, NOT_FOUND);
    } catch (error) {
      if (!isSvcError(error) || error.status >= 500) throw error;
      return refused(-32_602, error.message);
    }
  }
  if (method !== 'tools/call') return refused(-32_601, `There is no method ${method.slice(0, 100)}.`);
  const name = params?.name;
  const answer = typeof name === 'string' ? await callOffered(deps, caller, name, (params?.arguments ?? {}) as Record<string, unknown>, actor, { signal }) : undefined;
  return answer ? result(answer) : refused(-32_602, `There is no tool ${String(name).slice(0, 100)}.`);
};

const LATEST = '2025-11-25';
const KNOWN = new Set(['2024-11-05', '2025-03-26', '2025-06-18', LATEST]);

const replyOf = async (answer: Response): Promise<MediaReply> => {
  const type = answer.headers.get('content-type') ?? JSON_TYPE;
  if (type.includes('text/event-stream') && answer.body) return stream(answer.status, type, answer.body as unknown as AsyncIterable<Uint8Array>);
  return bytes(answer.status, type, await answer.text());
};
