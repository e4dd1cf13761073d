/** Sends what a handler answered, in whichever form it is. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type AtOnce, type Frame, type Headers, isSvcError, type Reply, type RouteDecl } from '@svc/api';
import { runAs } from '@svc/core';
import type { Projections } from '../../streams/projections.js';
import type { StreamsAdmin } from '../../streams/streams.js';
import type { Standing } from '../callers/standing.js';
import { httpErrors } from '../errors.js';
import type { HttpLimits } from '../limits.js';
import type { HandlerRequest } from '../request.js';
import type { Row } from '../routes/route-table.js';
import { type Head, sendBytes, sendJson } from './answer.js';
import type { Followers } from './follow-reply.js';
import { waitForFrame } from './frame-wait.js';
import { sendStream } from './stream-reply.js';

/** A restart takes about as long, in seconds. */
const COME_BACK_S = '5';

export interface SendingDeps {
  readonly streams: StreamsAdmin;
  readonly projections: Projections;
  readonly followers: Followers;
  readonly standing: Standing;
  readonly limits: () => HttpLimits;
}

/** Topics and waits hold no generation: by now its hold is released. Who they are for is validated again when keys or roles change. */
export function sendReply(deps: SendingDeps, row: Row<RouteDecl>, request: HandlerRequest, res: ServerResponse, head: Head, answer: Reply): AtOnce<void> {
  switch (answer.kind) {
    case 'json':
      return sendJson(res, head, answer.status, answer.body, answer.headers);
    case 'bytes':
      return sendBytes(res, head, answer.status, answer.contentType, answer.body, answer.headers);
    case 'stream':
      return sendHeld(deps, row, request, res, head, answer);
    case 'follow':
      return sendTopic(deps, row, request, res, head, answer);
    case 'wait':
      return sendAwaited(deps, row, request, res, head, answer);
  }
}

function sendTopic(deps: SendingDeps, row: Row<RouteDecl>, request: HandlerRequest, res: ServerResponse, head: Head, answer: Extract<Reply, { kind: 'follow' }>): void {
  const encoder = deps.projections.encoder(answer.projection, answer.args);
  if (res.req.method === 'HEAD') {
    sendBytes(res, head, 200, encoder.contentType, '', answer.headers);
    return;
  }
  const stop = deps.followers.start(res, head, { topic: answer.topic, after: answer.after, headers: answer.headers, encoder });
  const left = deps.standing.add({ row, request, req: res.req, end: stop });
  if (res.closed) left();
  else res.once('close', left);
}

/** What an area makes piece by piece keeps its generation; nothing was awaited since the handler's own hold ended. */
async function sendHeld(deps: SendingDeps, row: Row<RouteDecl>, request: HandlerRequest, res: ServerResponse, head: Head, answer: Extract<Reply, { kind: 'stream' }>): Promise<void> {
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

async function sendAwaited(deps: SendingDeps, row: Row<RouteDecl>, request: HandlerRequest, res: ServerResponse, head: Head, answer: Extract<Reply, { kind: 'wait' }>): Promise<void> {
  const last = await answerPatiently(deps, row, request, res.req, answer);
  if (last) await sendReply(deps, row, request, res, head, { ...last, headers: { ...answer.headers, ...last.headers } });
}

/** Undefined when nobody is left to be told. */
async function answerPatiently(deps: SendingDeps, row: Row<RouteDecl>, request: HandlerRequest, req: IncomingMessage, answer: Extract<Reply, { kind: 'wait' }>): Promise<Reply | undefined> {
  const { signal } = request;
  const projection = deps.projections.answer(answer.projection, answer.args);
  const left = deps.standing.add({ row, request, req, end: (refusal) => request.end(refusal) });
  let frame: Frame | undefined;
  try {
    frame = await waitForFrame(deps.streams, answer.topic, projection.until, signal, { lateMs: answer.late?.afterMs, after: answer.after });
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
