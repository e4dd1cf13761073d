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
import { effortOf } from '../call/thinking.js';
import { bodyText, jsonText, listText } from './body-text.js';
import { wirePart } from './wire-parts.js';

export const anthropicBody = (target: DriverTarget, request: ModelRequest, adaptation: Adaptation): string => {
  const mark = target.cachesPrompt === true && !adaptation.noCaching ? CACHED : undefined;
  return bodyText(
    {
      model: target.model,
      max_tokens: request.maxTokens,
      ...(request.system === '' ? {} : { system: mark ? [{ type: 'text', text: request.system, ...mark }] : request.system }),
      ...thinkingOf(target, request, adaptation),
      ...ownTemperature(target, request, adaptation),
      ...(request.parameters?.topP === undefined ? {} : { top_p: request.parameters.topP }),
      ...(request.parameters?.stop === undefined ? {} : { stop_sequences: request.parameters.stop }),
      ...choiceOf(request),
      stream: true,
    },
    {
      messages: [
        ...request.messages.map((message, index) =>
          mark && index === request.messages.length - 1 ? markedText(message) : (adaptation.withoutState?.includes('blocks') ? plainText : messageText)(message),
        ),
        ...(adaptation.bridges && request.messages.at(-1)?.role === 'assistant' ? [jsonText({ role: 'user', content: 'Go on.' })] : []),
      ],
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
const plainText = remembered((message: ModelMessage) => listText(wireMessage(message, { withoutState: ['blocks'] })));
/** The last one changes with each call. */
const markedText = (message: ModelMessage): string =>
  listText(wireMessage(message).map(({ role, content }) => ({ role, content: content.map((part, index) => (index === content.length - 1 ? { ...part, ...CACHED } : part)) })));

/**
 * The protocol takes a temperature only from a model that does not think, and newer models not beside a top_p: there the agent's own
 * gives way. The caller's is sent, and what the provider says of it is told.
 */
const ownTemperature = (target: Model, request: ModelRequest, adaptation: Adaptation): object => {
  const isFree = !thinksOf(target, request, adaptation) && request.parameters?.topP === undefined;
  const asked = isFree ? temperatureOf(request, adaptation) : request.parameters?.temperature;
  return asked === undefined ? {} : { temperature: asked };
};

const isForced = ({ toolChoice: choice }: Parameters = {}): boolean => choice !== undefined && choice !== 'none';

type Model = Pick<DriverTarget, 'model'>;

/** They choose how much they think, and from Opus 4.7 on refuse to be told. */
const ADAPTIVE = /claude-(?:(?:opus|sonnet|haiku)-(?:4-[6-9]|[5-9](?!\d))|mythos|fable)|claude-[5-9]-/i;
/** These say nothing of what they thought unless they are asked to. */
const SILENT = /claude-opus-(?:4-[7-9]|[5-9])|claude-[5-9]-|mythos|fable/i;

const thinkingOf = (target: Model, request: ModelRequest, adaptation: Adaptation): object => {
  if (!request.thinking || !thinksOf(target, request, adaptation)) return {};
  const { budgetTokens } = request.thinking;
  if (!isAdaptive(target, adaptation)) return { thinking: { type: 'enabled', budget_tokens: budgetTokens } };
  return {
    thinking: { type: 'adaptive', ...(SILENT.test(target.model) ? { display: 'summarized' } : {}) },
    output_config: { effort: adaptation.effort ?? effortOf(request.thinking) },
  };
};

const isAdaptive = ({ model }: Model, adaptation: Adaptation): boolean => adaptation.isAdaptive ?? ADAPTIVE.test(model);

/**
 * Nor beside a demand for a call. In the middle of a round of tools the protocol wants the thoughts before it back: where another model thought
 * them it goes on without, unless the model chooses by itself.
 */
export const thinksOf = (target: Model, { thinking, messages, parameters }: ModelRequest, adaptation: Adaptation): boolean => {
  if (thinking === undefined || adaptation.noThinking || isForced(parameters)) return false;
  const isInRound = messages.at(-1)?.parts.some((part) => part.type === 'tool_result') === true;
  return !isInRound || isAdaptive(target, adaptation) || thoughtsOf(messages.at(-2), adaptation).length > 0;
};

/** As they came, with their signatures. */
const thoughtsOf = (message: ModelMessage | undefined, { withoutState }: Adaptation): readonly object[] => {
  if (message === undefined || withoutState?.includes('blocks')) return [];
  const own = message.parts.map((part) => ('state' in part ? part.state?.message : undefined)).find((state) => Array.isArray(state?.blocks));
  return Array.isArray(own?.blocks) ? own.blocks : [];
};

interface WireMessage {
  readonly role: string;
  readonly content: readonly object[];
}

/** Texts of blanks alone are refused by the protocol, so they are left out. Results stand before what the person said. A message of the user is never empty: it may be the only one. */
const wireMessage = (message: ModelMessage, adaptation: Adaptation = {}): WireMessage[] => {
  const parts = message.parts.map((part) => wirePart(part));
  const results = parts.filter((part) => part.type === 'tool_result');
  const others = parts.filter((part) => part.type !== 'tool_result' && !(part.type === 'text' && part.text.trim() === ''));
  const said = [...results, ...others].map(block);
  const content = said.length > 0 ? [...thoughtsOf(message, adaptation), ...said] : [];
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
