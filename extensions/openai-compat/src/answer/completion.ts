/** The chat.completion object and its chunks. The agent's own tool calls stay inside: clients would try to run them. */
import { type Plain, Type } from '@svc/api';
import type { RunFrame, RunFrames, RunResult } from '@svc/ext-runs/contract';
import { errorObject } from './error-object.js';

export const AnswerHead = Type.Object({ id: Type.String(), created: Type.Integer(), model: Type.String() });
export type AnswerHead = Plain<typeof AnswerHead>;

const usageOf = (result: RunResult) => ({ prompt_tokens: result.input_tokens, completion_tokens: result.output_tokens, total_tokens: result.input_tokens + result.output_tokens });
/** A run that was stopped has said all it will: OpenAI knows no word for that. */
const finishOf = (result: RunResult): string => (result.finish === 'cancelled' ? 'stop' : result.finish);

export const completionOf = (head: AnswerHead, result: RunResult): object => ({
  ...head,
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: result.response, refusal: null }, finish_reason: finishOf(result), logprobs: null }],
  usage: usageOf(result),
});

const line = (head: AnswerHead, choices: readonly object[], extra: object = {}): string =>
  `data: ${JSON.stringify({ id: head.id, object: 'chat.completion.chunk', created: head.created, model: head.model, choices, ...extra })}\n\n`;

const chunk = (head: AnswerHead, delta: object, finish: string | null, extra: object = {}): string => line(head, [{ index: 0, delta, finish_reason: finish }], extra);

/** The first chunk names the role. */
export const firstChunk = (head: AnswerHead): string => chunk(head, { role: 'assistant', content: '' }, null);

/** The usage stands with the finish_reason, where clients of this daemon look for it, and once more in a chunk without choices for whoever asked for that (`include_usage`). Both are of the whole run. */
export const chunkOf = (frame: RunFrame, head: AnswerHead, includeUsage: boolean): string | undefined => {
  if (frame.type === 'chunk') return chunk(head, { content: frame.data.content }, null);
  if (frame.type === 'error') return `data: ${JSON.stringify({ error: errorOf(frame.data) })}\n\n`;
  if (frame.type !== 'done') return undefined;
  const { result } = frame.data;
  const usage = usageOf(result);
  return chunk(head, {}, finishOf(result), { usage }) + (includeUsage ? line(head, [], { usage }) : '');
};

const errorOf = ({ status, error, code, hint }: RunFrames['error']): object => errorObject(status, { error, code, ...(hint === undefined ? {} : { hint }) });
