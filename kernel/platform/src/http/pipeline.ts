/**
 * One request from its first header to its answer:
 * boundary → origin → match → admit → authenticate → authorize → body → validation → handler → reply.
 * What is refused before it has matched is charged by the boundary.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Actor, type AtOnce, type Ids, isThenable, type Logger, type Reply, type RouteDecl, type SocketDecl, whenKnown } from '@svc/api';
import { runAs } from '@svc/core';
import type { Context } from 'koa';
import { audited, auditRefusal, type HttpAudit } from './audited.js';
import { type Access, admitOrigin } from './callers/access.js';
import { describeError, type Head, sendBytes, sendJson } from './replies/answer.js';
import { assertJsonType, type BodyRule, DEFAULT_MAX_BODY_BYTES, hasBody, parseJson, readBytes } from './bodies/body.js';
import { type Call, callOf } from './call.js';
import { type CallerHooks, charge, chargedRefusal, identify } from './callers/caller.js';
import { answerStarting } from './connections/early-listener.js';
import { shaped, shapeUnder } from './error-shape.js';
import { httpErrors, VERSIONS } from './errors.js';
import { assertMayPass, assertOpen, type Admission, type WrongKeys } from './callers/admission.js';
import { type Once, answerOnce } from './idempotency.js';
import { createJsonMeasure } from './bodies/json-measure.js';
import { HandlerRequest, parseQuery } from './request.js';
import { matchRoute } from './routes/route-match.js';
import { notServed, type OffExtension } from './not-served.js';
import type { RouteTable, Row } from './routes/route-table.js';
import { sendReply, type SendingDeps } from './replies/send-reply.js';
import { streamBody } from './bodies/streamed-body.js';
import { type RouteChecks, type Validators, validate } from './routes/validators.js';

export interface PipelineDeps extends SendingDeps {
  readonly access: Access;
  readonly hooks: CallerHooks;
  readonly log: Logger;
  readonly ids: Ids;
  readonly admission: () => Admission;
  readonly routes: () => RouteTable<RouteDecl>;
  readonly sockets: () => RouteTable<SocketDecl>;
  /** Keeps answers of routes that are `idempotent`; there once the journal is. */
  readonly once: () => Once | undefined;
  readonly wrongKeys: WrongKeys;
  /** Enters calls in the audit trail; there once the database is. */
  readonly audit: () => HttpAudit | undefined;
  readonly validators: Validators;
  /** Replies are held to their declared schemas: for test kernels, where a wrong shape must not pass. */
  readonly checkReplies: boolean;
  /** The extension that would answer this if it ran. */
  readonly offExtension: OffExtension;
}

/** One request on its way. */
interface Passage {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly head: Head;
  readonly call: Call;
  /** Known once the request has matched a route. */
  row: Row<RouteDecl> | undefined;
}

type Middleware = (ctx: Context) => AtOnce<void>;

/** The outermost: whatever is thrown below becomes an answer here, with its request id. */
export const pipeline =
  (deps: PipelineDeps): Middleware =>
  (ctx) => {
    ctx.respond = false;
    const { req, res } = ctx;
    const passage: Passage = { req, res, head: { id: deps.ids.uuid(), origin: undefined }, call: callOf(req, deps.access), row: undefined };
    try {
      const done = origin(deps, passage);
      return isThenable(done) ? done.catch((refusal: unknown) => answerRefusal(deps, ctx, passage, refusal)) : undefined;
    } catch (refusal) {
      return answerRefusal(deps, ctx, passage, refusal);
    }
  };

async function answerRefusal(deps: PipelineDeps, ctx: Context, { req, res, head, call, row }: Passage, refusal: unknown): Promise<void> {
  const error = await chargedRefusal(deps.hooks, call, req, refusal);
  const answer = describeError(error, head.id);
  if (row) auditRefusal(deps.audit(), row.decl, call, head.id, answer.status);
  if (answer.status >= 500) report(deps.log, ctx, head.id, error, answer.isExpected);
  if (res.headersSent) res.destroy();
  else if (!res.destroyed) {
    const shape = row ? row.decl.errorShape : shapeUnder(deps.routes(), call.path);
    sendJson(res, head, answer.status, shaped(shape, answer.status, answer.body, call.headers, deps.log), answer.headers);
  }
}

function origin(deps: PipelineDeps, passage: Passage): AtOnce<void> {
  const { req, res, head, call } = passage;
  head.origin = admitOrigin(deps.access, req.headers, req.method ?? '', false, call.isSecure);
  if (req.method !== 'OPTIONS' || head.origin === undefined || req.headers['access-control-request-method'] === undefined) return dispatch(deps, passage);
  return whenKnown(charge(deps.hooks, call, req), () =>
    sendBytes(res, head, 204, undefined, '', {
      'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
      'access-control-allow-headers': req.headers['access-control-request-headers'] ?? '*',
      'access-control-max-age': '600',
    }),
  );
}

function dispatch(deps: PipelineDeps, passage: Passage): AtOnce<void> {
  const { req, res, head, call } = passage;
  const admission = deps.admission();
  if (admission.state === 'starting') return answerStarting(req, res, head.id);
  if (admission.state === 'stopping') throw httpErrors.stopping().with({ headers: { connection: 'close' } });
  assertVersion(req);
  const { row, params } = find(deps, call.method, call.path);
  passage.row = row;
  return whenKnown(admitted(deps, admission, row, call, req), (actor) => run(deps, row, new HandlerRequest(head.id, call, actor, params, parseQuery(call.query), deps.log, res), req, res, head, true));
}

/** Whose call it is, if it is one that is taken now. */
function admitted(deps: PipelineDeps, admission: Admission, row: Row<RouteDecl>, call: Call, req: IncomingMessage): AtOnce<Actor> {
  const { hooks, wrongKeys } = deps;
  if (admission.state !== 'closed' || row.decl.auth === 'public') return identify(hooks, row, call, req);
  assertOpen(admission, hooks, row.decl);
  if (hooks.admit.isEmpty()) wrongKeys.assertFew();
  return admittedWhileClosed(deps, admission, row, call, req);
}

async function admittedWhileClosed({ hooks, wrongKeys }: PipelineDeps, admission: Admission, row: Row<RouteDecl>, call: Call, req: IncomingMessage): Promise<Actor> {
  let actor: Actor;
  try {
    actor = await identify(hooks, row, call, req);
  } catch (refusal) {
    wrongKeys.note(refusal);
    throw refusal;
  }
  assertMayPass(admission, row.decl, actor);
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
  throw notServed(deps, method, path);
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

function run(deps: PipelineDeps, row: Row<RouteDecl>, request: HandlerRequest, req: IncomingMessage, res: ServerResponse, head: Head, mayRetry: boolean): AtOnce<void> {
  return row.decl.streamBody ? runWithStream(deps, row, request, req, res, head, mayRetry) : answer(deps, row, request, req, res, head, mayRetry);
}

async function runWithStream(deps: PipelineDeps, row: Row<RouteDecl>, request: HandlerRequest, req: IncomingMessage, res: ServerResponse, head: Head, mayRetry: boolean): Promise<void> {
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

function answer(deps: PipelineDeps, row: Row<RouteDecl>, request: HandlerRequest, req: IncomingMessage, res: ServerResponse, head: Head, mayRetry: boolean): AtOnce<void> {
  const { owner, label } = row;
  const { lifetime } = owner;
  if (lifetime.state !== 'open' || !lifetime.countIn(label)) {
    // The area was replaced since the match: its successor is in the table now, or nobody is.
    const again = mayRetry ? matchRoute(deps.routes(), request.method, request.path) : undefined;
    if (again?.kind === 'row' && again.row.owner !== owner) return answer(deps, again.row, request, req, res, head, false);
    throw httpErrors.reloading(request.path);
  }
  let reply: AtOnce<Reply>;
  try {
    reply = handled(deps, row, request, req);
  } catch (error) {
    lifetime.leave(label);
    throw error;
  }
  const sendOn = (made: Reply): AtOnce<void> => {
    lifetime.leave(label);
    return sendReply(deps, row, request, res, head, made);
  };
  if (!isThenable(reply)) return sendOn(reply);
  return reply.then(sendOn, (error: unknown) => {
    lifetime.leave(label);
    throw error;
  });
}

/** What the area answers to a request that fits its declaration. */
function handled(deps: PipelineDeps, { decl, owner }: Row<RouteDecl>, request: HandlerRequest, req: IncomingMessage): AtOnce<Reply> {
  const isChecked = decl.params ?? decl.query ?? decl.body ?? deps.checkReplies;
  return whenKnown(isChecked ? deps.validators(owner, decl) : undefined, (checks) => {
    if (checks?.params) validate(checks.params, request.params, 'path');
    if (checks?.query) validate(checks.query, request.query, 'query');
    const body = decl.rawBody ? readBytes(req, bodyRule(deps, decl)) : checks?.body ? jsonBody(deps, decl, req, request, checks) : undefined;
    return whenKnown<unknown, Reply>(body, (read) => {
      if (body !== undefined) request.body = read;
      // The row's schemas made params, query and body what its handler declares.
      const reply = audited(deps.audit(), decl, request, () => answerOnce(deps.once(), decl, request, deps.checkReplies, () => runAs(owner, () => decl.handler(request as never))));
      return deps.checkReplies ? whenKnown(reply, (made) => checkedReply(checks, made)) : reply;
    });
  });
}

const checkedReply = (checks: RouteChecks | undefined, reply: Reply): Reply => {
  if (reply.kind === 'json') checks?.reply(reply.status, reply.body);
  return reply;
};

const bodyRule = (deps: PipelineDeps, decl: RouteDecl): BodyRule => {
  const { bodyGraceMs, bodyBytesPerSecond } = deps.limits();
  return { maxBytes: decl.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES, graceMs: bodyGraceMs, bytesPerSecond: bodyBytesPerSecond };
};

async function jsonBody(deps: PipelineDeps, decl: RouteDecl, req: IncomingMessage, request: HandlerRequest, checks: RouteChecks): Promise<unknown> {
  let body: unknown = {};
  if (hasBody(req)) {
    assertJsonType(req);
    const bytes = await readBytes(req, { ...bodyRule(deps, decl), check: createJsonMeasure() });
    if (decl.keepsBytes) request.bytes = bytes;
    if (bytes.length > 0) body = parseJson(bytes);
    else if (decl.bodyRule !== 'optional') throw httpErrors.body_required();
  } else if (decl.bodyRule !== 'optional') throw httpErrors.body_required();
  if (checks.body) validate(checks.body, body, 'body');
  return body;
}

function assertVersion(req: IncomingMessage): void {
  const asked = req.headers.accept?.includes('application/vnd.svc.') ? /application\/vnd\.svc\.(v\d+)/.exec(req.headers.accept)?.[1] : undefined;
  if (asked !== undefined && asked !== 'v1') throw httpErrors.unknown_version(asked).with({ details: { available: VERSIONS } });
}

function report(log: Logger, { method, path }: Context, request: string, error: unknown, isExpected: boolean): void {
  const shown = error instanceof Error ? error : new Error(String(error));
  // A declared 503 without a cause says all it knows in its answer.
  if (isExpected && shown.cause === undefined) return;
  const cause = shown.cause instanceof Error ? (shown.cause.stack ?? shown.cause.message) : shown.cause === undefined ? undefined : String(shown.cause);
  log.error('a request failed', { request, method, path, error: shown.stack ?? shown.message, ...(cause === undefined ? {} : { cause }) });
}
