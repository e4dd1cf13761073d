/**
 * A request as the Anthropic messages protocol writes it.
 *
 * The provider caches up to a mark, and reads tools, system prompt and messages in this order. So each mark covers what stands
 * before it: the tools stay cached where the system prompt changes, both where another conversation begins, and the last message
 * is what the next call goes on from.
 */
import type { ContentPart, DriverTarget, ModelMessage, ModelRequest, Parameters, ToolSchema } from '../contract.js';
import { remembered } from '../remembered.js';
import { type Adaptation, temperatureOf } from './adaptation.js';
import { bodyText, listText } from './body-text.js';
import { wirePart } from './wire-parts.js';

export const anthropicBody = (target: DriverTarget, request: ModelRequest, adaptation: Adaptation): string => {
  const mark = target.cachesPrompt === true && !adaptation.noCaching ? CACHED : undefined;
  return bodyText(
    {
      model: target.model,
      max_tokens: request.maxTokens,
      ...(request.system === '' ? {} : { system: mark ? [{ type: 'text', text: request.system, ...mark }] : request.system }),
      ...(mayThink(request, adaptation) ? { thinking: { type: 'enabled', budget_tokens: request.thinking?.budgetTokens } } : {}),
      ...ownTemperature(request, adaptation),
      ...(request.parameters?.topP === undefined ? {} : { top_p: request.parameters.topP }),
      ...(request.parameters?.stop === undefined ? {} : { stop_sequences: request.parameters.stop }),
      ...choiceOf(request),
      stream: true,
    },
    {
      messages: request.messages.map((message, index) => (mark && index === request.messages.length - 1 ? markedText(message) : messageText(message))),
      ...(request.tools.length > 0 && !adaptation.noTools ? { tools: [(mark ? markedToolsText : toolsText)(request.tools)] } : {}),
    },
  );
};

const CACHED = { cache_control: { type: 'ephemeral' } };

/** `auto` must be named where only its other word is meant. */
const choiceOf = ({ tools, parameters: { toolChoice: choice, parallelToolCalls: parallel } = {} }: ModelRequest): object => {
  if (tools.length === 0 || (choice === undefined && parallel !== false)) return {};
  const type = choice === undefined ? 'auto' : choice === 'required' ? 'any' : choice === 'none' ? 'none' : 'tool';
  return { tool_choice: { type, ...(typeof choice === 'object' ? { name: choice.name } : {}), ...(parallel === false && choice !== 'none' ? { disable_parallel_tool_use: true } : {}) } };
};

const wireTools = (tools: readonly ToolSchema[]): object[] => tools.map(({ name, description, parameters }) => ({ name, description, input_schema: parameters }));
const toolsText = remembered((tools: readonly ToolSchema[]) => listText(wireTools(tools)));
const markedToolsText = remembered((tools: readonly ToolSchema[]) => listText(wireTools(tools).map((tool, index) => (index === tools.length - 1 ? { ...tool, ...CACHED } : tool))));

const messageText = remembered((message: ModelMessage) => listText(wireMessage(message)));
/** The last one changes with each call. */
const markedText = (message: ModelMessage): string =>
  listText(wireMessage(message).map(({ role, content }) => ({ role, content: content.map((part, index) => (index === content.length - 1 ? { ...part, ...CACHED } : part)) })));

/**
 * The protocol takes a temperature only from a model that does not think, and newer models not beside a top_p: there the agent's own
 * gives way. The caller's is sent, and what the provider says of it is told.
 */
const ownTemperature = (request: ModelRequest, adaptation: Adaptation): object => {
  const isFree = !mayThink(request, adaptation) && request.parameters?.topP === undefined;
  const asked = isFree ? temperatureOf(request, adaptation) : request.parameters?.temperature;
  return asked === undefined ? {} : { temperature: asked };
};

const isForced = ({ toolChoice: choice }: Parameters = {}): boolean => choice !== undefined && choice !== 'none';

/** Nor beside a demand for a call. In the middle of a round of tools the protocol wants the thoughts before it back, which are not kept: there it goes on without. */
const mayThink = ({ thinking, messages, parameters }: ModelRequest, { noThinking }: Adaptation): boolean =>
  thinking !== undefined && !noThinking && !isForced(parameters) && !messages.at(-1)?.parts.some((part) => part.type === 'tool_result');

interface WireMessage {
  readonly role: string;
  readonly content: readonly object[];
}

/** Texts of blanks alone are refused by the protocol, so they are left out. Results stand before what the person said. A message of the user is never empty: it may be the only one. */
const wireMessage = (message: ModelMessage): WireMessage[] => {
  const parts = message.parts.map((part) => wirePart(part));
  const results = parts.filter((part) => part.type === 'tool_result');
  const others = parts.filter((part) => part.type !== 'tool_result' && !(part.type === 'text' && part.text.trim() === ''));
  const content = [...results, ...others].map(block);
  if (content.length > 0) return [{ role: message.role, content }];
  return message.role === 'user' ? [{ role: 'user', content: [{ type: 'text', text: '(empty)' }] }] : [];
};

const block = (part: ContentPart): object => {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'image':
      return { type: 'image', source: { type: 'base64', media_type: part.mediaType, data: part.data } };
    case 'tool_call':
      return { type: 'tool_use', id: part.id, name: part.name, input: part.args ?? {} };
    case 'tool_result':
      return { type: 'tool_result', tool_use_id: part.id, content: part.content, ...(part.isError ? { is_error: true } : {}) };
  }
};
