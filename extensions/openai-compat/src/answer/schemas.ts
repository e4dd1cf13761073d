/** The fields of what /v1 answers, for whoever writes a client. */
import { type MediaAnswer, Nullable, OneOf, Type } from '@svc/api';

const FinishReason = Type.String({ description: '`stop`, `length`, `content_filter`, or `tool_calls`: the client runs its tools and sends the results' });
const Usage = Type.Object(
  { prompt_tokens: Type.Integer(), completion_tokens: Type.Integer(), total_tokens: Type.Integer() },
  { 'x-name': 'ChatUsage', description: 'Of all model calls for this answer' },
);

export const OpenAiModel = Type.Object(
  { id: Type.String({ description: 'What to send as `model`' }), object: Type.Literal('model'), created: Type.Integer({ description: 'Seconds since 1970' }), owned_by: Type.String() },
  { 'x-name': 'OpenAiModel' },
);

const head = {
  id: Type.String({ description: '`chatcmpl-` and the id of the run' }),
  created: Type.Integer({ description: 'Seconds since 1970' }),
  model: Type.String({ description: 'As sent for' }),
};

const ToolCall = Type.Object(
  {
    id: Type.String({ description: 'To be sent as tool_call_id with the result' }),
    type: OneOf(['function', 'custom']),
    function: Type.Optional(Type.Object({ name: Type.String(), arguments: Type.String({ description: 'JSON' }) })),
    custom: Type.Optional(Type.Object({ name: Type.String(), input: Type.String() }, { description: 'Of a tool of type `custom`' })),
  },
  { 'x-name': 'ChatToolCall', description: 'A call of a tool of the client' },
);

const ToolCallDelta = Type.Object(
  {
    index: Type.Integer({ description: 'Tells the calls of an answer apart' }),
    id: Type.Optional(Type.String()),
    type: Type.Optional(OneOf(['function', 'custom'])),
    function: Type.Optional(Type.Object({ name: Type.Optional(Type.String()), arguments: Type.String({ description: 'The next piece' }) })),
    custom: Type.Optional(Type.Object({ name: Type.Optional(Type.String()), input: Type.String({ description: 'The next piece' }) })),
  },
  { 'x-name': 'ChatToolCallDelta' },
);

export const Completion = Type.Object(
  {
    ...head,
    object: Type.Literal('chat.completion'),
    choices: Type.Array(
      Type.Object({
        index: Type.Integer(),
        message: Type.Object({
          role: Type.Literal('assistant'),
          content: Nullable(Type.String(), { description: 'null only beside tool_calls' }),
          refusal: Nullable(Type.String()),
          tool_calls: Type.Optional(Type.Array(ToolCall)),
        }),
        finish_reason: FinishReason,
        logprobs: Nullable(Type.Object({ content: Type.Array(Type.Object({ token: Type.String(), logprob: Type.Number() })) }), { description: 'Always null' }),
      }),
    ),
    usage: Usage,
  },
  { 'x-name': 'ChatCompletion', description: 'A chat.completion' },
);

const Chunk = Type.Object(
  {
    ...head,
    object: Type.Literal('chat.completion.chunk'),
    choices: Type.Array(
      Type.Object({
        index: Type.Integer(),
        delta: Type.Object({ role: Type.Optional(Type.Literal('assistant')), content: Type.Optional(Type.String()), tool_calls: Type.Optional(Type.Array(ToolCallDelta)) }),
        finish_reason: Nullable(FinishReason),
      }),
    ),
    usage: Type.Optional(Usage),
  },
  { 'x-name': 'ChatCompletionChunk' },
);

const Failure = Type.Object({ error: Type.Object({ message: Type.String(), type: Type.String(), code: Type.String(), param: Nullable(Type.String()) }) });

export const chunkStream: MediaAnswer = {
  description: 'chunks of one as server-sent events when stream is true, or an error, and [DONE] at the end',
  contentType: 'text/event-stream',
  events: { '': Type.Union([Chunk, Failure, Type.Literal('[DONE]')]) },
};
