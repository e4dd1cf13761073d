/** What a request asks of the model beside its messages: handed on, left out and said, or refused by name. */
import { isTable } from '@svc/api';
import type { AnswerFormat, LeftOut, Parameters } from '@svc/ext-llm/contract';
import { compatErrors } from '../errors.js';
import type { ChatRequest } from './chat-request.js';

const MAX_SCHEMA_CHARS = 65_536;

/** Throws for what no agent can give. */
export function checkServed(request: Pick<ChatRequest, 'n' | 'logprobs'>): void {
  if ((request.n ?? 1) !== 1) throw compatErrors.unsupported_value('n must be 1: an agent gives one answer.');
  if (request.logprobs === true) throw compatErrors.unsupported_value('logprobs must be false: an agent may make several model calls, and has none of its answer.');
}

type HandedOn = 'top_p' | 'presence_penalty' | 'frequency_penalty' | 'stop' | 'seed' | 'response_format';

/** Undefined where nothing was asked. A temperature travels beside these. */
export function parametersOf({
  top_p: topP,
  presence_penalty: presencePenalty,
  frequency_penalty: frequencyPenalty,
  stop,
  seed,
  response_format: format,
}: Pick<ChatRequest, HandedOn>): Parameters | undefined {
  const asked: Parameters = {
    // A top_p of 1 and a penalty of 0 change nothing, and some clients always send them: they are the same as none.
    ...(typeof topP === 'number' && topP < 1 ? { topP } : {}),
    ...(presencePenalty ? { presencePenalty } : {}),
    ...(frequencyPenalty ? { frequencyPenalty } : {}),
    ...(stop === undefined || stop === null || stop.length === 0 ? {} : { stop: typeof stop === 'string' ? [stop] : stop }),
    ...(typeof seed === 'number' ? { seed } : {}),
    ...(format ? formatOf(format) : {}),
  };
  return Object.keys(asked).length === 0 ? undefined : asked;
}

/** Fields that ask for another answer and that no agent hands on. Without a word a program would believe that they hold. */
const NOT_HANDED_ON = ['logit_bias', 'reasoning_effort', 'verbosity', 'prediction', 'top_logprobs', 'top_k', 'min_p', 'repetition_penalty'] as const;

const isSaid = (value: unknown): boolean => value !== undefined && value !== null && !((Array.isArray(value) || isTable(value)) && Object.keys(value).length === 0);

export function notHandedOn(request: ChatRequest): LeftOut[] {
  const fields: Readonly<Record<string, unknown>> = request;
  return [
    ...NOT_HANDED_ON.filter((name) => isSaid(fields[name])).map((parameter) => ({ parameter, why: 'it is not handed on to the model' })),
    ...['functions'].filter((name) => isSaid(fields[name])).map((parameter) => ({ parameter, why: 'it was replaced by tools' })),
  ];
}

function formatOf(format: NonNullable<ChatRequest['response_format']>): { format?: AnswerFormat } {
  if (format.type !== 'json_schema') return format.type === 'text' ? {} : { format: { type: 'json_object' } };
  const { name, description, schema, strict } = format.json_schema;
  if (JSON.stringify(schema).length > MAX_SCHEMA_CHARS) throw compatErrors.unsupported_value('response_format.json_schema.schema is larger than 64 KiB.');
  return { format: { type: 'json_schema', name, schema, ...(description === undefined ? {} : { description }), ...(typeof strict === 'boolean' ? { strict } : {}) } };
}
