/** What of a request an agent is asked: the last user message in a conversation, or all of it where it stands alone. */
import { isTable } from '@svc/api';
import type { RunDraft } from '@svc/ext-runs/contract';
import type { Part } from '@svc/ext-sessions/contract';
import { compatErrors } from '../errors.js';
import type { ChatMessage, ChatRequest } from './chat-request.js';
import { toImage } from './images.js';

/** Each is an entry while the run goes on; more than a model's window holds. */
const MAX_STATELESS_MESSAGES = 10_000;
/** Of one message. */
const MAX_TOOL_CALLS = 128;

export type Asked = Pick<RunDraft, 'parts' | 'systemExtra' | 'history'>;

/** The conversation is the history: earlier messages of the request are not read. */
export function askedInConversation({ messages }: ChatRequest): Asked {
  const user = messages.findLast((message) => message.role === 'user');
  const parts = user ? partsOf(user) : [];
  if (parts.length === 0) throw compatErrors.missing_message();
  return { parts, ...systemOf(messages) };
}

/** All messages as they were sent, in their order. What has no place among them is refused by name. */
export function askedAlone({ messages }: ChatRequest): Asked {
  if (messages.length > MAX_STATELESS_MESSAGES) throw compatErrors.unsupported_value(`A stateless request has at most ${MAX_STATELESS_MESSAGES} messages; this one has ${messages.length}.`);
  const tools = toolNames(messages);
  const said = messages.flatMap((message) => turnOf(message, tools));
  const last = said.at(-1);
  if (last?.role !== 'user') throw compatErrors.no_question(last ? 'the last message is the assistant’s, and there is nothing to answer' : 'messages contains no user message');
  const [first] = said;
  if (first?.role === 'assistant')
    throw compatErrors.unsupported_value('The first message of a stateless request that is not a system message must be a user message: models take no conversation that the assistant begins.');
  return { parts: last.parts, history: said.slice(0, -1), ...systemOf(messages) };
}

type Turn = NonNullable<RunDraft['history']>[number];

/**
 * None for a system text, which stands elsewhere, and for a message without words. What a client's tool was asked and gave is told in
 * words: the agent cannot call that tool, but what was found out is part of what was said.
 */
function turnOf(message: ChatMessage, tools: ReadonlyMap<string, string>): Turn[] {
  const { role } = message;
  if (role === 'system' || role === 'developer') return [];
  if (role === 'tool' || role === 'function') return [{ role: 'user', parts: [{ type: 'text', text: `Result of the tool ${toolOf(message, tools)}:\n${textOf(message)}` }] }];
  const calls = role === 'assistant' ? callsOf(message).map(({ name, args }) => `I asked the tool ${name}: ${args}`) : [];
  const said = partsOf(message);
  const parts: Part[] = calls.length === 0 ? said : [...said, { type: 'text', text: `${said.length === 0 ? '' : '\n'}${calls.join('\n')}` }];
  if (role === 'assistant' && parts.some((part) => part.type === 'image')) throw compatErrors.unsupported_part('image_url in an assistant message');
  return parts.length === 0 ? [] : [{ role, parts }];
}

interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly args: string;
}

/** Of an assistant message, in today's form and in the older one of a single function. */
function callsOf(message: ChatMessage): ToolCall[] {
  const fields: Readonly<Record<string, unknown>> = message;
  const calls = Array.isArray(fields.tool_calls) ? fields.tool_calls.slice(0, MAX_TOOL_CALLS) : isTable(fields.function_call) ? [{ function: fields.function_call }] : [];
  return calls.filter(isTable).map(({ id, function: called }) => {
    const { name, arguments: args } = isTable(called) ? called : {};
    return { id: typeof id === 'string' ? id : '', name: typeof name === 'string' && name !== '' ? name : 'without a name', args: typeof args === 'string' ? args : JSON.stringify(args ?? {}) };
  });
}

const toolNames = (messages: readonly ChatMessage[]): ReadonlyMap<string, string> => new Map(messages.flatMap(callsOf).map(({ id, name }) => [id, name]));

/** A result names its call, and sometimes the tool. */
const toolOf = (message: ChatMessage, tools: ReadonlyMap<string, string>): string => {
  const { name, tool_call_id: id }: Readonly<Record<string, unknown>> = message;
  return (typeof name === 'string' && name !== '' ? name : undefined) ?? (typeof id === 'string' ? tools.get(id) : undefined) ?? 'of the client';
};

const systemOf = (messages: readonly ChatMessage[]): Pick<Asked, 'systemExtra'> => {
  const system = messages.filter((message) => message.role === 'system' || message.role === 'developer').map(textOf);
  return system.length > 0 ? { systemExtra: system.join('\n\n') } : {};
};

function partsOf(message: ChatMessage): Part[] {
  if (typeof message.content === 'string') return message.content === '' ? [] : [{ type: 'text', text: message.content }];
  return (message.content ?? []).map(toPart).filter((part) => part.type !== 'text' || part.text !== '');
}

function toPart(part: { type: string }): Part {
  if (part.type === 'text' && 'text' in part && typeof part.text === 'string') return { type: 'text', text: part.text };
  if (part.type === 'image_url') return toImage('image_url' in part && isTable(part.image_url) ? part.image_url.url : undefined);
  throw compatErrors.unsupported_part(part.type);
}

const textOf = (message: ChatMessage): string =>
  partsOf(message)
    .map((part) => {
      if (part.type === 'image') throw compatErrors.unsupported_part(`image_url in a ${message.role} message`);
      return part.text;
    })
    .join('\n');
