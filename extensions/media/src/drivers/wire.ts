/**
 * One HTTP exchange with a provider.
 *
 * W1  A request goes to the provider's base URL and nowhere else, with its key in a header that only the adapter fills.
 * W2  What a provider says of a refused key is never shown: it may quote the key. Other texts lose what looks like one.
 * W3  A file that a provider names by its address is downloaded below its base URL, else from the public web.
 */
import { type FetchInit, type FetchResponse, isSvcError, isTable } from '@svc/api';
import { mediaErrors } from '../errors.js';
import type { Json, MadeFile, Target, Wire, WireRequest } from './driver.js';

/** A file of a provider, or an answer with files in base64. */
const MAX_BYTES = 100 * 1_048_576;
const MAX_REFUSAL = 16_384;

/** Whether the provider answered, and so nothing was made. */
export const wasRefused = (error: unknown): boolean =>
  isSvcError(error) && ['media_unauthorized', 'media_rate_limited', 'media_content_refused', 'media_rejected', 'media_credit'].includes(error.code);

export const createWire = (fetch: (url: string, init: FetchInit) => Promise<FetchResponse>): Wire => {
  const send = async (target: Target, request: WireRequest): Promise<FetchResponse> => {
    const { method = 'POST', body, keyHeader = 'authorization' } = request;
    const raw = isRaw(body) ? body : undefined;
    const init: FetchInit = {
      purpose: 'model',
      method,
      headers: { accept: '*/*', ...(body === undefined ? {} : { 'content-type': raw?.type ?? 'application/json' }), ...request.headers },
      ...(body === undefined ? {} : { body: raw?.bytes ?? JSON.stringify(body) }),
      ...(target.secret === null ? {} : { secretHeaders: { [keyHeader]: keyHeader === 'authorization' ? { ...target.secret, prefix: 'Bearer ' } : target.secret } }),
      timeoutMs: target.timeoutMs,
      maxBytes: MAX_BYTES,
      ...(target.signal ? { signal: target.signal } : {}),
    };
    return answered(target, () => fetch(urlOf(target, request), init));
  };
  return {
    json: async (target, request) => jsonOf(target, await send(target, request)),
    bytes: async (target, request) => fileOf(target, await send(target, request)),
    download: async (target, url) => {
      const base = new URL(target.baseUrl);
      const at = URL.canParse(url) ? new URL(url) : undefined;
      if (!at || !/^https?:$/.test(at.protocol)) throw mediaErrors.upstream_failed(target.provider, 'it named no address of a file');
      const isOwn = at.origin === base.origin && at.pathname.startsWith(`${base.pathname.replace(/\/$/, '')}/`);
      // The address is a secret of its own kind; no key goes with it.
      const init: FetchInit = { purpose: isOwn ? 'model' : 'tool', ...(isOwn ? { timeoutMs: target.timeoutMs } : {}), maxBytes: MAX_BYTES, ...(target.signal ? { signal: target.signal } : {}) };
      return fileOf(target, await answered(target, () => fetch(at.href, init)));
    },
  };
};

const isRaw = (body: WireRequest['body']): body is { readonly type: string; readonly bytes: Uint8Array } => body !== undefined && body.bytes instanceof Uint8Array;

const urlOf = ({ baseUrl }: Target, { path, query = {}, base = baseUrl }: WireRequest): string => {
  const url = new URL(`${base.replace(/\/$/, '')}${path}`);
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, String(value));
  return url.href;
};

const answered = async ({ provider }: Target, ask: () => Promise<FetchResponse>): Promise<FetchResponse> => {
  let response: FetchResponse;
  try {
    response = await ask();
  } catch (error) {
    throw transportError(provider, error);
  }
  if (response.status >= 200 && response.status < 300) return response;
  throw refusal(provider, response.status, await refusalText(response));
};

/** Sockets, names, deadlines. A key that cannot be read is not about the provider. */
const transportError = (provider: string, error: unknown): unknown => {
  if (!isSvcError(error) || !error.code.startsWith('fetch_')) return error;
  return mediaErrors.upstream_failed(provider, plain(error.message)).with({ cause: error });
};

const refusalText = async (response: FetchResponse): Promise<string> => {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const piece of response.body) {
      pieces.push(piece);
      bytes += piece.byteLength;
      if (bytes >= MAX_REFUSAL) break;
    }
  } catch {
    // What came of it is enough.
  }
  return Buffer.concat(pieces).toString('utf8').slice(0, MAX_REFUSAL);
};

const refusal = (provider: string, status: number, text: string): Error => {
  const said = saidIn(text) || `status ${status}`;
  if (status === 401 || status === 403 || /API key not valid|API_KEY_INVALID|invalid[ _]api[ _]key/i.test(text)) return mediaErrors.unauthorized(provider);
  if (status === 402 || /insufficient_quota|quota_exceeded|insufficient balance/i.test(text)) return mediaErrors.credit(provider);
  if (status === 429) return mediaErrors.rate_limited(provider);
  if (/content[ _]policy|content[ _]filter|safety|moderation|sensitive/i.test(text) && status < 500) return mediaErrors.content_refused(provider, said);
  if (status >= 400 && status < 500) return mediaErrors.rejected(provider, said);
  return mediaErrors.upstream_failed(provider, said);
};

/** The message of an error in any of the usual forms. */
const saidIn = (text: string): string => {
  try {
    const body: unknown = JSON.parse(text);
    return plain(messageIn(body, 0) ?? '');
  } catch {
    return /^\s*</.test(text) ? '' : plain(text);
  }
};

const messageIn = (value: unknown, depth: number): string | undefined => {
  if (typeof value === 'string') return value;
  if (!isTable(value) || depth > 3) return undefined;
  for (const name of ['message', 'error', 'detail', 'status_msg', 'base_resp']) {
    const found = messageIn(value[name], depth + 1);
    if (found !== undefined && found !== '') return found;
  }
  return undefined;
};

/** One line, without what may be a key. */
export const plain = (text: string): string =>
  text
    .replaceAll(/[\s\p{C}]+/gu, ' ')
    .replaceAll(/[A-Za-z0-9_-]{20,}/g, '…')
    .trim()
    .slice(0, 300);

const jsonOf = async (target: Target, response: FetchResponse): Promise<Json> => {
  try {
    const body = await response.json();
    if (isTable(body)) return body;
  } catch (error) {
    if (isSvcError(error)) throw transportError(target.provider, error);
    throw mediaErrors.upstream_failed(target.provider, 'its answer is no JSON').with({ cause: error });
  }
  throw mediaErrors.upstream_failed(target.provider, 'its answer is no JSON object');
};

const fileOf = async (target: Target, response: FetchResponse): Promise<MadeFile> => {
  const pieces: Uint8Array[] = [];
  try {
    await response.each((piece) => void pieces.push(piece));
  } catch (error) {
    throw transportError(target.provider, error);
  }
  const data = Buffer.concat(pieces);
  if (data.byteLength === 0) throw mediaErrors.upstream_failed(target.provider, 'it sent an empty file');
  return { data, type: response.headers['content-type'] };
};
