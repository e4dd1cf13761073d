/** The protocols on which the frames of a run leave: server-sent events, the chat socket, and one whole answer. */
import { type Reply, type Streams, SvcError, Type, defineAnswerProjection, defineStreamProjection, reply } from '@svc/api';
import { type RunFrame, RunFrames, Submitted } from '../contract.js';
import { isRestartOf, sseText, wsText } from './frames.js';

/** For a client that comes back: what it is given first, and the attempt which that announces, so that it is not said twice. */
const Missed = Type.Object({ frames: Type.Array(Type.Unsafe<RunFrame>({ type: 'object' })), attempt: Type.Integer() });

export const RunSse = defineStreamProjection('runs.sse', '1.0.0', { format: RunFrames, contentType: 'text/event-stream', args: Type.Union([Type.Undefined(), Missed]) });

export const RunSocket = defineStreamProjection('runs.socket', '1.0.0', {
  format: RunFrames,
  contentType: 'application/json',
  args: Type.Union([Type.Undefined(), Type.Object({ messageId: Type.Optional(Type.String()), announced: Type.Optional(Type.Integer({ description: 'The attempt that was announced already' })) })]),
});

/** A blocking answer need not wait for a person's approval: it says what the run waits for. */
export const RunAnswer = defineAnswerProjection('runs.answer', '1.0.0', { format: RunFrames, args: Submitted });

export const showFrames = (streams: Streams): void => {
  streams.project(RunSse, {
    preamble: (missed) => missed?.frames.map((frame) => sseText(frame) ?? '').join(''),
    encode: (frame, missed) => (missed && isRestartOf(frame, missed.attempt) ? undefined : sseText(frame)),
  });
  streams.project(RunSocket, { encode: (frame, args) => (args && isRestartOf(frame, args.announced) ? undefined : wsText(frame, args?.messageId)) });
  streams.answer(RunAnswer, { until: endsWait, answer: answerOf });
};

export const endsWait = (frame: RunFrame): boolean => frame.final || (frame.type === 'phase' && frame.data.phase === 'waiting');

export function answerOf(frame: RunFrame, submitted: Submitted): Reply {
  if (frame.type === 'error') throw errorOf(frame.data, runHeaders(submitted));
  if (frame.type === 'done') {
    const { provider: _provider, model: _model, ...rest } = frame.data.result;
    return reply(200, { ...rest, run_id: submitted.runId });
  }
  const waiting = { run_id: submitted.runId, approval_id: frame.type === 'phase' ? (frame.data.approval_id ?? '') : '' };
  return reply(200, { response: '', input_tokens: 0, output_tokens: 0, iterations: 0, cost_usd: 0, session_id: submitted.sessionId, run_id: submitted.runId, waiting });
}

export const runHeaders = (submitted: Submitted): Record<string, string> => ({
  'x-svc-run': submitted.runId,
  'x-svc-on-disconnect': submitted.onDisconnect,
  ...(submitted.replayed ? { 'idempotency-replayed': 'true' } : {}),
});

export const errorOf = (data: RunFrames['error'], headers: Readonly<Record<string, string>> = {}): SvcError =>
  new SvcError(data.code, data.error, {
    status: data.status,
    hint: data.hint,
    headers: { ...headers, 'x-should-retry': 'false', ...(data.retry_after_secs ? { 'retry-after': String(data.retry_after_secs) } : {}) },
    ...(data.attempts ? { details: { attempts: data.attempts } } : {}),
  });
