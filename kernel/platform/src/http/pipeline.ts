/**
 * One request from its first header to its answer:
 * boundary → origin → match → admit → authenticate → authorize → body → validation → handler → reply.
 * What is refused before it has matched is charged by the boundary.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Actor, type Frame, type Headers, type Ids, isSvcError, type Logger, type Reply, type RouteDecl, type SocketDecl } from '@svc/api';
import { runAs } from '@svc/core';
import type { Context, Next } from 'koa';
import type { Projections } from '../streams/projections.js';
import type { StreamsAdmin } from '../streams/streams.js';
import { type Access, admitOrigin } from './callers/access.js';
import { describeError, type Head, sendBytes, sendJson } from './replies/answer.js';
import { assertJsonType, type BodyRule, DEFAULT_MAX_BODY_BYTES, hasBody, parseJson, readBytes } from './bodies/body.js';
import { type Call, callOf } from './call.js';
import { type CallerHooks, charge, chargedRefusal, identify } from './callers/caller.js';
import { answerStarting } from './connections/early-listener.js';
import { shaped, shapeUnder } from './error-shape.js';
import { httpErrors } from './errors.js';
import type { Followers } from './replies/follow-reply.js';
import { waitForFrame } from './replies/frame-wait.js';
import { assertMayPass, assertOpen, type Gate, type WrongKeys } from './callers/gate.js';
import { type Once, answerOnce } from './idempotency.js';
import { createJsonMeasure } from './bodies/json-measure.js';
import type { HttpLimits } from './limits.js';
import { HandlerRequest, parseQuery } from './request.js';
import { matchRoute } from './routes/route-match.js';
import type { RouteTable, Row } from './routes/route-table.js';
import type { Standing } from './callers/standing.js';
import { sendStream } from './replies/stream-reply.js';
import { streamBody } from './bodies/streamed-body.js';
import { type RouteChecks, type Validators, validate } from './routes/validators.js';

/** A restart takes about as long, in seconds. */
const COME_BACK_S = '5';

export interface PipelineDeps {
  readonly access: Access;
  readonly hooks: CallerHooks;
  readonly log: Logger;
  readonly ids: Ids;
  readonly streams: StreamsAdmin;
  readonly projections: Projections;
  readonly gate: () => Gate;
  readonly routes: () => RouteTable<RouteDecl>;
  readonly sockets: () => RouteTable<SocketDecl>;
  readonly followers: Followers;
  readonly standing: Standing;
  /** Keeps answers of routes that are `idempotent`; there once the journal is. */
  readonly once: () => Once | undefined;
  readonly wrongKeys: WrongKeys;
  readonly validators: Validators;
  readonly limits: () => HttpLimits;
  /** Replies are held to their declared schemas: for test kernels, where a wrong shape must not pass. */
  readonly checkReplies: boolean;
}

/** What koa's middleware hand on. */
interface RequestState {
  head: Head & { origin: string | undefined };
  call: Call;
  /** Known once the request has matched a route. */
  row?: Row<RouteDecl>;
}

type Middleware = (ctx: Context, next: Next) => Promise<void>;

export const pipeline = (deps: PipelineDeps): Middleware[] => [boundary(deps), origin(deps), dispatch(deps)];

/** The outermost: whatever is thrown below becomes an answer here, with its request id. */
const boundary =
  (deps: PipelineDeps): Middleware =>
  async (ctx, next) => {
    ctx.respond = false;
    const state: RequestState = { head: { id: deps.ids.uuid(), origin: undefined }, call: callOf(ctx.req, deps.access) };
    ctx.state = state;
    try {
      await next();
    } catch (refusal) {
      const error = await chargedRefusal(deps.hooks, state.call, ctx.req, refusal);
      const answer = describeError(error, state.head.id);
      if (answer.status >= 500) report(deps.log, ctx, state.head.id, error, answer.isExpected);
      if (ctx.res.headersSent) ctx.res.destroy();
      else if (!ctx.res.destroyed) {
        const shape = state.row ? state.row.decl.errorShape : shapeUnder(deps.routes(), state.call.path);
        sendJson(ctx.res, state.head, answer.status, shaped(shape, answer.status, answer.body, state.call.headers, deps.log), answer.headers);
      }
    }
  };

const origin =
  (deps: PipelineDeps): Middleware =>
  async (ctx, next) => {
    const { req, res } = ctx;
    const { head, call } = ctx.state as RequestState; // set by the boundary
    head.origin = admitOrigin(deps.access, req.headers, req.method ?? '', false);
    if (req.method !== 'OPTIONS' || head.origin === undefined || req.headers['access-control-request-method'] === undefined) return next();
    await charge(deps.hooks, call, req);
    sendBytes(res, head, 204, undefined, '', {
      'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
      'access-control-allow-headers': req.headers['access-control-request-headers'] ?? '*',
      'access-control-max-age': '600',
    });
  };

const dispatch =
  (deps: PipelineDeps): Middleware =>
  async (ctx) => {
    const { req, res } = ctx;
    const state = ctx.state as RequestState; // set by the boundary
    const { head, call } = state;
    const gate = deps.gate();
    if (gate.state === 'starting') return answerStarting(req, res, head.id);
    if (gate.state === 'stopping') throw httpErrors.stopping().with({ headers: { connection: 'close' } });
    assertVersion(req);
    const found = find(deps, call.method, call.path);
    state.row = found.row;
    const actor = await admitted(deps, gate, found.row, call, req);
    const request = new HandlerRequest(head.id, call, actor, found.params, parseQuery(call.query), deps.log, res);
    await run(deps, found.row, request, req, res, head, true);
  };

/** Whose call it is, if it is one that is taken now. */
async function admitted(deps: PipelineDeps, gate: Gate, row: Row<RouteDecl>, call: Call, req: IncomingMessage): Promise<Actor> {
  const { hooks, wrongKeys } = deps;
  if (gate.state !== 'closed' || row.decl.auth === 'public') return identify(hooks, row, call, req);
  assertOpen(gate, hooks, row.decl);
  if (hooks.admit.isEmpty()) wrongKeys.assertFew();
  const actor = await identify(hooks, row, call, req).catch((refusal: unknown) => {
    wrongKeys.note(refusal);
    throw refusal;
  });
  assertMayPass(gate, row.decl, actor);
  return actor;
}

function find(deps: PipelineDeps, method: string, path: string): { row: Row<RouteDecl>; params: Record<string, string> } {
  const match = matchRoute(deps.routes(), method, path);
  if (match.kind === 'row') return match;
  if (match.kind === 'encoding') throw httpErrors.bad_path_encoding();
  const socket = method === 'GET' ? matchRoute(deps.sockets(), 'GET', path) : undefined;
  if (socket?.kind === 'row') return { row: plainRow(socket.row), params: socket.params };
  if (match.kind === 'method') throw httpErrors.method_not_allowed(method, path).with({ headers: { allow: match.allow.join(', ') } });
  const known = matchRoute(deps.sockets(), 'GET', path);
  if (known.kind === 'row') throw httpErrors.method_not_allowed(method, path).with({ headers: { allow: 'GET' } });
  throw httpErrors.not_found(path);
}

/** A GET of a socket's path without an upgrade gets the errors an upgrade would get, and at last the hint to make one. */
const plainRow = (row: Row<SocketDecl>): Row<RouteDecl> => ({
  ...row,
  decl: {
    ...row.decl,
    method: 'GET',
    responses: {},
    handler: async (given) => {
      // Sockets take their parameters as text, as the match gave them.
      const req = given as Parameters<SocketDecl['upgrade']>[0];
      await row.decl.upgrade(req);
      throw httpErrors.upgrade_required(req.path).with({ headers: { upgrade: 'websocket', connection: 'Upgrade' } });
    },
  },
});

async function run(deps: PipelineDeps, row: Row<RouteDecl>, request: HandlerRequest, req: IncomingMessage, res: ServerResponse, head: Head, mayRetry: boolean): Promise<void> {
  if (!row.decl.streamBody) return answer(deps, row, request, req, res, head, mayRetry);
  const { signal } = row.owner.lifetime;
  const body = streamBody(req, bodyRule(deps, row.decl), { signal, why: () => httpErrors.reloading(request.path) });
  request.stream = body;
  try {
    await answer(deps, row, request, req, res, head, mayRetry);
  } finally {
    // Not before the answer is sent: it may be made of the body.
    body.leave();
  }
}

async function answer(deps: PipelineDeps, row: Row<RouteDecl>, request: HandlerRequest, req: IncomingMessage, res: ServerResponse, head: Head, mayRetry: boolean): Promise<void> {
  const { decl, owner } = row;
  const leave = owner.lifetime.enter(row.label);
  if (!leave) {
    // The area was replaced since the match: its successor is in the table now, or nobody is.
    const again = mayRetry ? matchRoute(deps.routes(), request.method, request.path) : undefined;
    if (again?.kind === 'row' && again.row.owner !== owner) return answer(deps, again.row, request, req, res, head, false);
    throw httpErrors.reloading(request.path);
  }
  let reply: Reply;
  let checks: RouteChecks | undefined;
  try {
    if (decl.params || decl.query || decl.body || deps.checkReplies) {
      const made = deps.validators(owner, decl);
      checks = made instanceof Promise ? await made : made;
    }
    if (checks?.params) validate(checks.params, request.params, 'path');
    if (checks?.query) validate(checks.query, request.query, 'query');
    if (decl.rawBody) request.body = await readBytes(req, bodyRule(deps, decl));
    else if (checks?.body) request.body = await jsonBody(deps, decl, req, checks);
    // The row's schemas made params, query and body what its handler declares.
    reply = await answerOnce(deps.once(), decl, request, deps.checkReplies, () => runAs(owner, () => decl.handler(request as never)));
  } finally {
    leave();
  }
  if (deps.checkReplies && reply.kind === 'json') checks?.reply(reply.status, reply.body);
  await send(deps, row, request, res, head, reply);
}

const bodyRule = (deps: PipelineDeps, decl: RouteDecl): BodyRule => {
  const { bodyGraceMs, bodyBytesPerSecond } = deps.limits();
  return { maxBytes: decl.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES, graceMs: bodyGraceMs, bytesPerSecond: bodyBytesPerSecond };
};

async function jsonBody(deps: PipelineDeps, decl: RouteDecl, req: IncomingMessage, checks: RouteChecks): Promise<unknown> {
  let body: unknown = {};
  if (hasBody(req)) {
    assertJsonType(req);
    const bytes = await readBytes(req, { ...bodyRule(deps, decl), judge: createJsonMeasure() });
    if (bytes.length > 0) body = parseJson(bytes);
    else if (decl.bodyRule !== 'optional') throw httpErrors.body_required();
  } else if (decl.bodyRule !== 'optional') throw httpErrors.body_required();
  if (checks.body) validate(checks.body, body, 'body');
  return body;
}

/** Topics and waits hold no generation: by now its hold is released. Who they are for is judged again when keys or roles change. */
async function send(deps: PipelineDeps, row: Row<RouteDecl>, request: HandlerRequest, res: ServerResponse, head: Head, answer: Reply): Promise<void> {
  if (answer.kind === 'json') sendJson(res, head, answer.status, answer.body, answer.headers);
  else if (answer.kind === 'bytes') sendBytes(res, head, answer.status, answer.contentType, answer.body, answer.headers);
  else if (answer.kind === 'stream') await sendHeld(deps, row, request, res, head, answer);
  else if (answer.kind === 'follow') {
    if (res.req.method !== 'HEAD') {
      const stop = deps.followers.start(res, head, { topic: answer.topic, after: answer.after, headers: answer.headers, encoder: deps.projections.encoder(answer.projection, answer.args) });
      const left = deps.standing.add({ row, request, req: res.req, end: stop });
      if (res.closed) left();
      else res.once('close', left);
      return;
    }
    sendBytes(res, head, 200, deps.projections.encoder(answer.projection, answer.args).contentType, '', answer.headers);
  } else {
    const last = await answerPatiently(deps, row, request, res.req, answer);
    if (!last) return;
    await send(deps, row, request, res, head, { ...last, headers: { ...answer.headers, ...last.headers } });
  }
}

/** What an area makes piece by piece keeps its generation; nothing was awaited since the handler's own hold ended. */
async function sendHeld(deps: PipelineDeps, row: Row<RouteDecl>, request: HandlerRequest, res: ServerResponse, head: Head, answer: Extract<Reply, { kind: 'stream' }>): Promise<void> {
  const { owner } = row;
  const leave = owner.lifetime.enterAnyway(`${row.label} (stream)`);
  if (!leave) throw httpErrors.reloading(request.path);
  const left = deps.standing.add({ row, request, req: res.req, end: () => res.destroy() });
  const { bodyGraceMs, bodyBytesPerSecond } = deps.limits();
  const patienceMs = (bytes: number): number => bodyGraceMs + (bytes / bodyBytesPerSecond) * 1_000;
  try {
    await sendStream(res, head, answer, { patienceMs, stopped: owner.lifetime.signal, enter: (fn) => runAs(owner, fn) });
  } finally {
    left();
    leave();
  }
}

/** Undefined when nobody is left to be told. */
async function answerPatiently(deps: PipelineDeps, row: Row<RouteDecl>, request: HandlerRequest, req: IncomingMessage, answer: Extract<Reply, { kind: 'wait' }>): Promise<Reply | undefined> {
  const { signal } = request;
  const projection = deps.projections.answer(answer.projection, answer.args);
  const left = deps.standing.add({ row, request, req, end: (refusal) => request.end(refusal) });
  let frame: Frame | undefined;
  try {
    frame = await waitForFrame(deps.streams, answer.topic, projection.until, signal, answer.late?.afterMs);
  } catch (error) {
    if (!signal.aborted) throw namedError(error, answer.headers);
    if (isSvcError(error)) throw error;
    return undefined;
  } finally {
    left();
  }
  return frame ? projection.answer(frame) : answer.late?.reply;
}

/** Who waited in vain is told what it waited for, and when to ask again. */
const namedError = (error: unknown, headers: Headers): unknown => (isSvcError(error) && error.retry ? error.with({ headers: { ...headers, 'retry-after': COME_BACK_S } }) : error);

function assertVersion(req: IncomingMessage): void {
  const asked = req.headers.accept?.includes('application/vnd.svc.') ? /application\/vnd\.svc\.(v\d+)/.exec(req.headers.accept)?.[1] : undefined;
  if (asked !== undefined && asked !== 'v1') throw httpErrors.unknown_version(asked).with({ details: { available: ['v1'] } });
}

function report(log: Logger, ctx: Context, request: string, error: unknown, isExpected: boolean): void {
  const shown = error instanceof Error ? error : new Error(String(error));
  // A declared 503 without a cause says all it knows in its answer.
  if (isExpected && shown.cause === undefined) return;
  const cause = shown.cause instanceof Error ? (shown.cause.stack ?? shown.cause.message) : shown.cause === undefined ? undefined : String(shown.cause);
  log.error('a request failed', { request, method: ctx.method, path: ctx.path, error: shown.stack ?? shown.message, ...(cause === undefined ? {} : { cause }) });
}
