/** What the document says of answers: each status, what it means, and the headers that come with it. */
import { ErrorBody, type MediaAnswer, type RouteDecl, type SocketDecl, type TSchema } from '@svc/api';
import type { Json, Plain } from './openapi-schemas.js';

interface Described {
  readonly description: string;
  readonly headers: Json;
  readonly content?: Json;
}

interface Reason {
  /** Of the shared answer. */
  readonly name: string;
  readonly says: string;
}

const REASONS: Readonly<Record<number, Reason>> = {
  400: { name: 'BadRequest', says: 'The request is invalid' },
  401: { name: 'Unauthorized', says: 'The API key is missing or wrong' },
  403: { name: 'Forbidden', says: 'The caller may not do this, or not from there' },
  404: { name: 'NotFound', says: 'It does not exist' },
  406: { name: 'NotAcceptable', says: 'The Accept header names a version that there is not' },
  408: { name: 'RequestTimeout', says: 'The body came too slowly' },
  409: { name: 'Conflict', says: 'The request conflicts with the current state' },
  412: { name: 'PreconditionFailed', says: "Something must be set first, such as a provider's key" },
  413: { name: 'ContentTooLarge', says: 'The body is too large' },
  415: { name: 'UnsupportedMediaType', says: 'The body is not of the type that this call takes' },
  426: { name: 'UpgradeRequired', says: 'This path speaks WebSocket' },
  429: { name: 'TooManyRequests', says: 'The rate limit is exceeded; Retry-After says for how many seconds' },
  500: { name: 'InternalError', says: 'Internal error; the log has the cause under the request id' },
  503: { name: 'Unavailable', says: 'Unavailable: the daemon is starting, stopping or closed. Retry-After says when to try again, in seconds' },
};

/** Headers that answers have in common, listed once. */
export const HEADERS: Json = {
  RequestId: { description: 'The id of this request, as the log names it: `svc logs --request <id>`', schema: { type: 'string', format: 'uuid' }, example: '0d1f6f0a-4f6c-4b4e-9f57-0c7f4f1f2a61' },
  RetryAfter: { description: 'Seconds to wait before the same request may succeed', schema: { type: 'integer', minimum: 0 }, example: 60 },
};

const EVERY: Json = { 'x-request-id': { $ref: '#/components/headers/RequestId' } };
const COME_BACK: Json = { ...EVERY, 'retry-after': { $ref: '#/components/headers/RetryAfter' } };
const headersOf = (status: number): Json => (status === 429 || status === 503 ? COME_BACK : EVERY);

const placeOf = (name: string): string => `#/components/responses/${name}`;

/** Refusals that are the same wherever they come from, as far as `paths` refers to them. */
export const sharedAnswers = (plain: Plain, paths: string): Json =>
  Object.fromEntries(Object.entries(REASONS).flatMap(([status, { name, says }]) => (paths.includes(`"${placeOf(name)}"`) ? [[name, refusal(plain, Number(status), says)]] : [])));

const refusal = (plain: Plain, status: number, description: string): Described => ({ description, headers: headersOf(status), content: { 'application/json': { schema: plain(ErrorBody) } } });

const failure = (plain: Plain, status: number): Json | Described => {
  const reason = REASONS[status];
  return reason ? { $ref: placeOf(reason.name) } : refusal(plain, status, 'Refused');
};

/** Any call may meet these, whatever it does. */
const ALWAYS = [403, 406, 429, 500, 503];
const ofBody = (decl: RouteDecl): number[] => (decl.body ? [400, 408, 413, 415] : decl.rawBody || decl.streamBody ? [400, 408, 413] : []);
const bearerOnly = (decl: RouteDecl | SocketDecl): number[] => (decl.auth === 'bearer' ? [401] : []);

export const socketAnswers = (plain: Plain, decl: SocketDecl): Json => {
  const responses: Json = { 101: { description: 'Switching to WebSocket', headers: EVERY }, '2XX': { description: 'Never answered: the connection becomes a WebSocket' } };
  for (const status of [400, ...bearerOnly(decl), 404, 426, ...ALWAYS]) responses[status] = failure(plain, status);
  return responses;
};

export const routeAnswers = (plain: Plain, decl: RouteDecl): Json => {
  const responses: Json = {};
  for (const [status, declared] of Object.entries(decl.responses)) {
    responses[status] = isMerelyRefused(Number(status), declared) ? failure(plain, Number(status)) : answerOf(plain, Number(status), declared, status === '200' ? decl.streamed : undefined);
  }
  const takesInput = decl.params !== undefined || decl.query !== undefined;
  const usual = [...(takesInput ? [400] : []), ...ofBody(decl), ...bearerOnly(decl), ...(decl.path.includes('{') ? [404] : []), ...ALWAYS];
  for (const status of usual) responses[status] ??= failure(plain, status);
  return responses;
};

const isMerelyRefused = (status: number, declared: TSchema | MediaAnswer): boolean =>
  !isMedia(declared) && status in REASONS && declared['x-name'] === ErrorBody['x-name'] && declared.description === undefined;

const answerOf = (plain: Plain, status: number, declared: TSchema | MediaAnswer, streamed: MediaAnswer | undefined): Described => {
  const answer = success(plain, status, declared);
  return streamed ? { ...answer, description: `${answer.description}; or ${streamed.description}`, content: { ...answer.content, ...mediaOf(plain, streamed) } } : answer;
};

const success = (plain: Plain, status: number, declared: TSchema | MediaAnswer): Described => {
  const headers = headersOf(status);
  if (isMedia(declared)) return { description: declared.description, headers, content: mediaOf(plain, declared) };
  const description = declared.description ?? REASONS[status]?.says ?? (status < 300 ? 'Success' : 'Refused');
  if (status === 204 || status === 304) return { description, headers };
  if (status > 300 && status < 400) return { description, headers: { ...headers, location: { description: 'Where to go next', schema: { type: 'string' } } } };
  return { description, headers, content: { 'application/json': { schema: plain(declared) } } };
};

const isMedia = (declared: TSchema | MediaAnswer): declared is MediaAnswer => 'contentType' in declared;

const mediaOf = (plain: Plain, { contentType, events }: MediaAnswer): Json => ({ [contentType]: { schema: events ? streamOf(plain, events) : { type: 'string' } } });

/** A stream as the list of its events, which is how OpenAPI 3.2 reads sequential media types; 3.1 has no word for it. */
const streamOf = (plain: Plain, events: Readonly<Record<string, TSchema>>): Json => {
  const [first, ...others] = Object.entries(events).map(([name, data]) => ({
    type: 'object',
    required: [...(name === '' ? [] : ['event']), 'data'],
    properties: { ...(name === '' ? {} : { event: { const: name } }), id: { type: 'string' }, data: plain(data) },
  }));
  return {
    type: 'array',
    description: 'The events in the order they come; `data` is sent as one line of JSON, `id` names a place from which Last-Event-ID resumes',
    items: others.length === 0 ? first : { oneOf: [first, ...others] },
  };
};
