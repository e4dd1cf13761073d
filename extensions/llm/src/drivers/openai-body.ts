/** A request as the chat-completions protocol writes it. */
import { isTable } from '@svc/api';
import type { AnswerFormat, ContentPart, DriverTarget, ModelMessage, ModelRequest, Parameters, ProviderState, ToolSchema } from '../contract.js';
import { remembered } from '../remembered.js';
import { type Adaptation, temperatureOf } from './adaptation.js';
import { bodyText, jsonText, listText } from './body-text.js';
import { chatThinking } from './chat/thinking.js';
import { wirePart } from './wire-parts.js';

export const openaiBody = (target: DriverTarget, request: ModelRequest, adaptation: Adaptation): string =>
  bodyText(
    {
      model: target.model,
      [adaptation.completionTokens ? 'max_completion_tokens' : 'max_tokens']: request.maxTokens,
      ...parametersOf(request.parameters, temperatureOf(request, adaptation)),
      ...choiceOf(request),
      ...chatThinking(target, request.thinking, adaptation),
      stream: true,
      ...(adaptation.noStreamOptions ? {} : { stream_options: { include_usage: true } }),
    },
    {
      messages: messagesOf(request, adaptation),
      ...(request.tools.length > 0 && !adaptation.noTools ? { tools: [toolsText(request.tools)] } : {}),
    },
  );

const parametersOf = ({ topP, presencePenalty, frequencyPenalty, stop, seed, format }: Parameters = {}, temperature: number | undefined): object => ({
  ...(temperature === undefined ? {} : { temperature }),
  ...(topP === undefined ? {} : { top_p: topP }),
  ...(presencePenalty === undefined ? {} : { presence_penalty: presencePenalty }),
  ...(frequencyPenalty === undefined ? {} : { frequency_penalty: frequencyPenalty }),
  ...(stop === undefined ? {} : { stop }),
  ...(seed === undefined ? {} : { seed }),
  ...(format === undefined ? {} : { response_format: formatOf(format) }),
});

/** Refused by the protocol in a request without tools. */
const choiceOf = ({ tools, parameters: { toolChoice: choice, parallelToolCalls: parallel } = {} }: ModelRequest): object =>
  tools.length === 0
    ? {}
    : {
        ...(choice === undefined ? {} : { tool_choice: typeof choice === 'string' ? choice : { type: 'function', function: { name: choice.name } } }),
        ...(parallel === undefined ? {} : { parallel_tool_calls: parallel }),
      };

const formatOf = (format: AnswerFormat): object => {
  if (format.type === 'json_object') return format;
  const { type, ...schema } = format;
  return { type, json_schema: schema };
};

const toolsText = remembered((tools: readonly ToolSchema[]) =>
  listText(tools.map(({ name, description, parameters, strict }) => ({ type: 'function', function: { name, description, parameters, ...(strict === undefined ? {} : { strict }) } }))),
);

const messagesOf = ({ system, messages }: ModelRequest, adaptation: Adaptation): string[] => {
  const write = writerOf(styleOf(adaptation));
  // A prompt that stands in the first message makes another message of it.
  const [first, ...rest] = messages;
  const folded = adaptation.noSystem && system !== '' && first ? [{ role: first.role, parts: [{ type: 'text' as const, text: `${system}\n\n` }, ...first.parts] }, ...rest] : messages;
  return [
    ...(system === '' || adaptation.noSystem ? [] : [jsonText({ role: 'system', content: system })]),
    ...folded.map(write),
    ...(adaptation.bridges && messages.at(-1)?.role === 'assistant' ? [jsonText({ role: 'user', content: GO_ON })] : []),
  ];
};

/** How one model wants its messages. */
interface Style {
  readonly ids: 'usual' | 'short';
  /** An assistant's message stands between results and what a person says, and none is empty. */
  readonly bridges: boolean;
  /** A thought is missed where none stands. */
  readonly wantsThoughts: boolean;
  /** Members of the provider's own that it does not take back. */
  readonly withoutState: readonly string[];
}

const styleOf = ({ shortIds, bridges, wantsThoughts, withoutState }: Adaptation): Style => ({
  ids: shortIds ? 'short' : 'usual',
  bridges: bridges === true,
  wantsThoughts: wantsThoughts === true,
  withoutState: withoutState ?? [],
});

type Writer = (message: ModelMessage) => string;
const writers = new Map<string, Writer>();
const MAX_WRITERS = 64;

const writerOf = (style: Style): Writer => {
  const name = JSON.stringify(style);
  const known = writers.get(name);
  if (known) return known;
  if (writers.size >= MAX_WRITERS) writers.clear();
  const writer = remembered((message: ModelMessage) => messagesText(message, style));
  writers.set(name, writer);
  return writer;
};

const BRIDGE = 'I was interrupted before I could answer.';
const GO_ON = 'Go on.';
/** In place of a thought that this model did not have: another one wrote the message. Some take no blanks for one. */
const NO_THOUGHT = '(not recorded)';

/** A message of ours is several of theirs where it holds results. */
const messagesText = ({ role, parts }: ModelMessage, style: Style): string => {
  const message = { role, parts: parts.map((part) => wirePart(part, style.ids)) };
  return listText(role === 'assistant' ? [assistantMessage(message, style)] : userMessages(message, style));
};

const assistantMessage = (message: ModelMessage, style: Style): object => {
  const text = message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
  const calls = message.parts.flatMap((part) => (part.type === 'tool_call' ? [wireCall(part)] : []));
  const { content: leading, content_prefix: prefix, ...state } = stateOf(message, style);
  const whole = typeof prefix === 'string' ? prefix + text : text;
  const content = Array.isArray(leading) ? [...leading, ...(whole === '' ? [] : [{ type: 'text', text: whole }])] : whole;
  if (calls.length > 0) return { role: 'assistant', content: content === '' ? null : content, tool_calls: calls, ...state };
  return { role: 'assistant', content: content === '' && style.bridges ? BRIDGE : content, ...state };
};

const wireCall = (part: Extract<ContentPart, { type: 'tool_call' }>): object => {
  const { function: inner, ...beside } = part.state?.call ?? {};
  return { ...beside, id: part.id, type: 'function', function: { ...(isTable(inner) ? inner : {}), name: part.name, arguments: JSON.stringify(part.args ?? {}) } };
};

const stateOf = ({ parts }: ModelMessage, { wantsThoughts, withoutState }: Style): Record<string, unknown> => {
  const own = parts.map((part) => ('state' in part ? part.state : undefined)).find((state): state is ProviderState => state?.message !== undefined)?.message;
  const state: Record<string, unknown> = { ...own };
  for (const name of withoutState) delete state[name];
  if (wantsThoughts && (typeof state.reasoning_content !== 'string' || state.reasoning_content.trim() === '')) state.reasoning_content = NO_THOUGHT;
  return state;
};

/** Results come first, each a message of its own, straight after the calls they answer; what the person said follows. */
const userMessages = (message: ModelMessage, { bridges }: Style): unknown[] => {
  const messages: unknown[] = [];
  const said: unknown[] = [];
  for (const part of message.parts) {
    if (part.type === 'tool_result') messages.push({ role: 'tool', tool_call_id: part.id, content: part.isError ? `Error: ${part.content}` : part.content });
    else said.push(contentPart(part));
  }
  if (said.length === 0) return messages;
  const only = message.parts.length === 1 ? message.parts[0] : undefined;
  if (bridges && messages.length > 0) messages.push({ role: 'assistant', content: BRIDGE });
  return [...messages, { role: 'user', content: only?.type === 'text' ? only.text : said }];
};

const contentPart = (part: ContentPart): unknown => {
  if (part.type === 'text') return { type: 'text', text: part.text };
  if (part.type === 'image') return { type: 'image_url', image_url: { url: `data:${part.mediaType};base64,${part.data}` } };
  throw new TypeError(`a user message cannot contain a ${part.type} part`);
};
