/** The chat.completion object and its chunks. The agent's own tool calls stay inside: clients would try to run them. */
import type { Frame, FrameEncoder } from '@svc/api';
import type { RunFrames, RunResult } from '@svc/ext-runs/contract';

export interface AnswerHead {
  readonly id: string;
  readonly created: number;
  readonly model: string;
}

const usageOf = (result: RunResult) => ({ prompt_tokens: result.input_tokens, completion_tokens: result.output_tokens, total_tokens: result.input_tokens + result.output_tokens });
const finishOf = (result: RunResult): string => (result.finish === 'length' ? 'length' : 'stop');

export const completionOf = (head: AnswerHead, result: RunResult): object => ({
  ...head,
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: result.response, refusal: null }, finish_reason: finishOf(result), logprobs: null }],
  usage: usageOf(result),
});

/** `data:` lines of chunks, the first with the role, the last with finish_reason and usage, then [DONE]. */
export const chunkEncoder = (head: AnswerHead, includeUsage: boolean): FrameEncoder => {
  const chunk = (delta: object, finish: string | null, extra: object = {}): string =>
    `data: ${JSON.stringify({ id: head.id, object: 'chat.completion.chunk', created: head.created, model: head.model, choices: [{ index: 0, delta, finish_reason: finish }], ...extra })}\n\n`;
  return {
    contentType: 'text/event-stream',
    preamble: chunk({ role: 'assistant', content: '' }, null),
    epilogue: 'data: [DONE]\n\n',
    encode: (frame: Frame) => {
      if (frame.type === 'chunk') return chunk({ content: (frame.data as RunFrames['chunk']).content }, null);
      if (frame.type === 'done') return lastChunks(chunk, head, (frame.data as RunFrames['done']).result, includeUsage);
      if (frame.type === 'error') return `data: ${JSON.stringify({ error: errorObject(frame.data as RunFrames['error']) })}\n\n`;
      return undefined;
    },
  };
};

function lastChunks(chunk: (delta: object, finish: string | null, extra?: object) => string, head: AnswerHead, result: RunResult, includeUsage: boolean): string {
  const usage = usageOf(result);
  const last = chunk({}, finishOf(result), { usage });
  return includeUsage ? `${last}data: ${JSON.stringify({ id: head.id, object: 'chat.completion.chunk', created: head.created, model: head.model, choices: [], usage })}\n\n` : last;
}

const errorObject = (error: RunFrames['error']): object => ({ message: error.error, type: error.status === 429 ? 'rate_limit_error' : 'server_error', code: error.code, param: null });
