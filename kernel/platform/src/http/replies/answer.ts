/**
 * The head of every answer and the one way bodies are sent.
 * koa's own respond step is not used: it costs a third of a request, and on errors it drops headers.
 */
import type { ServerResponse } from 'node:http';
import { type ErrorBody, type Headers, isSvcError } from '@svc/api';
import { httpErrors, VERSIONS } from '../errors.js';

/** What an answer's head needs to know of its request. */
export interface Head {
  readonly id: string;
  /** Named in CORS headers when pages from there may read the answer. */
  origin: string | undefined;
}

/** Nothing of a JSON answer may run, even if a browser is made to show it. */
const DATA_POLICY = "default-src 'none'; frame-ancestors 'none'";
/** For pages; one with inline scripts names their hashes in its own header. */
const PAGE_POLICY = [
  "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:",
  "connect-src 'self' ws://localhost:* ws://127.0.0.1:*; font-src 'self'; media-src 'self' blob:; frame-src 'self' blob:",
  "object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'",
].join('; ');
const EXPOSED = 'x-request-id, retry-after, mcp-session-id, x-svc-run, x-svc-session, x-svc-warning, etag';
const RETRY_AFTER_S: Readonly<Record<number, string>> = { 429: '60', 503: '1' };

export const headersOf = (head: Head, contentType: string | undefined, extra: Headers): Record<string, string> => {
  // One literal: it is made for every answer, and copying a constant costs three times as much.
  const headers: Record<string, string> = {
    'x-request-id': head.id,
    'x-api-version': 'v1',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'x-xss-protection': '1; mode=block',
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'strict-origin-when-cross-origin',
    'cache-control': 'no-store, no-cache, must-revalidate',
    'strict-transport-security': 'max-age=63072000; includeSubDomains',
    'content-security-policy': contentType?.startsWith('text/html') ? PAGE_POLICY : DATA_POLICY,
  };
  if (contentType !== undefined) headers['content-type'] = contentType;
  // Texts of the API are English, whatever language was asked for; pages bring several.
  if (contentType?.startsWith('application/json')) headers['content-language'] = 'en';
  if (head.origin !== undefined) {
    headers['access-control-allow-origin'] = head.origin;
    headers['access-control-expose-headers'] = EXPOSED;
    headers.vary = 'Origin';
  }
  for (const name in extra) {
    const value = extra[name];
    const key = name.toLowerCase();
    // The id in the log and the id the client sees are one.
    if (value !== undefined && key !== 'x-request-id') headers[key] = value;
  }
  return headers;
};

export const sendBytes = (res: ServerResponse, head: Head, status: number, contentType: string | undefined, body: string | Uint8Array, extra: Headers): void => {
  const headers = headersOf(head, contentType, extra);
  if (status !== 204 && status !== 304) headers['content-length'] = String(typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength);
  res.writeHead(status, headers);
  res.end(body);
};

export const sendJson = (res: ServerResponse, head: Head, status: number, body: unknown, extra: Headers): void => {
  const text = JSON.stringify(body);
  if (text === undefined) sendBytes(res, head, status, undefined, '', extra);
  else sendBytes(res, head, status, 'application/json; charset=utf-8', text, extra);
};

export interface ErrorAnswer {
  readonly status: number;
  readonly body: ErrorBody;
  readonly headers: Headers;
  /** False when the error was nobody's intention: its cause belongs into the log. */
  readonly isExpected: boolean;
}

/** What a caller sees of an error: what was meant to be shown, else only the request id. */
export const describeError = (error: unknown, requestId: string): ErrorAnswer => {
  const isExpected = isSvcError(error);
  const shown = isExpected ? error : httpErrors.internal_error();
  const retryAfter = RETRY_AFTER_S[shown.status];
  return {
    status: shown.status,
    body: {
      error: shown.message,
      code: shown.code,
      ...(shown.hint === undefined ? {} : { hint: shown.hint }),
      request_id: requestId,
      ...(shown.details === undefined ? {} : { details: shown.details }),
      // The interface has it beside the error.
      ...(shown.status === 406 ? { available: [...VERSIONS] } : {}),
    },
    headers: retryAfter === undefined ? shown.headers : { 'retry-after': retryAfter, ...shown.headers },
    isExpected,
  };
};
