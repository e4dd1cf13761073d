/** The text_completion object and its pieces. */
import { type MediaAnswer, Nullable, type Static, Type } from '@svc/api';
import type { RunFrame, RunResult } from '@svc/ext-runs/contract';
import { finishOf, usageOf, usedFor } from '../answer/completion.js';
import { errorObject } from '../answer/error-object.js';

const Usage = Type.Object({ prompt_tokens: Type.Integer(), completion_tokens: Type.Integer(), total_tokens: Type.Integer() });
type Usage = Static<typeof Usage>;
const Choice = Type.Object({
  index: Type.Integer(),
  text: Type.String(),
  finish_reason: Nullable(Type.String()),
  logprobs: Nullable(Type.Object({ tokens: Type.Array(Type.String()) }), { description: 'Always null' }),
});
export const TextCompletion = Type.Object(
  { id: Type.String(), object: Type.Literal('text_completion'), created: Type.Integer(), model: Type.String(), choices: Type.Array(Choice), usage: Type.Optional(Usage) },
  { 'x-name': 'TextCompletion' },
);
export const pieces: MediaAnswer = {
  description: 'pieces of one as server-sent events when stream is true, or an error, and [DONE] at the end',
  contentType: 'text/event-stream',
  events: { '': Type.Union([TextCompletion, Type.Literal('[DONE]')]) },
};

export const Head = Type.Object({ id: Type.String(), created: Type.Integer(), model: Type.String() });
export type Head = Static<typeof Head>;

export const pieceOf = (frame: RunFrame, head: Head, index = 0, before?: Usage): string | undefined => {
  if (frame.type === 'chunk') return line(textCompletion(head, [{ index, text: frame.data.content }]));
  if (frame.type === 'error') return line({ error: errorObject(frame.data.status, { error: frame.data.error, code: frame.data.code }) });
  return frame.type === 'done' ? line(textCompletion(head, [{ index, text: '', result: frame.data.result }], before)) : undefined;
};

const line = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;

interface Said {
  readonly index: number;
  readonly text: string;
  /** Of a choice that is whole. */
  readonly result?: RunResult;
}

/** `before`: what the other choices have used, where they are not among these. */
export const textCompletion = (head: Head, said: readonly Said[], before?: Usage) => {
  const used = said.flatMap(({ result }) => (result ? [usageOf(usedFor(result))] : []));
  return {
    ...head,
    object: 'text_completion' as const,
    choices: said.map(({ index, text, result }) => ({ index, text, finish_reason: result ? finishOf(result) : null, logprobs: null })),
    ...(used.length === 0 ? {} : { usage: [...(before ? [before] : []), ...used].reduce(sum) }),
  };
};

export const sum = (a: Usage, b: Usage): Usage => ({
  prompt_tokens: a.prompt_tokens + b.prompt_tokens,
  completion_tokens: a.completion_tokens + b.completion_tokens,
  total_tokens: a.total_tokens + b.total_tokens,
});
