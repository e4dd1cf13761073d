/** A request as the chat-completions protocol writes it. */
import type { AnswerFormat, ContentPart, DriverTarget, ModelMessage, ModelRequest, Parameters, ToolSchema } from '../contract.js';
import { effortOf } from '../call/thinking.js';
import { remembered } from '../remembered.js';
import { type Adaptation, temperatureOf } from './adaptation.js';
import { bodyText, jsonText, listText } from './body-text.js';
import { type IdStyle, wirePart } from './wire-parts.js';

export const openaiBody = (target: DriverTarget, request: ModelRequest, adaptation: Adaptation): string =>
  bodyText(
    {
      model: target.model,
      [adaptation.completionTokens ? 'max_completion_tokens' : 'max_tokens']: request.maxTokens,
      ...parametersOf(request.parameters, temperatureOf(request, adaptation)),
      ...choiceOf(request),
      ...(request.thinking === undefined || adaptation.noThinking ? {} : { reasoning_effort: effortOf(request.thinking) }),
      stream: true,
      ...(adaptation.noStreamOptions ? {} : { stream_options: { include_usage: true } }),
    },
    {
      messages: [...(request.system === '' ? [] : [jsonText({ role: 'system', content: request.system })]), ...request.messages.map(adaptation.shortIds ? shortMessageText : messageText)],
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

/** A message of ours is several of theirs where it holds results. */
const messageText = remembered((message: ModelMessage) => messagesText(message, 'usual'));
const shortMessageText = remembered((message: ModelMessage) => messagesText(message, 'short'));

const messagesText = ({ role, parts }: ModelMessage, style: IdStyle): string => {
  const message = { role, parts: parts.map((part) => wirePart(part, style)) };
  return listText(role === 'assistant' ? [assistantMessage(message)] : userMessages(message));
};

const assistantMessage = (message: ModelMessage): unknown => {
  const text = message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
  const calls = message.parts.flatMap((part) => (part.type === 'tool_call' ? [{ id: part.id, type: 'function', function: { name: part.name, arguments: JSON.stringify(part.args ?? {}) } }] : []));
  return calls.length > 0 ? { role: 'assistant', content: text === '' ? null : text, tool_calls: calls } : { role: 'assistant', content: text };
};

/** Results come first, each a message of its own, straight after the calls they answer; what the person said follows. */
const userMessages = (message: ModelMessage): unknown[] => {
  const messages: unknown[] = [];
  const said: unknown[] = [];
  for (const part of message.parts) {
    if (part.type === 'tool_result') messages.push({ role: 'tool', tool_call_id: part.id, content: part.isError ? `Error: ${part.content}` : part.content });
    else said.push(contentPart(part));
  }
  if (said.length === 0) return messages;
  const only = message.parts.length === 1 ? message.parts[0] : undefined;
  return [...messages, { role: 'user', content: only?.type === 'text' ? only.text : said }];
};

const contentPart = (part: ContentPart): unknown => {
  if (part.type === 'text') return { type: 'text', text: part.text };
  if (part.type === 'image') return { type: 'image_url', image_url: { url: `data:${part.mediaType};base64,${part.data}` } };
  throw new TypeError(`a user message cannot contain a ${part.type} part`);
};
