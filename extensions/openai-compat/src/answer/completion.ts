/** The chat.completion object and its chunks. The agent's own tool calls stay inside: clients would try to run them. */
import { isTable, type Plain, Type } from '@svc/api';
import type { ClientCalls, RunFrame, RunFrames, RunResult } from '@svc/ext-runs/contract';
import { errorObject } from './error-object.js';
import type { Completion } from './schemas.js';

export const AnswerHead = Type.Object({
  id: Type.String(),
  created: Type.Integer(),
  model: Type.String(),
  custom: Type.Optional(Type.Array(Type.String(), { description: 'Names of the tools that take one text' })),
});
export type AnswerHead = Plain<typeof AnswerHead>;

type Used = ClientCalls['usage'];
type Whole = Plain<typeof Completion>;
type Message = Omit<Whole['choices'][number]['message'], 'role'>;

/** Of one answer: a run that waits for its client gives several. */
export const usedFor = (result: RunResult): Used => result.client?.usage ?? result.answer_usage ?? result;

export const usageOf = ({ input_tokens: input, output_tokens: output }: Used) => ({ prompt_tokens: input, completion_tokens: output, total_tokens: input + output });
/** A run that was stopped has said all it will: OpenAI knows no word for that. */
export const finishOf = (result: RunResult): string => (result.finish === 'cancelled' ? 'stop' : result.finish);

/** What the client is to run, where this frame says so: the run waits, or has ended with its calls. */
export const callsIn = (frame: RunFrame): ClientCalls | undefined => (frame.type === 'phase' ? frame.data.client : frame.type === 'done' ? frame.data.result.client : undefined);

export const completionOf = (head: AnswerHead, result: RunResult): Whole =>
  result.client ? callsCompletionOf(head, result.client) : completion(head, { content: result.response, refusal: null }, finishOf(result), usedFor(result));

export const callsCompletionOf = (head: AnswerHead, { calls, text, usage }: ClientCalls): Whole =>
  completion(head, { content: text === '' ? null : text, refusal: null, tool_calls: calls.map((call) => callOf(head, call)) }, 'tool_calls', usage);

type Call = ClientCalls['calls'][number];

const callOf = ({ custom }: AnswerHead, { id, name, args }: Call) =>
  custom?.includes(name) ? { id, type: 'custom' as const, custom: { name, input: inputOf(args) } } : { id, type: 'function' as const, function: { name, arguments: argumentsOf(args) } };

/** Of a tool that takes one text. */
export const inputOf = (args: unknown): string => (isTable(args) && typeof args.input === 'string' ? args.input : argumentsOf(args));

export const argumentsOf = (args: unknown): string => JSON.stringify(args ?? {});

const completion = ({ id, created, model }: AnswerHead, message: Message, finish: string, used: Used): Whole => ({
  id,
  created,
  model,
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: finish, logprobs: null }],
  usage: usageOf(used),
});

const line = (head: AnswerHead, choices: readonly object[], extra: object = {}): string =>
  `data: ${JSON.stringify({ id: head.id, object: 'chat.completion.chunk', created: head.created, model: head.model, choices, ...extra })}\n\n`;

const chunk = (head: AnswerHead, delta: object, finish: string | null, extra: object = {}): string => line(head, [{ index: 0, delta, finish_reason: finish }], extra);

/** The first chunk names the role. */
export const firstChunk = (head: AnswerHead): string => chunk(head, { role: 'assistant', content: '' }, null);

/** The usage stands with the finish_reason, where clients of this daemon look for it; for whoever asked for a chunk of its own (`include_usage`) it stands there, and only there: clients add up what they see. */
export const chunkOf = (frame: RunFrame, head: AnswerHead, includeUsage: boolean): string | undefined => {
  if (frame.type === 'chunk') return chunk(head, { content: frame.data.content }, null);
  if (frame.type === 'error') return `data: ${JSON.stringify({ error: errorOf(frame.data) })}\n\n`;
  const client = callsIn(frame);
  if (client) return callChunks(head, client) + lastChunks(head, 'tool_calls', client.usage, includeUsage);
  return frame.type === 'done' ? lastChunks(head, finishOf(frame.data.result), usedFor(frame.data.result), includeUsage) : undefined;
};

/** The whole stream of an answer whose run already waits: nothing more of it comes. */
export const callsStreamOf = (head: AnswerHead, client: ClientCalls, includeUsage: boolean): string =>
  firstChunk(head) +
  (client.text === '' ? '' : chunk(head, { content: client.text }, null)) +
  callChunks(head, client) +
  lastChunks(head, 'tool_calls', client.usage, includeUsage) +
  'data: [DONE]\n\n';

/** Of each call first its name, then its arguments: a call is told of when all calls of the answer were checked. */
const callChunks = (head: AnswerHead, { calls }: ClientCalls): string =>
  calls
    .map(({ id, name, args }, index) =>
      head.custom?.includes(name)
        ? chunk(head, { tool_calls: [{ index, id, type: 'custom', custom: { name, input: '' } }] }, null) + chunk(head, { tool_calls: [{ index, custom: { input: inputOf(args) } }] }, null)
        : chunk(head, { tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }, null) +
          chunk(head, { tool_calls: [{ index, function: { arguments: argumentsOf(args) } }] }, null),
    )
    .join('');

const lastChunks = (head: AnswerHead, finish: string, used: Used, includeUsage: boolean): string => {
  const usage = usageOf(used);
  return includeUsage ? chunk(head, {}, finish) + line(head, [], { usage }) : chunk(head, {}, finish, { usage });
};

const errorOf = ({ status, error, code, hint }: RunFrames['error']): object => errorObject(status, { error, code, ...(hint === undefined ? {} : { hint }) });
