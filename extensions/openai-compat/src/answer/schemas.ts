/** The fields of what /v1 answers, for whoever writes a client. */
import { type MediaAnswer, Nullable, Type } from '@svc/api';

const FinishReason = Type.String({ description: '`stop`, `length` or `content_filter`' });
const Usage = Type.Object({ prompt_tokens: Type.Integer(), completion_tokens: Type.Integer(), total_tokens: Type.Integer() }, { 'x-name': 'ChatUsage', description: 'Of all model calls of the run' });

export const OpenAiModel = Type.Object(
  { id: Type.String({ description: 'What to send as `model`' }), object: Type.Literal('model'), created: Type.Integer({ description: 'Seconds since 1970' }), owned_by: Type.String() },
  { 'x-name': 'OpenAiModel' },
);

const head = {
  id: Type.String({ description: '`chatcmpl-` and the id of the run' }),
  created: Type.Integer({ description: 'Seconds since 1970' }),
  model: Type.String({ description: 'As sent for' }),
};

export const Completion = Type.Object(
  {
    ...head,
    object: Type.Literal('chat.completion'),
    choices: Type.Array(
      Type.Object({
        index: Type.Integer(),
        message: Type.Object({ role: Type.Literal('assistant'), content: Type.String(), refusal: Nullable(Type.String()) }),
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
        delta: Type.Object({ role: Type.Optional(Type.Literal('assistant')), content: Type.Optional(Type.String()) }),
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
