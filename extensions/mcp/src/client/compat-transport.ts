/**
 * A plain HTTP service as an MCP server: this daemon answers the protocol for it, and each call is one request.
 *
 * C2  No argument leads out of base_url: it fills a part of the path or the query, and a redirect is not followed.
 * C3  An answer of 400 and above is an error of the tool, with the service's own words.
 */
import type { CallToolResult, JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import type { CompatTool, CompatTransport } from '../compat-spec.js';
import { mcpErrors } from '../errors.js';
import { fetchThrough, type HttpDeps } from './http-transport.js';
import { MAX_MESSAGE_BYTES } from './stdio-transport.js';

type Args = Readonly<Record<string, unknown>>;
type Sent = { readonly id?: string | number; readonly method?: string; readonly params?: Readonly<Record<string, unknown>> };

const NO_METHOD = -32_601;
const BAD_PARAMS = -32_602;
const FAILED = -32_603;

export const createCompatTransport = (name: string, spec: CompatTransport, deps: Omit<HttpDeps, 'access'>): Transport => {
  const calls = new Map<unknown, AbortController>();
  const fetch = fetchThrough(deps);
  const answer = async ({ id, method, params = {} }: Sent): Promise<object | undefined> => {
    if (method === 'notifications/cancelled') calls.get(params.requestId)?.abort();
    if (id === undefined) return undefined;
    if (method === 'initialize') return { result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name, version: '1' } } };
    if (method === 'ping') return { result: {} };
    if (method === 'tools/list') return { result: { tools: spec.tools.map(shownTool) } };
    if (method !== 'tools/call') return { error: { code: NO_METHOD, message: `There is no method ${method}.` } };
    const tool = spec.tools.find((one) => one.name === params.name);
    if (!tool) return { error: { code: BAD_PARAMS, message: 'There is no such tool.' } };
    const over = new AbortController();
    calls.set(id, over);
    try {
      return { result: await called(fetch, spec, tool, (params.arguments ?? {}) as Args, over.signal) };
    } catch (error) {
      return { error: { code: FAILED, message: error instanceof Error ? error.message : String(error) } };
    } finally {
      calls.delete(id);
    }
  };
  const transport: Transport = {
    start: async () => undefined,
    send: async (message) => {
      const sent = message as Sent;
      // An answer comes after `send` has ended, as over a wire.
      void answer(sent).then((found) => found && transport.onmessage?.({ jsonrpc: '2.0', id: sent.id, ...found } as JSONRPCMessage));
    },
    close: async () => {
      for (const call of calls.values()) call.abort();
      transport.onclose?.();
    },
  };
  return transport;
};

const shownTool = ({ name, description, input_schema: schema = {} }: CompatTool) => ({ name, description: description ?? '', inputSchema: { ...schema, type: 'object' } });

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** The address of a call, and the arguments that are not part of its path. */
export const addressOfCall = (baseUrl: string, path: string, args: Args): { readonly url: URL; readonly rest: Record<string, unknown> } => {
  const rest: Record<string, unknown> = { ...args };
  const filled = path.replaceAll(/\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_, name: string) => {
    const value = args[name] === undefined || args[name] === null ? '' : textOf(args[name]);
    // A part of one or two dots means the folder above, also where it is encoded.
    if (value === '' || value === '.' || value === '..') throw mcpErrors.bad_spec(`the argument "${name}" is a part of the path, and cannot be ${JSON.stringify(value)}`);
    delete rest[name];
    return encodeURIComponent(value);
  });
  const base = new URL(baseUrl);
  const root = base.pathname.replace(/\/$/, '');
  const url = new URL(`${base.origin}${root}${filled}`);
  if (url.origin !== base.origin || !`${url.pathname}/`.startsWith(`${root}/`)) throw mcpErrors.bad_spec('these arguments lead out of base_url');
  return { url, rest };
};

const called = async (fetch: ReturnType<typeof fetchThrough>, { base_url }: CompatTransport, tool: CompatTool, args: Args, signal: AbortSignal): Promise<CallToolResult> => {
  const { path, method = 'get', response_mode: form = 'text' } = tool;
  const mode = tool.request_mode ?? (method === 'get' || method === 'delete' ? 'query' : 'json_body');
  const { url, rest } = addressOfCall(base_url, path, args);
  if (mode === 'query')
    for (const [key, value] of Object.entries(rest)) for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined && one !== null) url.searchParams.append(key, textOf(one));
  const answer = await fetch(url, {
    method: method.toUpperCase(),
    headers: { accept: form === 'json' ? 'application/json' : '*/*', ...(mode === 'json_body' ? { 'content-type': 'application/json' } : {}) },
    ...(mode === 'json_body' ? { body: JSON.stringify(rest) } : {}),
    redirect: 'manual',
    signal,
  });
  const text = await answer.text();
  if (text.length > MAX_MESSAGE_BYTES) throw mcpErrors.too_large(MAX_MESSAGE_BYTES);
  const said = (content: string, isError: boolean): CallToolResult => ({ content: [{ type: 'text', text: content }], ...(isError ? { isError } : {}) });
  if (answer.status >= 400) return said(`The service answered HTTP ${answer.status}: ${text}`, true);
  if (answer.status >= 300) return said(`The service answered HTTP ${answer.status}, a redirect, which is not followed. Correct base_url or the path of the tool.`, true);
  if (form === 'json' && text !== '' && !isJson(text)) return said(`The service answered something that is no JSON: ${text}`, true);
  return said(text === '' ? `HTTP ${answer.status}, without content` : text, false);
};

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};
