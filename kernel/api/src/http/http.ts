/** Routes and sockets: one declaration gives validation, types, OpenAPI, the auth rule, the rate cost and the audit mark. */
import type { Actor } from '../actor.js';
import type { AtOnce } from '../at-once.js';
import type { Logger } from '../adapters.js';
import type { Admission } from '../kernel-hooks.js';
import type { AuditCategory } from '../declare/audit.js';
import type { AnswerProjection, FramesDecl, StreamProjection } from '../declare/frames.js';
import { type Plain, declaredAs } from '../declare/plain.js';
import type { RunSubject } from '../journal.js';
import type { Headers, JsonReply, LateReply, MediaReply, Reply } from './reply.js';
import type { SendingPage } from './sending-page.js';
import type { ErrorBody, Infer, Static, TObject, TSchema } from '../schema/schema.js';
import type { Write } from '../storage.js';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface Req<P = unknown, Q = unknown, B = unknown> {
  readonly id: string;
  readonly method: Method;
  readonly path: string;
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  /** Of a route with `streamBody`: the bytes as they come, read once; empty for others. Throws `body_too_large`, `body_too_slow`, `body_aborted`, or `reloading` when the area stops meanwhile. */
  readonly stream: AsyncIterable<Uint8Array>;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly actor: Actor;
  /** The caller's address, after trusted proxies. */
  readonly ip: string;
  /** By what callers are counted: an IPv4 address, or the /64 around an IPv6 one. */
  readonly network: string;
  /** It left its client over https, by the word of a trusted proxy. */
  readonly isSecure: boolean;
  readonly page: SendingPage;
  /** Of a route that is `idempotent`: writes that keep this answer under the caller's key, to be committed with the effect. None where the caller brought no key. Name the agent or the conversation that the answer is about, so that it is deleted with them. */
  receipt(answer: Reply, about?: RunSubject): readonly Write[];
  /** Of a route with `keepsBytes`: the bytes that `body` was read from; empty for others. */
  readonly bytes: Uint8Array;
  /** Aborted when the caller goes away. */
  readonly signal: AbortSignal;
  readonly log: Logger;
}

/** One JSON value. In a route's handler it fits what `responses` declares for its status. */
export const reply = <const S extends number, const B>(status: S, body: B, headers: Headers = {}): JsonReply<S, B> => ({ kind: 'json', status, body, headers });

export const bytes = (status: number, contentType: string, body: string | Uint8Array, headers: Headers = {}): MediaReply => ({ kind: 'bytes', status, contentType, body, headers });

/**
 * Answers with the bytes of `source` as fast as the client takes them, and ends `source` when the client leaves or takes nothing for a while.
 * It holds the generation: a reload waits up to `drainMs` for its end and then, as a stop of the daemon does, hangs up, so that half an answer never looks like a whole one.
 * What `source` throws before its first byte is an error answer; later it hangs up too. A `content-length` among the headers is kept to.
 */
export const stream = (status: number, contentType: string, source: AsyncIterable<Uint8Array>, headers: Headers = {}): MediaReply => ({ kind: 'stream', status, contentType, source, headers });

/** Answers with the frames of a topic as they come. The stream belongs to the platform: it survives a reload of the area that answered. */
export const follow = <D extends FramesDecl, A extends TSchema>(
  topic: string,
  projection: StreamProjection<D, A>,
  args: Plain<A>,
  options: { after?: string | number; headers?: Headers } = {},
): Extract<Reply, { kind: 'follow' }> => ({ kind: 'follow', topic, projection: declaredAs(projection), args, after: options.after ?? 0, headers: options.headers ?? {} });

/** Answers when the topic's final frame comes, or an earlier one that the projection takes, or with `late` when none did in time; holds no generation meanwhile. */
export const waitFor = <D extends FramesDecl, A extends TSchema>(
  topic: string,
  projection: AnswerProjection<D, A>,
  args: Plain<A>,
  /** `after`: the id of the last frame that is known; without it, the newest frame counts as well. */
  options: { headers?: Headers; late?: LateReply; after?: string } = {},
): MediaReply => ({
  kind: 'wait',
  topic,
  projection: declaredAs(projection),
  args,
  headers: options.headers ?? {},
  ...(options.late ? { late: options.late } : {}),
  ...(options.after === undefined ? {} : { after: options.after }),
});

/** How the errors of a route look to some of its callers, where a protocol has its own form. Must be pure: it may outlive the generation that made it. */
export interface ErrorShape {
  /** A path prefix that belongs to the protocol: what no route answers below it is refused in the same form. */
  readonly under?: string;
  /** The body for a caller with these headers; undefined means the usual one. */
  body(status: number, error: ErrorBody, headers: Readonly<Record<string, string | undefined>>): unknown;
}

export type AuthRule = 'public' | 'bearer';

/** An answer that is not one JSON value. */
export interface MediaAnswer {
  readonly description: string;
  readonly contentType: string;
  /** Of `text/event-stream`: the data of each event by the event's name; the empty name is for events without one. */
  readonly events?: Readonly<Record<string, TSchema>>;
}

export interface RouteDecl {
  /** The operationId: camelCase, the verb first (`listAgents`); never renamed. */
  readonly id: string;
  readonly method: Method;
  /** `/api/agents/{id}`; `{*rest}` takes the remainder of the path. */
  readonly path: string;
  /** A few words, as a list of operations shows them. */
  readonly summary: string;
  /** What a person should know before the first call, in Markdown: effects, limits, side effects. */
  readonly description?: string;
  /** Example bodies by purpose; each must match `body`. Use about three for operations that people write by hand. */
  readonly examples?: Readonly<Record<string, unknown>>;
  readonly auth: AuthRule;
  /**
   * The same `Idempotency-Key` with the same body gets the same answer, and the effect happens once: the handler commits
   * `req.receipt(answer)` with it. The same key with another body is refused with 409. Only JSON answers are kept.
   */
  readonly idempotent?: boolean;
  /** What the caller's role must allow, `<area>.<read|write|admin|send>`. */
  readonly permission: string;
  /** Rate-limit tokens a call takes. */
  readonly cost: number;
  /** Also answers an owner or admin while a security extension is missing, to diagnose it or switch it on again. Default false. */
  readonly repairs?: boolean;
  /** Event type of the audit entry of a success: object, then action (`agent_spawned`). */
  readonly audit?: string;
  /** Where `[audit] required` names it, the call is entered before the handler runs, and refused (`audit_unavailable`) when that fails. Needs `audit`. */
  readonly auditCategory?: AuditCategory;
  readonly params?: TObject;
  readonly query?: TObject;
  /** Documents the request headers that it reads, in addition to `Authorization` and the `Idempotency-Key` of `idempotent`; the handler validates them. */
  readonly headers?: TObject;
  readonly body?: TSchema;
  /** `optional` accepts a missing body as `{}`. */
  readonly bodyRule?: 'required' | 'optional';
  /** `req.bytes` gives the bytes of the JSON body too: senders sign those. */
  readonly keepsBytes?: boolean;
  /**
   * Callers that this route alone knows, such as the holder of a token: asked before everybody else. Undefined leaves the answer to the other ways to sign in.
   * Never with `public`. Needs the grant `callers`; code in another process has none.
   */
  readonly callers?: (request: Admission) => AtOnce<Actor | undefined>;
  /** `body` arrives as the bytes that were sent (Uint8Array), of any content type: uploads, signed webhooks. Instead of a `body` schema. */
  readonly rawBody?: boolean;
  /** `req.stream` gives the body as it comes, of any content type: uploads larger than memory. Instead of a `body` schema; `maxBodyBytes` is validated while it is read. */
  readonly streamBody?: boolean;
  /** For a route with `rawBody` or `streamBody`: accepted bodies by content type, for the documentation only; not used for validation. */
  readonly takes?: Readonly<Record<string, TSchema>>;
  /** What the body may hold at most; default 256 KiB. */
  readonly maxBodyBytes?: number;
  readonly responses: Readonly<Record<number, TSchema | MediaAnswer>>;
  /** The other form of its 200, for callers that ask for a stream. */
  readonly streamed?: MediaAnswer;
  /** Left out, errors are `{error, code, hint?, request_id, details?}`. */
  readonly errorShape?: ErrorShape;
  readonly handler: (req: Req<never, never, never>) => AtOnce<Reply>;
}

export type Responses = RouteDecl['responses'];

/** The type of a schema's value before it becomes JSON: optional fields may also be undefined, which JSON omits. */
export type BodyOf<T> = T extends (infer Item)[] ? readonly BodyOf<Item>[] : T extends object ? { readonly [K in keyof T]: object extends Pick<T, K> ? BodyOf<T[K]> | undefined : BodyOf<T[K]> } : T;

/** A status without a body, such as 304, is declared as null and answered with nothing. */
type Sent<T> = [T] extends [null] ? null | undefined : BodyOf<T>;

type JsonReplies<R extends Responses> = { readonly [S in keyof R & number]: R[S] extends TSchema ? JsonReply<S, Sent<Static<R[S]>>> : never };

/** What a handler of a route with these responses may answer: JSON of a declared status and shape, or no JSON. */
export type RouteReply<R extends Responses> = (number extends keyof R ? JsonReply : JsonReplies<R>[keyof R & number]) | MediaReply;

export interface RouteSpec<P extends TObject | undefined, Q extends TObject | undefined, B extends TSchema | undefined, R extends Responses = Responses>
  extends Omit<RouteDecl, 'params' | 'query' | 'body' | 'responses' | 'handler'> {
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  readonly responses: R;
  readonly handler: (req: Req<Infer<P>, Infer<Q>, Infer<B>>) => AtOnce<RouteReply<NoInfer<R>>>;
}

export const defineRoute = <P extends TObject | undefined = undefined, Q extends TObject | undefined = undefined, B extends TSchema | undefined = undefined, R extends Responses = Responses>(
  spec: RouteSpec<P, Q, B, R>,
): RouteDecl =>
  // The pipeline hands the handler exactly what params, query and body validated.
  spec as unknown as RouteDecl;

/** What the kernel keeps per socket. It outlives reloads of the area; `state` is the area's own, plain data. */
export interface Connection {
  readonly id: string;
  /** Who it is now: validated with each message and when keys or roles change, so ask each time. */
  readonly actor: Actor;
  readonly ip: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly state: Record<string, unknown>;
  readonly log: Logger;
  /** What was sent and the client has not taken yet. Whoever can leave something out, or join it, looks before it sends more. */
  readonly unsentBytes: number;
  /** Sends a text as it is, anything else as JSON; a client that reads too slowly is closed. */
  send(frame: unknown): void;
  /** Pumps a topic's frames to this socket until its final frame or the socket's end: `follow` says which and how. */
  follow(reply: Extract<Reply, { kind: 'follow' }>): void;
  close(code: number, reason: string): void;
}

/** Handlers are looked up by `id` for every message, so a reload takes over open sockets. */
export interface SocketDecl {
  readonly id: string;
  readonly path: string;
  readonly summary: string;
  /** What a person should know before the first frame, in Markdown. */
  readonly description?: string;
  readonly auth: AuthRule;
  readonly permission: string;
  readonly cost: number;
  /** Rate-limit tokens of one client frame. */
  readonly messageCost?: number;
  readonly maxFrameBytes?: number;
  /** Documents the parameters of the path; `upgrade` validates them. */
  readonly params?: TObject;
  /** Documents the query; `upgrade` validates it. */
  readonly query?: TObject;
  /** Runs before the handshake: throw an error to refuse with its status. May return the first `state`. Asked again, with its `state` unused, when the caller's role has become less. */
  upgrade(req: Req<Record<string, string>, Record<string, string>, undefined>): Promise<Record<string, unknown> | undefined>;
  opened?(conn: Connection): void | Promise<void>;
  message(conn: Connection, text: string): void | Promise<void>;
  closed?(conn: Connection): void | Promise<void>;
}

export const defineSocket = (decl: SocketDecl): SocketDecl => decl;
