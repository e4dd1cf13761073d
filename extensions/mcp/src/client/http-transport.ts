/**
 * An MCP server at an address: its requests go through the fetch adapter, with the headers of the server from the vault.
 *
 * H1  No answer, and no single event of a stream, is larger than the limit; the call that it belongs to fails.
 */
import { ReadableStream } from 'node:stream/web';
import type { Transport } from '@modelcontextprotocol/client';
import type { ExtensionContext, FetchInit, FetchResponse, SecretRef } from '@svc/api';
import { mcpErrors } from '../errors.js';
import { MAX_MESSAGE_BYTES } from './stdio-transport.js';

/** A server may have nothing to say for long; a network that dropped the connection says nothing either. */
const IDLE_MS = 600_000;

export interface HttpDeps {
  readonly fetch: ExtensionContext['fetch'];
  /** From the vault. */
  readonly secretHeaders: Readonly<Record<string, SecretRef & { prefix?: string }>>;
  /** From config.toml. */
  readonly headers: Readonly<Record<string, string>>;
  /** Of a person who signed in. A header of the entry itself goes before it. */
  readonly access?: Access;
  /** Answered with 401, or with 403 for want of rights: its header says where to sign in. */
  refused(challenge: string): void;
}

/** The token of a sign-in. */
export interface Access {
  /** The one to use now, refreshed if it is about to end. */
  current(): Promise<{ readonly header: SecretRef & { prefix?: string }; readonly serial: number } | undefined>;
  /** The server refused this one. False: a person has to sign in. Throws `mcp_unavailable` while the authority is away. */
  renew(serial: number): Promise<boolean>;
}

export const createHttpTransport = async (type: 'http' | 'sse', url: string, deps: HttpDeps): Promise<Transport> => {
  const { SSEClientTransport, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const options = { fetch: fetchThrough(deps) };
  return type === 'sse' ? new SSEClientTransport(new URL(url), options) : new StreamableHTTPClientTransport(new URL(url), options);
};

type Fetch = (input: string | URL, init?: RequestInit) => Promise<Response>;

export const fetchThrough =
  ({ fetch, secretHeaders, headers, access, refused }: HttpDeps): Fetch =>
  async (input, init = {}) => {
    const send = (token: Awaited<ReturnType<Access['current']>>): Promise<FetchResponse> =>
      fetch(String(input), {
        purpose: 'server',
        method: init.method ?? 'GET',
        headers: { ...Object.fromEntries(new Headers(init.headers)), ...headers },
        secretHeaders: { ...(token ? { authorization: token.header } : {}), ...secretHeaders },
        idleTimeoutMs: IDLE_MS,
        redirect: init.redirect === 'manual' || init.redirect === 'error' ? 'manual' : 'follow',
        ...(typeof init.body === 'string' ? { body: init.body } : {}),
        ...(init.signal ? { signal: init.signal } : {}),
      } satisfies FetchInit);
    const token = await access?.current();
    let answer = await send(token);
    if (answer.status === 401 && token && (await access?.renew(token.serial))) {
      answer.cancel();
      answer = await send(await access?.current());
    }
    const challenge = answer.headers['www-authenticate'] ?? '';
    if (answer.status === 401 || (answer.status === 403 && /insufficient_scope/.test(challenge))) refused(challenge);
    return responseOf(answer);
  };

const NO_BODY = new Set([101, 204, 205, 304]);

const responseOf = (answer: FetchResponse): Response => {
  const { status, headers } = answer;
  if (NO_BODY.has(status)) {
    answer.cancel();
    return new Response(null, { status, headers });
  }
  return new Response(ReadableStream.from(limited(answer)) as unknown as globalThis.ReadableStream<Uint8Array>, { status, headers });
};

/** Of a stream of events each line counts for itself. */
async function* limited({ body, headers }: FetchResponse): AsyncGenerator<Uint8Array> {
  const isStream = (headers['content-type'] ?? '').includes('text/event-stream');
  let bytes = 0;
  for await (const piece of body) {
    const end = isStream ? piece.lastIndexOf(10) : -1;
    bytes = end < 0 ? bytes + piece.byteLength : piece.byteLength - end - 1;
    if (bytes > MAX_MESSAGE_BYTES) throw mcpErrors.too_large(MAX_MESSAGE_BYTES);
    yield piece;
  }
}
