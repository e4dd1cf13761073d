/**
 * The Anthropic messages protocol (https://docs.anthropic.com/en/api/messages-streaming).
 *
 * A1  A stream ends with a stop reason and `message_stop`; one that ends without either is half a stream.
 * A2  Input tokens come with `message_start` (cached ones apart, they count too), output tokens with `message_delta`, as running totals. Each part is the highest that came.
 * A3  A tool call is a content block: its name at the start, its arguments as pieces of JSON text.
 * A4  Thoughts are blocks of their own, before what is said; those that are withheld have no text. They go back with the answer, as they came.
 * A5  A server that does not stream answers with the whole message.
 */
import type { DriverEvent, DriverTarget, ModelAnswer, ModelRequest } from '../contract.js';
import type { Driver, Emit } from './driver.js';
import { failureInStream, ModelFailure } from '../call/model-failure.js';
import { isTable } from '@svc/api';
import { type Adaptation, createAdaptations } from './adaptation.js';
import { anthropicBody, thinksOf } from './anthropic-body.js';
import { ANTHROPIC_CODES, ANTHROPIC_STATUSES } from './anthropic-codes.js';
import { eventJson } from './body/json-values.js';
import { exchange, type ExchangeDeps } from './exchange.js';
import { createTagReader } from './thought-tags.js';
import { higher, tokensIn, usageEvent } from './token-count.js';

const PROTOCOL_VERSION = '2023-06-01';
const MAX_CALLS = 128;

interface WireUsage {
  readonly input_tokens?: unknown;
  readonly cache_creation_input_tokens?: unknown;
  readonly cache_read_input_tokens?: unknown;
  readonly output_tokens?: unknown;
}
interface WireEvent {
  readonly type?: string;
  readonly index?: number;
  readonly message?: { readonly usage?: WireUsage };
  readonly content?: unknown;
  readonly stop_reason?: unknown;
  readonly usage?: WireUsage;
  readonly content_block?: {
    readonly type?: string;
    readonly id?: string;
    readonly name?: string;
    readonly text?: string;
    readonly thinking?: string;
    readonly signature?: string;
    readonly data?: string;
    readonly input?: unknown;
  };
  readonly delta?: { readonly type?: string; readonly text?: string; readonly thinking?: string; readonly signature?: string; readonly partial_json?: string; readonly stop_reason?: string | null };
  readonly error?: { readonly type?: string; readonly message?: string };
}
interface Reading {
  /** Open and closed tool calls by content block. */
  readonly calls: Map<number, { id: string; name: string; args: string }>;
  /** Thoughts by content block. */
  readonly thoughts: Map<number, { type: 'thinking'; thinking: string; signature?: string } | { type: 'redacted_thinking'; data: string }>;
  readonly counts: { -readonly [name in keyof WireUsage]?: number | undefined };
  stopReason: string | undefined;
  isStopped: boolean;
}

export const createAnthropicDriver = (deps: ExchangeDeps): Driver => {
  const adaptations = createAdaptations(() => ({}));
  return {
    ask: (target, request, signal, emit) => adaptations.run(target, request, emit, (adaptation, fitted, said) => ask(deps, target, fitted, adaptation, signal, said)),
    leavesOut: adaptations.leavesOut,
  };
};

const ask = async (deps: ExchangeDeps, target: DriverTarget, request: ModelRequest, adaptation: Adaptation, signal: AbortSignal, emit: Emit): Promise<void> => {
  const reading: Reading = { calls: new Map(), thoughts: new Map(), counts: {}, stopReason: undefined, isStopped: false };
  const outgoing = {
    url: `${target.baseUrl}/v1/messages`,
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', 'anthropic-version': PROTOCOL_VERSION },
    keyHeader: 'x-api-key',
    codes: ANTHROPIC_CODES,
    statuses: ANTHROPIC_STATUSES,
    body: anthropicBody(target, request, adaptation),
  };
  if (request.thinking && !thinksOf(target, request, adaptation))
    emit({ type: 'left_out', leftOut: [{ parameter: 'thinking', why: 'its protocol takes no thinking at this place of a conversation' }] });
  // Others that speak this protocol let thoughts of their models slip into the text.
  const tagged = /claude/i.test(target.model) ? undefined : createTagReader(emit);
  await exchange(deps, target, outgoing, signal, (data) => {
    const value: WireEvent = eventJson(data);
    for (const one of value.type === 'message' ? eventsOf(value) : [value]) {
      const event = take(reading, one);
      if (event?.type === 'text' && tagged) tagged.take(event.text);
      else if (event) emit(event);
    }
    return reading.isStopped;
  });
  tagged?.end();
  if (!reading.isStopped || reading.stopReason === undefined) throw new ModelFailure('half_stream', 'the stream ended in the middle of the answer', { httpStatus: 200 });
  for (const { id, name, args } of reading.calls.values()) emit({ type: 'call', id, name, argsText: args });
  if (reading.thoughts.size > 0) emit({ type: 'state', state: { blocks: [...reading.thoughts.values()] } });
  emit({ type: 'stop', reason: stopReason(reading.stopReason, reading.calls.size) });
};

/** A5. */
const eventsOf = ({ content, stop_reason: reason, usage }: WireEvent): WireEvent[] => [
  ...(usage ? [{ type: 'message_start', message: { usage } }] : []),
  ...(Array.isArray(content) ? content : []).flatMap((block, index) => (isTable(block) ? [{ type: 'content_block_start', index, content_block: block }] : [])),
  { type: 'message_delta', delta: { stop_reason: typeof reason === 'string' ? reason : 'end_turn' } },
  { type: 'message_stop' },
];

/** Notes what an event tells and gives what others should hear at once. Unknown events are none of ours. */
const take = (reading: Reading, event: WireEvent): DriverEvent | undefined => {
  switch (event.type) {
    case 'content_block_delta':
      return takeDelta(reading, event);
    case 'content_block_start':
      return takeBlock(reading, event);
    case 'message_start':
      return usageOf(reading, event.message?.usage);
    case 'message_delta':
      if (event.delta?.stop_reason) reading.stopReason = event.delta.stop_reason;
      return usageOf(reading, event.usage);
    case 'message_stop':
      reading.isStopped = true;
      return undefined;
    case 'error':
      throw failureInStream(event.error, ANTHROPIC_CODES, ANTHROPIC_STATUSES);
    default:
      return undefined;
  }
};

const takeDelta = (reading: Reading, { index = 0, delta }: WireEvent): DriverEvent | undefined => {
  if (delta?.type === 'text_delta' && delta.text) return { type: 'text', text: delta.text };
  if (delta?.type === 'thinking_delta' || delta?.type === 'signature_delta') return takeThought(reading, index, delta.thinking, delta.signature);
  if (delta?.type !== 'input_json_delta') return undefined;
  const call = reading.calls.get(index);
  if (!call) throw new ModelFailure('garbage', 'arguments came for a tool call that never began', { httpStatus: 200 });
  call.args += delta.partial_json ?? '';
  return undefined;
};

const takeBlock = (reading: Reading, { index = 0, content_block: block }: WireEvent): DriverEvent | undefined => {
  if (block?.type === 'text' && block.text) return { type: 'text', text: block.text };
  if (block?.type === 'thinking') return takeThought(reading, index, block.thinking, block.signature);
  if (block?.type === 'redacted_thinking' && block.data) reading.thoughts.set(index, { type: 'redacted_thinking', data: block.data });
  if (block?.type !== 'tool_use') return undefined;
  if (reading.calls.size >= MAX_CALLS) throw new ModelFailure('garbage', `the answer has more than ${MAX_CALLS} tool calls`, { httpStatus: 200 });
  // Compatible servers send the whole input here and no pieces after it.
  const whole = typeof block.input === 'object' && block.input !== null && Object.keys(block.input).length > 0 ? JSON.stringify(block.input) : '';
  reading.calls.set(index, { id: block.id ?? '', name: block.name ?? '', args: whole });
  return undefined;
};

const takeThought = ({ thoughts }: Reading, index: number, thinking = '', signature = ''): DriverEvent | undefined => {
  if (thinking === '' && signature === '') return undefined;
  const known = thoughts.get(index);
  const before = known?.type === 'thinking' ? known : { type: 'thinking' as const, thinking: '' };
  thoughts.set(index, { ...before, thinking: before.thinking + thinking, ...(signature === '' ? {} : { signature: (before.signature ?? '') + signature }) });
  return thinking === '' ? undefined : { type: 'thought', text: thinking };
};

/** A2. */
const usageOf = ({ counts }: Reading, usage: WireUsage | undefined): DriverEvent | undefined => {
  if (!usage) return undefined;
  for (const name of ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens', 'output_tokens'] as const) counts[name] = higher(counts[name], usage[name]);
  const { input_tokens: fresh, cache_creation_input_tokens: written, cache_read_input_tokens: read } = counts;
  const input = fresh === undefined && read === undefined ? undefined : (fresh ?? 0) + (written ?? 0) + (read ?? 0);
  return usageEvent(usage.input_tokens === undefined && usage.cache_read_input_tokens === undefined ? undefined : input, tokensIn(usage.output_tokens), { read, write: written });
};

/** The model failed: what it said is no answer. */
const FAILED = /error|abort|malformed|overload|timeout|cancel/i;

const stopReason = (reason: string | undefined, calls: number): ModelAnswer['stop'] => {
  if (reason === 'max_tokens' || reason === 'model_context_window_exceeded') return 'length';
  if (reason === 'refusal' || reason === 'sensitive' || reason === 'content_filter') return 'content_filter';
  if (reason !== undefined && FAILED.test(reason)) throw new ModelFailure('server', `the model ended with ${reason.slice(0, 100)}`, { httpStatus: 200, isOfAnswer: true });
  return calls > 0 ? 'tool_calls' : 'end';
};
