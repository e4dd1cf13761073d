/** What of a request an agent is asked: the last user message in a conversation, or all of it where it stands alone. */
import { isTable } from '@svc/api';
import type { RunDraft } from '@svc/ext-runs/contract';
import type { Part } from '@svc/ext-sessions/contract';
import { compatErrors } from '../errors.js';
import type { ChatMessage, ChatRequest } from './chat-request.js';
import { toImage } from './images.js';

/** Each is an entry while the run goes on; more than a model's window holds. */
const MAX_STATELESS_MESSAGES = 10_000;

export type Asked = Pick<RunDraft, 'parts' | 'systemExtra' | 'history'>;

/** The conversation is the history: earlier messages of the request are not read. */
export function askedInTalk({ messages }: ChatRequest): Asked {
  const user = messages.findLast((message) => message.role === 'user');
  const parts = user ? partsOf(user) : [];
  if (parts.length === 0) throw compatErrors.missing_message();
  return { parts, ...systemOf(messages) };
}

/** All messages as they were sent, in their order. What has no place among them is refused by name. */
export function askedAlone({ messages }: ChatRequest): Asked {
  if (messages.length > MAX_STATELESS_MESSAGES) throw compatErrors.unsupported_value(`A stateless request has at most ${MAX_STATELESS_MESSAGES} messages; this one has ${messages.length}.`);
  const said = messages.flatMap((message, index) => turnOf(message, index));
  const last = said.at(-1);
  if (last?.role !== 'user') throw compatErrors.no_question(last ? 'the last message is the assistant’s, and there is nothing to answer' : 'messages holds no user message');
  const [first] = said;
  if (first?.role === 'assistant')
    throw compatErrors.unsupported_value('The first message of a stateless request that is not a system message must be a user message: models take no conversation that the assistant begins.');
  return { parts: last.parts, history: said.slice(0, -1), ...systemOf(messages) };
}

type Turn = NonNullable<RunDraft['history']>[number];

/** None for a system text, which stands elsewhere, and for a message without words. */
function turnOf(message: ChatMessage, index: number): Turn[] {
  const { role } = message;
  if (role === 'system' || role === 'developer') return [];
  if (role === 'tool' || role === 'function' || ('tool_calls' in message && Array.isArray(message.tool_calls) && message.tool_calls.length > 0)) {
    throw compatErrors.unsupported_value(`messages[${index}] is of a tool: an agent calls none of the client's tools, so a stateless request has no such turn.`);
  }
  const parts = partsOf(message);
  if (role === 'assistant' && parts.some((part) => part.type === 'image')) throw compatErrors.unsupported_part('image_url in an assistant message');
  return parts.length === 0 ? [] : [{ role, parts }];
}

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
