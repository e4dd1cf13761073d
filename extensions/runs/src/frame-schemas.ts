/** The data of a run's events, for whoever writes a client: the shapes of contract.ts, as they leave over SSE. */
import { type MediaAnswer, OneOf, type TSchema, Type, Uuid } from '@svc/api';
import type { RunFrames } from './contract.js';

/** What every answer of a run says, whatever the door. */
export const answerFields = {
  response: Type.String(),
  input_tokens: Type.Integer(),
  output_tokens: Type.Integer(),
  iterations: Type.Integer(),
  cost_usd: Type.Number(),
  session_id: Uuid,
};

const Result = Type.Object({
  ...answerFields,
  finish: OneOf(['stop', 'length', 'content_filter', 'cancelled']),
  provider: Type.String({ description: 'Who answered, after `default` and fallbacks were resolved' }),
  model: Type.String(),
});

const Attempt = Type.Object({
  provider: Type.String(),
  model: Type.String(),
  status: OneOf(['ok', 'error']),
  errorClass: Type.Optional(Type.String()),
  message: Type.Optional(Type.String()),
  httpStatus: Type.Optional(Type.Integer()),
  latencyMs: Type.Number(),
  waitedMs: Type.Number({ description: 'Before the next attempt' }),
});

const Phase = Type.Object({
  phase: OneOf(['queued', 'thinking', 'waiting', 'restarted', 'command'], { description: '`restarted` voids the text after the last tool event' }),
  detail: Type.Optional(Type.String()),
  attempt: Type.Optional(Type.Integer()),
  approval_id: Type.Optional(Type.String()),
});
const Chunk = Type.Object({ content: Type.String(), done: Type.Literal(false) });
const ToolUse = Type.Object({ tool: Type.String(), id: Type.String() });
const ToolResult = Type.Object({
  tool: Type.String(),
  id: Type.String(),
  input: Type.Unknown({ description: 'What the tool was called with, as its own schema says' }),
  is_error: Type.Boolean(),
  result: Type.String(),
});
const Done = Type.Object({ done: Type.Literal(true), usage: Type.Object({ input_tokens: Type.Integer(), output_tokens: Type.Integer() }), result: Result }, { description: 'The last event' });
const Failure = Type.Object(
  {
    error: Type.String(),
    code: Type.String(),
    status: Type.Integer({ description: 'The HTTP status of the same failure at the blocking route' }),
    hint: Type.Optional(Type.String()),
    retry_after_secs: Type.Optional(Type.Number()),
    attempts: Type.Optional(Type.Array(Attempt)),
  },
  { description: 'The last event, in place of done' },
);

const events = { phase: Phase, chunk: Chunk, tool_use: ToolUse, tool_result: ToolResult, done: Done, error: Failure } satisfies Record<keyof RunFrames, TSchema>;

export const eventStream: MediaAnswer = {
  description: 'Server-sent events: phase, chunk, tool_use and tool_result, then one done or error',
  contentType: 'text/event-stream',
  events,
};
