/** The answer of an exchange: a body that is read once, counted, and let go of in every case. */
import { type FetchResponse, isSvcError, type SvcError } from '@svc/api';
import { fetchErrors } from '../errors.js';
import type { ExchangeGuard } from './exchange-guard.js';
import type { Head, Incoming } from './incoming.js';
import { tunnelRefusal } from './proxy-agent.js';

export interface ResponseContext {
  url: string;
  host: string;
  guard: ExchangeGuard;
  maxBytes: number | undefined;
}

export const toResponse = (incoming: Incoming, head: Head, { url, host, guard, maxBytes }: ResponseContext): FetchResponse => {
  const cancel = (): void => incoming.stop(fetchErrors.cancelled(host));
  if (maxBytes !== undefined && Number(head.headers['content-length'] ?? 0) > maxBytes) {
    cancel();
    throw fetchErrors.too_large(host, maxBytes);
  }
  let bytes = 0;
  const count = (piece: Uint8Array): void => {
    bytes += piece.byteLength;
    if (maxBytes !== undefined && bytes > maxBytes) throw fetchErrors.too_large(host, maxBytes);
  };
  const each: FetchResponse['each'] = async (take) => {
    let thrown: { readonly error: unknown } | undefined;
    try {
      await incoming.each((piece) => {
        count(piece);
        try {
          take(piece);
        } catch (error) {
          thrown = { error };
          throw error;
        }
      });
    } catch (error) {
      throw thrown ? thrown.error : asFetchError(error, host, guard, 0);
    }
  };
  const text = async (): Promise<string> => {
    const parts: Uint8Array[] = [];
    await each((piece) => void parts.push(piece));
    return Buffer.concat(parts).toString('utf8');
  };
  const json = async (): Promise<unknown> => {
    const content = await text();
    try {
      return JSON.parse(content);
    } catch (cause) {
      throw fetchErrors.bad_body(host).with({ cause });
    }
  };
  const body = { [Symbol.asyncIterator]: () => pieces(incoming, count, (error) => asFetchError(error, host, guard, 0), cancel) };
  return { status: head.status, headers: flat(head.headers), url, body, each, text, json, cancel };
};

async function* pieces(incoming: Incoming, count: (piece: Uint8Array) => void, named: (error: unknown) => SvcError, cancel: () => void): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of incoming.pieces()) {
      count(piece);
      yield piece;
    }
  } catch (error) {
    throw named(error);
  } finally {
    // Whoever leaves early wants no more of it.
    cancel();
  }
}

const flat = (headers: Head['headers']): Record<string, string> => {
  const out: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) out[name] = Array.isArray(value) ? value.join(', ') : value;
  return out;
};

/** Names the reason by its code alone: the library's texts may repeat what was sent. */
export const asFetchError = (error: unknown, host: string, guard: ExchangeGuard, connectTimeoutMs: number): SvcError => {
  const verdict = guard.verdict();
  if (verdict) return verdict;
  if (isSvcError(error) && error.code.startsWith('fetch_')) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return fetchErrors.timeout(host, connectTimeoutMs, 'connecting').with({ cause: error });
  const refused = tunnelRefusal(error);
  if (refused !== undefined) return fetchErrors.network(host, refused).with({ cause: error });
  if (code === 'UND_ERR_INVALID_ARG') return fetchErrors.bad_request(host, 'method or a header has a form that HTTP does not allow');
  return fetchErrors.network(host, REASONS[code] ?? code).with({ cause: error });
};

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  ENOTFOUND: 'its name is not known',
  EAI_AGAIN: 'its name cannot be looked up at present',
  UND_ERR_SOCKET: 'it closed the connection',
  ETIMEDOUT: 'the connection timed out',
  UND_ERR_SOCKS5: 'the proxy refused the connection',
};
