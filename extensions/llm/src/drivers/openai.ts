/**
 * The chat-completions protocol (https://platform.openai.com/docs/api-reference/chat), streamed.
 * Spoken by OpenAI and by everything that calls itself compatible with it.
 *
 * O1  An answer is whole when a `finish_reason` came. One without is half a stream, also where `[DONE]` follows: relays add that to what broke off.
 * O2  Usage may come in a last event, in the finishing event, or never.
 * O3  Tool calls come in pieces by index; a piece may carry the id, the name, arguments, or several of them.
 * O4  Thoughts come apart from the text (`reasoning_content`, or `reasoning`), or within it between <think> and </think>, before all that is said.
 */
import type { DriverTarget, ModelAnswer, ModelRequest } from '../contract.js';
import type { Driver, Emit } from './driver.js';
import { failureInStream, ModelFailure } from '../call/model-failure.js';
import { type Adaptation, createAdaptations } from './adaptation.js';
import { openaiEmbed } from './embedding/openai-embed.js';
import { eventJson, exchange, type ExchangeDeps } from './exchange.js';
import { openaiBody } from './openai-body.js';
import { OPENAI_CODES, OPENAI_STATUSES } from './openai-codes.js';
import { createTagReader } from './thought-tags.js';
import { tokensIn, usageEvent } from './token-count.js';

const MAX_CALLS = 128;

/** Models of OpenAI's own that refuse `max_tokens`; others are learned from their 400. */
const REASONING_MODEL = /^(o\d|gpt-5|gpt-6)/;
/** Of these, the ones that refuse any temperature but 1 from the first day. */
const ONE_TEMPERATURE = /^(o\d|gpt-5(?!\.\d)|gpt-6)(?!.*-chat)/;

interface Piece {
  readonly index?: number;
  readonly id?: string;
  readonly function?: { readonly name?: string; readonly arguments?: string };
}
interface WireChunk {
  readonly choices?: ReadonlyArray<{
    readonly delta?: { readonly content?: string | null; readonly reasoning_content?: string | null; readonly reasoning?: unknown; readonly tool_calls?: readonly Piece[] | null } | null;
    readonly finish_reason?: string | null;
  }>;
  readonly usage?: {
    readonly prompt_tokens?: unknown;
    readonly completion_tokens?: unknown;
    readonly prompt_tokens_details?: { readonly cached_tokens?: unknown } | null;
    /** DeepSeek's name for the same. */
    readonly prompt_cache_hit_tokens?: unknown;
  } | null;
  readonly error?: unknown;
}
interface CallParts {
  id: string;
  name: string;
  args: string;
}

export const createOpenAiDriver = (deps: ExchangeDeps): Driver => {
  const adaptations = createAdaptations(({ provider, model }) =>
    provider === 'openai' && REASONING_MODEL.test(model)
      ? { completionTokens: true, ...(ONE_TEMPERATURE.test(model) ? { onlyTemperature: 1 } : {}) }
      : provider === 'mistral'
        ? { shortIds: true }
        : {},
  );
  return {
    ask: (target, request, signal, emit) => adaptations.run(target, request, emit, (adaptation, fitted) => ask(deps, target, fitted, adaptation, signal, emit)),
    leavesOut: adaptations.leavesOut,
    embed: (target, batch, signal) => openaiEmbed(deps, target, batch, signal),
  };
};

const ask = async (deps: ExchangeDeps, target: DriverTarget, request: ModelRequest, adaptation: Adaptation, signal: AbortSignal, emit: Emit): Promise<void> => {
  const calls = new Map<number, CallParts>();
  const tagged = createTagReader(emit);
  let reason: string | undefined;
  const outgoing = {
    url: `${target.baseUrl}/chat/completions`,
    headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    keyHeader: 'authorization',
    keyPrefix: 'Bearer ',
    codes: OPENAI_CODES,
    body: openaiBody(target, request, adaptation),
  };
  await exchange(deps, target, outgoing, signal, (data) => {
    if (data === '[DONE]') return true;
    const chunk: WireChunk = eventJson(data);
    if (chunk.error !== undefined && chunk.error !== null) throw failureInStream(chunk.error, OPENAI_CODES, OPENAI_STATUSES);
    const choice = chunk.choices?.[0];
    const thought = choice?.delta?.reasoning_content ?? choice?.delta?.reasoning;
    if (typeof thought === 'string' && thought !== '') emit({ type: 'thought', text: thought });
    const content = choice?.delta?.content;
    if (typeof content === 'string' && content !== '') tagged.take(content);
    for (const piece of choice?.delta?.tool_calls ?? []) addPiece(calls, piece);
    if (choice?.finish_reason) reason = choice.finish_reason;
    if (chunk.usage) {
      const { prompt_tokens, completion_tokens, prompt_tokens_details: details, prompt_cache_hit_tokens: hits } = chunk.usage;
      emit(usageEvent(tokensIn(prompt_tokens), tokensIn(completion_tokens), { read: details?.cached_tokens ?? hits }));
    }
    return false;
  });
  tagged.end();
  if (reason === undefined) throw new ModelFailure('half_stream', 'the stream ended in the middle of the answer', { httpStatus: 200 });
  for (const { id, name, args } of calls.values()) emit({ type: 'call', id, name, argsText: args });
  emit({ type: 'stop', reason: stopReason(reason, calls.size) });
};

/** O3. Servers that leave the index out send whole calls, one after the other. */
const addPiece = (calls: Map<number, CallParts>, piece: Piece): void => {
  const index = piece.index ?? (piece.id === undefined ? Math.max(calls.size - 1, 0) : calls.size);
  let call = calls.get(index);
  if (!call) {
    if (calls.size >= MAX_CALLS) throw new ModelFailure('garbage', `the answer has more than ${MAX_CALLS} tool calls`, { httpStatus: 200 });
    call = { id: '', name: '', args: '' };
    calls.set(index, call);
  }
  if (piece.id) call.id = piece.id;
  if (piece.function?.name) call.name += piece.function.name === call.name ? '' : piece.function.name;
  if (piece.function?.arguments) call.args += piece.function.arguments;
};

/** Providers that call tools and say `stop` mean the calls. */
const stopReason = (reason: string | undefined, calls: number): ModelAnswer['stop'] => {
  if (reason === 'length') return 'length';
  if (reason === 'content_filter') return 'content_filter';
  return calls > 0 ? 'tool_calls' : 'end';
};
