/**
 * What an extension in another process may answer to a request, and what it may see of one.
 *
 * A1  JSON, bytes, or a stream of bytes; nothing that follows topics of the daemon.
 * A2  Of the headers those that describe the answer (channel/answer-headers.ts). Whoever may set a cookie, a policy or a place of connections speaks for
 *     the daemon, not for a route.
 * A3  A browser that shows an answer runs nothing of it and takes it for a page of nobody: it shares the address of svc's own. For the
 *     same reason none is a script or a style sheet: those arrive as plain text, which no page and no worker takes for one.
 * A4  The credentials of a request are the daemon's business: whoever saw them could act as its sender.
 */
import type { Reply } from '@svc/api';
import { describing, isHeader } from '../channel/answer-headers.js';
import { holdsBytes, isAsyncIterable } from '../channel/packed.js';
import { isolationErrors } from '../errors.js';

const CREDENTIALS = new Set(['authorization', 'proxy-authorization', 'cookie', 'x-api-key']);
const STATUS = { least: 200, most: 599 };
/** Whoever opens it in a browser sees it, and no more. */
const SANDBOX = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'";

/** Of a request, as the process may know them. */
export const withoutCredentials = (headers: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string | undefined>> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !CREDENTIALS.has(name.toLowerCase())));

/** Throws `isolation_not_plain` for what no route may answer. */
export const replyOf = (value: unknown): Reply => {
  const reply = (typeof value === 'object' && value !== null ? value : {}) as Partial<Record<string, unknown>>;
  const { kind, status } = reply;
  if (typeof status !== 'number' || !isTexts(reply.headers)) throw isolationErrors.not_plain('an answer without status and headers');
  if (!Number.isInteger(status) || status < STATUS.least || status > STATUS.most) throw isolationErrors.not_plain(`an answer with the status ${status}`);
  const headers = { ...describing(reply.headers), 'content-security-policy': SANDBOX };
  if (kind === 'json') return { kind, status, body: withoutBytes(reply.body), headers };
  if (typeof reply.contentType !== 'string' || !isHeader('content-type', reply.contentType)) throw isolationErrors.not_plain(`an answer of the kind ${String(kind)}`);
  const contentType = inertType(reply.contentType);
  if (kind === 'bytes' && (typeof reply.body === 'string' || reply.body instanceof Uint8Array)) return { kind, status, contentType, body: reply.body, headers };
  if (kind === 'stream' && isAsyncIterable(reply.source)) return { kind, status, contentType, source: bytesOf(reply.source), headers };
  throw isolationErrors.not_plain(`an answer of the kind ${String(kind)}`);
};

/** What a page of this address could run or be drawn with: scripts, modules, styles, and one document out of many. */
const RUNS = /script|wasm|css|xsl|multipart|cache-manifest|x-mixed-replace/i;
const PLAIN_TYPE = /^[a-z0-9!#$&^_.+-]+\/[a-z0-9!#$&^_.+-]+(?:\s*;\s*[a-z0-9-]+=(?:[a-z0-9!#$&^_.+-]+|"[^"\\\r\n]*"))*$/i;
const inertType = (contentType: string): string => (PLAIN_TYPE.test(contentType) && !RUNS.test(contentType) ? contentType : 'text/plain; charset=utf-8');

/** Bytes in JSON are ten times as long, and take the daemon as long to write. */
const withoutBytes = (body: unknown): unknown => {
  if (holdsBytes(body)) throw isolationErrors.not_plain('bytes within JSON');
  return body;
};

const isTexts = (value: unknown): value is Record<string, string> => typeof value === 'object' && value !== null && Object.values(value).every((one) => typeof one === 'string');

async function* bytesOf(source: AsyncIterable<unknown>): AsyncGenerator<Uint8Array> {
  for await (const piece of source) {
    if (typeof piece === 'string') yield Buffer.from(piece, 'utf8');
    else if (piece instanceof Uint8Array) yield piece;
    else throw isolationErrors.not_plain('a stream of something else than bytes');
  }
}
