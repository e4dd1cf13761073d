/** @svc/client: calls of the daemon. Streams are in `@svc/client/stream`, the chat socket in `@svc/client/chat`, what changes in `@svc/client/live`. */
export type { Answer } from './answer.js';
export { type CallOptions, type Client, type ClientOptions, createClient, DEFAULT_URL, type KeyedOptions, type OpenAnswer, type OpenOptions, type Rest } from './client.js';
export { AbortedError, ClientError, ConnectionError, type ConnectionFault, NotSvcError, SvcError, TimeoutError } from './errors.js';
export type * from './generated/openapi.js';
export type { CallId, EventOf, InputOf, KeyedId, OperationId, OutputOf, StreamingId } from './operation-types.js';
export type { Operation } from './request.js';
export type { Fetch, FetchAnswer, FetchBody, FetchInit } from './transport.js';
