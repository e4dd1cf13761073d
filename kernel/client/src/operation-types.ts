/** The types of calls, read from the generated types of the document. */
import type { operations } from './generated/openapi.js';
import type { OPERATIONS } from './generated/operations.js';
import type { FetchBody } from './transport.js';

export type OperationId = keyof typeof OPERATIONS & keyof operations;

type Given<T> = [Exclude<T, undefined>] extends [never] ? unknown : Exclude<T, undefined>;
type PathOf<O> = O extends { parameters: { path?: infer P } } ? Given<P> : unknown;
type QueryOf<O> = O extends { parameters: { query?: infer Q } } ? Given<Q> : unknown;

type BodyContent<C> = C extends { 'application/json': infer J } ? J : FetchBody;
type BodyOf<O> = O extends { requestBody: { content: infer C } }
  ? { body: BodyContent<C> }
  : O extends { requestBody?: infer R }
    ? Exclude<R, undefined> extends { content: infer C }
      ? { body?: BodyContent<C> }
      : unknown
    : unknown;
type Flat<T> = { [K in keyof T]: T[K] };

/** What an operation takes: the parameters of path and query by their names, and `body`. */
export type InputOf<Id extends OperationId> = Flat<PathOf<operations[Id]> & QueryOf<operations[Id]> & BodyOf<operations[Id]>>;

type Success = 200 | 201 | 202 | 203 | 204 | 205 | 206;
type SuccessOf<O> = O extends { responses: infer R } ? { [S in keyof R & Success]: R[S] }[keyof R & Success] : never;
type ContentOf<A> = A extends { content: infer C }
  ? [Exclude<C, undefined>] extends [never]
    ? undefined
    : C extends { 'application/json': infer J }
      ? J
      : keyof C extends `text/${string}`
        ? string
        : Uint8Array
  : undefined;

/** What an operation answers: JSON as its type, text as a string, other bytes as they are, nothing as undefined. */
export type OutputOf<Id extends OperationId> = ContentOf<SuccessOf<operations[Id]>>;

type EventsOf<A> = A extends { content: { 'text/event-stream': ReadonlyArray<infer E> } } ? E : never;
/** An event without a name has the one that the standard gives it. */
type Typed<E> = E extends { event: infer T; data: infer D }
  ? { readonly type: T; readonly id: string | undefined; readonly data: D }
  : E extends { data: infer D }
    ? { readonly type: 'message'; readonly id: string | undefined; readonly data: D }
    : never;

/** The events of an operation that streams: looking at `type` tells what `data` is. */
export type EventOf<Id extends OperationId> = Typed<EventsOf<SuccessOf<operations[Id]>>>;
/** Operations that answer with events. */
export type StreamingId = { [Id in OperationId]: [EventOf<Id>] extends [never] ? never : Id }[OperationId];
/** Operations that answer at once. */
export type CallId = {
  [Id in OperationId]: SuccessOf<operations[Id]> extends { content: infer C } ? ([Exclude<C, undefined>] extends [never] ? Id : keyof C extends 'text/event-stream' ? never : Id) : Id;
}[OperationId];
/** Operations that take an Idempotency-Key. */
export type KeyedId = { [Id in OperationId]: (typeof OPERATIONS)[Id] extends readonly [string, string, 'key'] ? Id : never }[OperationId];
