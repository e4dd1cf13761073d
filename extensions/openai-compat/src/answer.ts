/** The chat.completion object and its chunks. The agent's own tool calls stay inside: clients would try to run them. */
import type { Frame, FrameEncoder } from '@svc/api';
import type { RunFrames, RunResult } from '@svc/ext-runs/contract';
import { errorObject } from './error-object.js';

export interface AnswerHead {
  readonly id: string;
  readonly created: number;
  readonly model: string;
}

const usageOf = (result: RunResult) => ({ prompt_tokens: result.input_tokens, completion_tokens: result.output_tokens, total_tokens: result.input_tokens + result.output_tokens });
/** A run that was stopped has said all it will: OpenAI knows no word for that. */
const finishOf = (result: RunResult): string => (result.finish === 'cancelled' ? 'stop' : result.finish);

export const completionOf = (head: AnswerHead, result: RunResult): object => ({
  ...head,
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: result.response, refusal: null }, finish_reason: finishOf(result), logprobs: null }],
  usage: usageOf(result),
});

/**
 * `data:` lines of chunks, the first with the role, the last with finish_reason, then [DONE]. The usage comes once:
 * in a chunk of its own without choices for whoever asked for that (`include_usage`), else with the finish_reason.
 */
export const chunkEncoder = (head: AnswerHead, includeUsage: boolean): FrameEncoder => {
  const line = (choices: readonly object[], extra: object = {}): string =>
    `data: ${JSON.stringify({ id: head.id, object: 'chat.completion.chunk', created: head.created, model: head.model, choices, ...extra })}\n\n`;
  const chunk = (delta: object, finish: string | null, extra: object = {}): string => line([{ index: 0, delta, finish_reason: finish }], extra);
  const last = (result: RunResult): string => {
    const usage = usageOf(result);
    return includeUsage ? chunk({}, finishOf(result)) + line([], { usage }) : chunk({}, finishOf(result), { usage });
  };
  return {
    contentType: 'text/event-stream',
    preamble: chunk({ role: 'assistant', content: '' }, null),
    epilogue: 'data: [DONE]\n\n',
    encode: (frame: Frame) => {
      if (frame.type === 'chunk') return chunk({ content: (frame.data as RunFrames['chunk']).content }, null);
      if (frame.type === 'done') return last((frame.data as RunFrames['done']).result);
      if (frame.type === 'error') return `data: ${JSON.stringify({ error: errorOf(frame.data as RunFrames['error']) })}\n\n`;
      return undefined;
    },
  };
};

const errorOf = ({ status, error, code, hint }: RunFrames['error']): object => errorObject(status, { error, code, ...(hint === undefined ? {} : { hint }) });
