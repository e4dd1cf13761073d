/**
 * The chat-completions protocol (https://platform.openai.com/docs/api-reference/chat), streamed or whole.
 * Spoken by OpenAI and by everything that calls itself compatible with it.
 *
 * O1  An answer is whole when a `finish_reason` came, or when it came as one object. A stream without one is half a stream, also where `[DONE]` follows: relays add that to what broke off.
 * O2  Usage may come in any event, in several places, or never (chat/usage.ts).
 * O3  Tool calls come in pieces, whole, as the older `function_call`, or as text (chat/call-pieces.ts, chat/text-calls.ts).
 * O4  Thoughts come apart from the text, as parts of the content, or within it between tags, before all that is said (thought-tags.ts).
 * O5  What the provider wants back is put together from the same pieces (chat/state.ts).
 * O6  A reason that means failure is a failure (chat/finish.ts), and so is an error in place of an answer (chat/errors-in-answer.ts).
 */
import { isTable } from '@svc/api';
import type { DriverTarget, ModelRequest } from '../contract.js';
import type { Driver, Emit } from './driver.js';
import { failureInStream, ModelFailure } from '../call/model-failure.js';
import { type Adaptation, createAdaptations } from './adaptation.js';
import { eventJson } from './body/json-values.js';
import { type CallReader, createCallReader, toolName } from './chat/call-pieces.js';
import { errorIn } from './chat/errors-in-answer.js';
import { stopReason } from './chat/finish.js';
import { contentIn, type Table, thoughtIn } from './chat/parts.js';
import { initialAdaptation } from './chat/quirks.js';
import { mergedList, type State, takeState } from './chat/state.js';
import { createTextCallReader, type TextCallReader } from './chat/text-calls.js';
import { createUsageReader, type UsageReader } from './chat/usage.js';
import { openaiEmbed } from './embedding/openai-embed.js';
import { exchange, type ExchangeDeps } from './exchange.js';
import { openaiBody } from './openai-body.js';
import { OPENAI_CODES, OPENAI_STATUSES } from './openai-codes.js';
import { createTagReader, type TagReader } from './thought-tags.js';

export const createOpenAiDriver = (deps: ExchangeDeps): Driver => {
  const adaptations = createAdaptations(initialAdaptation);
  return {
    ask: (target, request, signal, emit) => adaptations.run(target, request, emit, (adaptation, fitted, said) => ask(deps, target, fitted, adaptation, signal, said)),
    leavesOut: adaptations.leavesOut,
    embed: (target, batch, signal) => openaiEmbed(deps, target, batch, signal),
  };
};

interface Reading {
  readonly calls: CallReader;
  readonly textCalls: TextCallReader;
  readonly tagged: TagReader;
  readonly usage: UsageReader;
  readonly state: State;
  readonly emit: Emit;
  reason: string | undefined;
  native: string | undefined;
  hasSaid: boolean;
  /** Thoughts that stood within the text. */
  inline: string;
}

const createReading = (request: ModelRequest, adaptation: Adaptation, emit: Emit): Reading => {
  const tools = new Set(adaptation.noTools ? [] : request.tools.map(({ name }) => name));
  const textCalls = createTextCallReader(tools, (text) => {
    if (text.trim() !== '') reading.hasSaid = true;
    emit({ type: 'text', text });
  });
  const tagged = createTagReader((event) => {
    if (event.type === 'text') return textCalls.take(event.text);
    if (event.type === 'thought') reading.inline += event.text;
    if (event.type === 'was_thought') textCalls.end(false);
    emit(event);
  });
  const reading: Reading = { calls: createCallReader(tools), textCalls, tagged, usage: createUsageReader(), state: {}, emit, reason: undefined, native: undefined, hasSaid: false, inline: '' };
  return reading;
};

const ask = async (deps: ExchangeDeps, target: DriverTarget, request: ModelRequest, adaptation: Adaptation, signal: AbortSignal, emit: Emit): Promise<void> => {
  const reading = createReading(request, adaptation, emit);
  const outgoing = {
    url: `${target.baseUrl}/chat/completions`,
    headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    keyHeader: 'authorization',
    keyPrefix: 'Bearer ',
    codes: OPENAI_CODES,
    statuses: OPENAI_STATUSES,
    body: openaiBody(target, request, adaptation),
  };
  await exchange(deps, target, outgoing, signal, (data) => {
    if (data === '[DONE]') return true;
    takeChunk(reading, eventJson(data));
    return false;
  });
  finish(reading, target, new Set(request.tools.map(({ name }) => name)));
};

const takeChunk = (reading: Reading, chunk: Table): void => {
  const error = errorIn(chunk);
  if (error !== undefined) throw failureInStream(error, OPENAI_CODES, OPENAI_STATUSES);
  const [choice] = Array.isArray(chunk.choices) ? chunk.choices : [];
  if (isTable(choice)) takeChoice(reading, choice);
  const usage = reading.usage.take(chunk);
  if (usage) reading.emit(usage);
};

const takeChoice = (reading: Reading, choice: Table): void => {
  if (isTable(choice.delta)) takeDelta(reading, choice.delta);
  // Some servers repeat the whole message beside or behind the pieces.
  else if (isTable(choice.message) && !hasBegun(reading)) {
    takeDelta(reading, choice.message);
    reading.reason ??= 'stop';
  } else if (typeof choice.text === 'string') reading.tagged.take(choice.text);
  if (typeof choice.native_finish_reason === 'string') reading.native = choice.native_finish_reason;
  if (typeof choice.finish_reason === 'string' && choice.finish_reason !== '') reading.reason = choice.finish_reason;
};

const hasBegun = ({ hasSaid, calls, state, inline }: Reading): boolean => hasSaid || inline !== '' || calls.calls.length > 0 || Object.keys(state).length > 0;

const takeDelta = (reading: Reading, delta: Table): void => {
  const { emit, state, calls, tagged } = reading;
  takeState(state, delta);
  const content = contentIn(delta.content);
  if (content.thinkingParts.length > 0) state.content = mergedList(Array.isArray(state.content) ? state.content : [], content.thinkingParts);
  const isThought = isThoughtOfGoogle(delta);
  const thought = thoughtIn(delta) || content.thought || (isThought ? content.text.replaceAll(/<\/?thought>/g, '') : '');
  if (thought !== '') emit({ type: 'thought', text: thought });
  if (content.text !== '' && !isThought) tagged.take(content.text);
  if (typeof delta.refusal === 'string' && delta.refusal !== '') tagged.take(delta.refusal);
  if (Array.isArray(delta.tool_calls)) calls.take(delta.tool_calls);
  if (isTable(delta.function_call)) calls.take([{ function: delta.function_call }]);
};

/** Gemini marks the summary of its thoughts, which otherwise looks like an answer. */
const isThoughtOfGoogle = ({ extra_content: extra }: Table): boolean => isTable(extra) && isTable(extra.google) && extra.google.thought === true;

/** Its thoughts stay in the text of its history, or it forgets what it was about. */
const KEEPS_TAGS = /minimax/i;

const finish = (reading: Reading, target: DriverTarget, tools: ReadonlySet<string>): void => {
  const { calls, tagged, textCalls, emit, state, reason, native, inline } = reading;
  tagged.end();
  const own = calls.calls.filter(({ name, args, id }) => name !== '' || args !== '' || /^functions\./.test(id));
  const asText = textCalls.end(own.length === 0);
  if (reason === undefined) throw new ModelFailure('half_stream', 'the stream ended in the middle of the answer', { httpStatus: 200 });
  const stop = stopReason({ reason, native, calls: own.length + asText.length, hasSaid: reading.hasSaid });
  for (const call of own) emit({ type: 'call', id: call.id, name: toolName(call, tools), argsText: call.args, ...(isEmpty(call.state) ? {} : { state: call.state }) });
  for (const { name, args } of asText) emit({ type: 'call', id: '', name, argsText: args });
  if (inline !== '' && KEEPS_TAGS.test(target.model)) state.content_prefix = `<think>${inline}</think>\n\n`;
  if (!isEmpty(state)) emit({ type: 'state', state });
  emit({ type: 'stop', reason: stop });
};

const isEmpty = (state: State): boolean => Object.keys(state).length === 0;
