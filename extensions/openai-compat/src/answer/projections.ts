/** How the frames of a run leave as OpenAI's clients read them: chunks, one completion, and what is waited for before a stream begins. */
import { type Streams, Type, defineAnswerProjection, defineStreamProjection, follow, reply } from '@svc/api';
import { RunFrames } from '@svc/ext-runs/contract';
import { LeftOut } from '@svc/ext-llm/contract';
import { AnswerHead, callsCompletionOf, callsIn, chunkOf, completionOf, firstChunk } from './completion.js';
import { failureOf, isOurLast, leftOutIn, showsSomething } from './frames-read.js';
import { together, warningOf } from './warning.js';

const shown = { head: AnswerHead, includeUsage: Type.Boolean(), leftOut: Type.Array(LeftOut, { description: 'Data that is known before the model call' }), after: Type.Optional(Type.String()) };

export const ChatChunks = defineStreamProjection('openai-compat.chunks', '1.0.0', { format: RunFrames, contentType: 'text/event-stream', args: Type.Object(shown) });
export const ChatAnswer = defineAnswerProjection('openai-compat.completion', '1.0.0', { format: RunFrames, args: Type.Object({ ...AnswerHead.properties, leftOut: shown.leftOut }) });
export const ChatBegin = defineAnswerProjection('openai-compat.begin', '1.0.0', { format: RunFrames, args: Type.Object({ ...shown, topic: Type.String() }) });

export const showChat = (streams: Streams): void => {
  streams.project(ChatChunks, {
    preamble: ({ head }) => firstChunk(head),
    encode: (frame, { head, includeUsage }) => chunkOf(frame, head, includeUsage),
    until: isOurLast,
    epilogue: () => 'data: [DONE]\n\n',
  });
  streams.answer(ChatAnswer, {
    until: isOurLast,
    answer: (frame, { leftOut, ...head }) => {
      const headers = warningOf(together(leftOut, leftOutIn(frame)));
      if (frame.type === 'done') return reply(200, completionOf(head, frame.data.result), headers);
      const client = callsIn(frame);
      if (client) return reply(200, callsCompletionOf(head, client), headers);
      throw failureOf(frame);
    },
  });
  streams.answer(ChatBegin, {
    until: showsSomething,
    answer: (frame, { topic, after, ...rest }) => {
      if (frame.type === 'error') throw failureOf(frame);
      const { leftOut } = rest;
      return follow(topic, ChatChunks, rest, { headers: warningOf(together(leftOut, leftOutIn(frame))), ...(after === undefined ? {} : { after }) });
    },
  });
};
