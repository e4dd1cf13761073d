/** The response object of /v1/responses, and its items. */
import { isTable, Nullable, type Plain, Type } from '@svc/api';
import type { ClientCalls, RunResult } from '@svc/ext-runs/contract';
import { argumentsOf, inputOf, usedFor } from '../answer/completion.js';

/** What of a request its response repeats. */
export const ResponseHead = Type.Object({
  id: Type.String(),
  created_at: Type.Integer(),
  model: Type.String(),
  instructions: Nullable(Type.String()),
  previous_response_id: Nullable(Type.String()),
  store: Type.Boolean(),
  tools: Type.Array(Type.Object({ type: Type.String() }, { additionalProperties: true })),
  tool_choice: Type.Union([Type.String(), Type.Object({ type: Type.String() }, { additionalProperties: true })]),
  parallel_tool_calls: Type.Boolean(),
  text: Type.Object({ format: Type.Optional(Nullable(Type.Object({ type: Type.String() }, { additionalProperties: true }))) }, { additionalProperties: true }),
  temperature: Nullable(Type.Number()),
  top_p: Nullable(Type.Number()),
  max_output_tokens: Nullable(Type.Integer()),
  metadata: Type.Record(Type.String(), Type.String()),
});
export type ResponseHead = Plain<typeof ResponseHead>;

export type ResponseStatus = 'in_progress' | 'completed' | 'incomplete' | 'failed' | 'cancelled';

type Item = ReturnType<typeof messageItem> | ReturnType<typeof itemOf>;

export interface ResponseBody {
  readonly status: ResponseStatus;
  readonly output: readonly Item[];
  readonly usage?: ClientCalls['usage'];
  readonly incomplete?: string;
  readonly error?: { readonly code: string; readonly message: string };
}

export const responseOf = (head: ResponseHead, { status, output, usage, incomplete, error }: ResponseBody) => ({
  ...head,
  object: 'response' as const,
  status,
  output,
  error: error ?? null,
  incomplete_details: incomplete === undefined ? null : { reason: incomplete },
  reasoning: { effort: null, summary: null },
  truncation: 'disabled',
  usage: usage
    ? {
        input_tokens: usage.input_tokens,
        input_tokens_details: { cached_tokens: 0 },
        output_tokens: usage.output_tokens,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: usage.input_tokens + usage.output_tokens,
      }
    : null,
});

export const messageItem = (responseId: string, text: string, status: 'in_progress' | 'completed' = 'completed') => ({
  type: 'message',
  id: responseId.replace(/^resp_/, 'msg_'),
  status,
  role: 'assistant',
  content: status === 'in_progress' ? [] : [textPart(text)],
});

export const textPart = (text: string) => ({ type: 'output_text', text, annotations: [], logprobs: [] });

type Call = ClientCalls['calls'][number];

const callItem = ({ id, name, args }: Call, status: 'in_progress' | 'completed' = 'completed') => ({
  type: 'function_call',
  id: id.replace(/^call_/, 'fc_'),
  call_id: id,
  name,
  arguments: status === 'in_progress' ? '' : argumentsOf(args),
  status,
});

const customItem = ({ id, name, args }: Call, status: 'in_progress' | 'completed' = 'completed') => ({
  type: 'custom_tool_call',
  id: id.replace(/^call_/, 'ctc_'),
  call_id: id,
  name,
  input: status === 'in_progress' ? '' : inputOf(args),
  status,
});

/** A call as its tool was declared: of one text, or of arguments. */
export const itemOf = (call: Call, tools: ResponseHead['tools'], status?: 'in_progress' | 'completed') =>
  tools.some((tool) => isCustom(tool, call.name)) ? customItem(call, status) : callItem(call, status);

const isCustom = ({ type, name, custom }: Readonly<Record<string, unknown>>, called: string): boolean => type === 'custom' && (isTable(custom) ? custom.name : name) === called;

/** How an answer ended: with a result, or with calls that wait for their results. */
export const bodyOf = (responseId: string, ended: RunResult | ClientCalls, tools: ResponseHead['tools'] = [], said?: string): ResponseBody => {
  const client = 'calls' in ended ? ended : ended.client;
  const text = said ?? ('calls' in ended ? ended.text : (client?.text ?? ended.response));
  const message = text === '' && client ? [] : [messageItem(responseId, text)];
  const output = [...message, ...(client?.calls ?? []).map((call) => itemOf(call, tools))];
  if ('calls' in ended) return { status: 'completed', output, usage: ended.usage };
  const incomplete = INCOMPLETE[ended.finish];
  return { status: incomplete === undefined ? 'completed' : 'incomplete', output, usage: usedFor(ended), ...(incomplete === undefined ? {} : { incomplete }) };
};

const INCOMPLETE: Readonly<Record<string, string>> = { length: 'max_output_tokens', content_filter: 'content_filter' };
