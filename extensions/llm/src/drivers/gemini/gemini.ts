/**
 * The Gemini protocol (https://ai.google.dev/api/generate-content), streamed.
 *
 * G1  A stream ends with an event that carries a `finishReason`, or that says the prompt was blocked; one without either is half a stream.
 * G2  Usage comes with each event as a running total. Cached tokens are part of those read, thoughts are apart from those written: both count.
 * G3  A call comes whole. The signature that stands beside it must be given back with it, or newer models refuse the next request.
 * G4  Thoughts are text marked as such, a summary of what was thought; an answer is more than them.
 */
import type { DriverEvent, DriverTarget, ModelAnswer, ModelRequest } from '../../contract.js';
import { failureInStream, ModelFailure } from '../../call/model-failure.js';
import { withoutSecrets } from '../../call/secret-words.js';
import { type Adaptation, createAdaptations } from '../adaptation.js';
import type { Driver, Emit } from '../driver.js';
import { eventJson } from '../body/json-values.js';
import { exchange, type ExchangeDeps } from '../exchange.js';
import { higher, usageEvent } from '../token-count.js';
import { geminiBody } from './gemini-body.js';
import { GEMINI_CODES } from './gemini-codes.js';
import { geminiEmbed } from './gemini-embed.js';
import { KEY_HEADER, modelUrl } from './address.js';

const MAX_CALLS = 128;

interface WirePart {
  readonly text?: string;
  readonly thought?: boolean;
  readonly thoughtSignature?: string;
  readonly functionCall?: { readonly id?: string; readonly name?: string; readonly args?: unknown };
}
interface WireUsage {
  readonly promptTokenCount?: unknown;
  /** Among those of the prompt. */
  readonly cachedContentTokenCount?: unknown;
  readonly toolUsePromptTokenCount?: unknown;
  readonly candidatesTokenCount?: unknown;
  readonly thoughtsTokenCount?: unknown;
  readonly totalTokenCount?: unknown;
}
interface WireEvent {
  readonly candidates?: ReadonlyArray<{ readonly content?: { readonly parts?: readonly WirePart[] }; readonly finishReason?: string; readonly finishMessage?: string }>;
  readonly promptFeedback?: { readonly blockReason?: string };
  readonly usageMetadata?: WireUsage;
  readonly error?: unknown;
}
interface Reading {
  readonly calls: Array<Extract<DriverEvent, { type: 'call' }>>;
  reason: string | undefined;
  why: string | undefined;
  isBlocked: boolean;
  hasSpoken: boolean;
  /** Of the text, where its end is signed. */
  signature: string | undefined;
  readonly counts: { -readonly [name in keyof WireUsage]?: number | undefined };
}

export const createGeminiDriver = (deps: ExchangeDeps): Driver => {
  const adaptations = createAdaptations(() => ({}));
  return {
    ask: (target, request, signal, emit) => adaptations.run(target, request, emit, (adaptation, fitted, said) => ask(deps, target, fitted, adaptation, signal, said)),
    leavesOut: adaptations.leavesOut,
    embed: (target, batch, signal) => geminiEmbed(deps, target, batch, signal),
  };
};

const ask = async (deps: ExchangeDeps, target: DriverTarget, request: ModelRequest, adaptation: Adaptation, signal: AbortSignal, emit: Emit): Promise<void> => {
  const reading: Reading = { calls: [], reason: undefined, why: undefined, isBlocked: false, hasSpoken: false, signature: undefined, counts: {} };
  const outgoing = {
    url: `${modelUrl(target)}:streamGenerateContent?alt=sse`,
    headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    keyHeader: KEY_HEADER,
    codes: GEMINI_CODES,
    body: geminiBody(target, request, adaptation),
  };
  await exchange(deps, target, outgoing, signal, (data) => take(reading, eventJson(data), emit));
  if (reading.reason === undefined && !reading.isBlocked) throw new ModelFailure('half_stream', 'the stream ended in the middle of the answer', { httpStatus: 200 });
  const reason = stopReason(reading);
  for (const call of reading.calls) emit(call);
  if (reading.signature !== undefined) emit({ type: 'state', state: { thoughtSignature: reading.signature } });
  emit({ type: 'stop', reason });
};

/** True when it was the last event: a reason with its usage. What comes after a reason alone is still read. */
const take = (reading: Reading, event: WireEvent, emit: Emit): boolean => {
  if (event.error !== undefined && event.error !== null) throw failureInStream(event.error, GEMINI_CODES);
  const [candidate] = event.candidates ?? [];
  for (const part of candidate?.content?.parts ?? []) takePart(reading, part, emit);
  if (candidate?.finishReason && candidate.finishReason !== 'FINISH_REASON_UNSPECIFIED') {
    reading.reason = candidate.finishReason;
    reading.why = candidate.finishMessage;
  }
  if (event.promptFeedback?.blockReason) reading.isBlocked = true;
  if (event.usageMetadata) emit(usageOf(reading, event.usageMetadata));
  return (reading.reason !== undefined || reading.isBlocked) && event.usageMetadata !== undefined;
};

const takePart = (reading: Reading, { text, thought, thoughtSignature, functionCall }: WirePart, emit: Emit): void => {
  if (functionCall) {
    if (reading.calls.length >= MAX_CALLS) throw new ModelFailure('garbage', `the answer has more than ${MAX_CALLS} tool calls`, { httpStatus: 200 });
    const { id = '', name = '', args = {} } = functionCall;
    reading.calls.push({ type: 'call', id, name, argsText: JSON.stringify(args), ...(thoughtSignature ? { state: { thoughtSignature } } : {}) });
    return;
  }
  if (thoughtSignature && thought !== true) reading.signature = thoughtSignature;
  if (typeof text === 'string' && text !== '') {
    if (thought !== true) reading.hasSpoken = true;
    emit({ type: thought === true ? 'thought' : 'text', text });
  }
};

/** G2. The highest of each: a last event that counts nothing takes nothing back. What the total has more than its parts is output. */
const usageOf = ({ counts }: Reading, usage: WireUsage): DriverEvent => {
  for (const name of ['promptTokenCount', 'cachedContentTokenCount', 'toolUsePromptTokenCount', 'candidatesTokenCount', 'thoughtsTokenCount', 'totalTokenCount'] as const)
    counts[name] = higher(counts[name], usage[name]);
  const { promptTokenCount: prompt, toolUsePromptTokenCount: ofTools = 0, candidatesTokenCount: said, thoughtsTokenCount: thought, totalTokenCount: total = 0, cachedContentTokenCount: read } = counts;
  const input = prompt === undefined ? undefined : prompt + ofTools;
  const output = said === undefined && thought === undefined ? undefined : Math.max((said ?? 0) + (thought ?? 0), input ? total - input : 0);
  return usageEvent(input, output, { read });
};

const FILTERED: ReadonlySet<string> = new Set([
  'SAFETY',
  'RECITATION',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'LANGUAGE',
  'IMAGE_SAFETY',
  'IMAGE_PROHIBITED_CONTENT',
  'IMAGE_RECITATION',
  'MODEL_ARMOR',
]);
/** The model failed at what it wanted to do: the same request can succeed a moment later. */
const STUMBLED: ReadonlySet<string> = new Set(['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL', 'TOO_MANY_TOOL_CALLS', 'MALFORMED_RESPONSE', 'OTHER', 'NO_IMAGE', 'IMAGE_OTHER']);

const stopReason = ({ reason = '', why, isBlocked, calls, hasSpoken }: Reading): ModelAnswer['stop'] => {
  if (isBlocked || FILTERED.has(reason)) return 'content_filter';
  if (reason === 'MAX_TOKENS') return 'length';
  // One that it has no word for ends an answer that is there.
  if (STUMBLED.has(reason) || (reason !== 'STOP' && calls.length === 0 && !hasSpoken)) {
    throw new ModelFailure('server', withoutSecrets(`the model ended with ${reason}${why === undefined ? '' : `: ${why}`}`), { httpStatus: 200, isOfAnswer: true });
  }
  return calls.length > 0 ? 'tool_calls' : 'end';
};
