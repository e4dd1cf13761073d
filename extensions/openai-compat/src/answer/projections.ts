/** How the frames of a run leave as OpenAI's clients read them: chunks, one completion, and what is waited for before a stream begins. */
import { type Streams, SvcError, Type, defineAnswerProjection, defineStreamProjection, follow, reply } from '@svc/api';
import { type RunFrame, RunFrames } from '@svc/ext-runs/contract';
import { LeftOut } from '@svc/ext-llm/contract';
import { AnswerHead, chunkOf, completionOf, firstChunk } from './completion.js';
import { together, warningOf } from './warning.js';

const shown = { head: AnswerHead, includeUsage: Type.Boolean(), leftOut: Type.Array(LeftOut, { description: 'Data that is known before the model call' }) };

export const ChatChunks = defineStreamProjection('openai-compat.chunks', '1.0.0', { format: RunFrames, contentType: 'text/event-stream', args: Type.Object(shown) });
export const ChatAnswer = defineAnswerProjection('openai-compat.completion', '1.0.0', { format: RunFrames, args: Type.Object({ ...AnswerHead.properties, leftOut: shown.leftOut }) });
export const ChatBegin = defineAnswerProjection('openai-compat.begin', '1.0.0', { format: RunFrames, args: Type.Object({ ...shown, topic: Type.String() }) });

export const showChat = (streams: Streams): void => {
  streams.project(ChatChunks, {
    preamble: ({ head }) => firstChunk(head),
    encode: (frame, { head, includeUsage }) => chunkOf(frame, head, includeUsage),
    epilogue: () => 'data: [DONE]\n\n',
  });
  streams.answer(ChatAnswer, {
    answer: (frame, { leftOut, ...head }) => {
      if (frame.type === 'done') return reply(200, completionOf(head, frame.data.result), warningOf(together(leftOut, frame.data.result.left_out ?? [])));
      throw failureOf(frame);
    },
  });
  streams.answer(ChatBegin, {
    until: showsSomething,
    answer: (frame, { topic, ...rest }) => {
      if (frame.type === 'error') throw failureOf(frame);
      const { leftOut } = rest;
      return follow(topic, ChatChunks, rest, { headers: warningOf(together(leftOut, leftOutIn(frame))) });
    },
  });
};

/** `adjusted` comes with the first thing that the model says. */
const showsSomething = (frame: RunFrame): boolean => frame.type !== 'phase' || frame.data.phase === 'waiting' || frame.data.phase === 'adjusted';

const leftOutIn = (frame: RunFrame): readonly LeftOut[] => (frame.type === 'phase' ? (frame.data.left_out ?? []) : frame.type === 'done' ? (frame.data.result.left_out ?? []) : []);

function failureOf(frame: RunFrame): SvcError {
  const { code, error, status, hint }: RunFrames['error'] = frame.type === 'error' ? frame.data : { code: 'internal_error', error: 'The run ended without an answer.', status: 500 };
  // The run has begun and may have had effects: a client must not repeat it by itself.
  return new SvcError(code, error, { status, hint, headers: { 'x-should-retry': 'false' } });
}
