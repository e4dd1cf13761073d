/** The answer of an exchange: a body that is read once, counted, and let go of in every case. */
import { type FetchResponse, isSvcError, type SvcError } from '@svc/api';
import type { Dispatcher } from 'undici';
import { fetchErrors } from '../errors.js';
import type { ExchangeGuard } from './exchange-guard.js';

export interface ResponseContext {
  url: string;
  host: string;
  guard: ExchangeGuard;
  maxBytes: number | undefined;
  /** Called once, when nothing more will be read. */
  onEnd: () => void;
}

export const toResponse = (answer: Dispatcher.ResponseData, context: ResponseContext): FetchResponse => {
  const { host, guard, maxBytes } = context;
  // Undici reports an abort on the stream even when nobody reads it any more.
  answer.body.on('error', () => undefined);
  guard.touch();
  let isEnded = false;
  const finish = (): void => {
    if (isEnded) return;
    isEnded = true;
    guard.done();
    context.onEnd();
  };
  answer.body.once('close', finish);
  const cancel = (): void => {
    guard.done();
    answer.body.destroy();
    finish();
  };
  if (maxBytes !== undefined && Number(answer.headers['content-length'] ?? 0) > maxBytes) {
    cancel();
    throw fetchErrors.too_large(host, maxBytes);
  }
  const body = { [Symbol.asyncIterator]: () => chunks(answer, context, cancel, finish) };
  const text = async (): Promise<string> => {
    const parts: Uint8Array[] = [];
    for await (const chunk of body) parts.push(chunk);
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
  return { status: answer.statusCode, headers: flat(answer.headers), url: context.url, body, text, json, cancel };
};

async function* chunks(answer: Dispatcher.ResponseData, { host, guard, maxBytes }: ResponseContext, cancel: () => void, finish: () => void): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  let isComplete = false;
  try {
    for await (const chunk of answer.body) {
      // The body was never given an encoding, so its pieces are Buffers.
      const piece = chunk as Uint8Array;
      guard.touch();
      bytes += piece.byteLength;
      if (maxBytes !== undefined && bytes > maxBytes) throw fetchErrors.too_large(host, maxBytes);
      yield piece;
    }
    // A destroyed stream can end without an error: half a body is not a body.
    const verdict = guard.verdict();
    if (verdict) throw verdict;
    isComplete = true;
  } catch (error) {
    throw asFetchError(error, host, guard, 0);
  } finally {
    if (isComplete) finish();
    else cancel();
  }
}

const flat = (headers: Dispatcher.ResponseData['headers']): Record<string, string> => {
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
};
