/** The chat-completions request, and what of it an agent is asked. */
import { isTable, type Static, Type } from '@svc/api';
import type { Part } from '@svc/ext-sessions/contract';
import { compatErrors } from './errors.js';

const ContentPart = Type.Object({ type: Type.String() }, { additionalProperties: true });

export const ChatRequest = Type.Object(
  {
    model: Type.String({ minLength: 1, description: 'svc:<agent>, an agent id, or an agent name; anything else is the first agent' }),
    messages: Type.Array(
      Type.Object(
        {
          role: Type.Union(['system', 'developer', 'user', 'assistant', 'tool', 'function'].map((role) => Type.Literal(role))),
          content: Type.Optional(Type.Union([Type.String(), Type.Null(), Type.Array(ContentPart)])),
        },
        { additionalProperties: true },
      ),
      { minItems: 1 },
    ),
    stream: Type.Optional(Type.Union([Type.Boolean(), Type.Null()])),
    stream_options: Type.Optional(Type.Union([Type.Object({ include_usage: Type.Optional(Type.Boolean()) }, { additionalProperties: true }), Type.Null()])),
    temperature: Type.Optional(Type.Union([Type.Number({ minimum: 0, maximum: 2 }), Type.Null()])),
    max_tokens: Type.Optional(Type.Union([Type.Integer({ minimum: 1 }), Type.Null()])),
    max_completion_tokens: Type.Optional(Type.Union([Type.Integer({ minimum: 1 }), Type.Null()])),
    n: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
    tool_choice: Type.Optional(Type.Unknown()),
  },
  { additionalProperties: true },
);
export type ChatRequest = Static<typeof ChatRequest>;
type ChatMessage = ChatRequest['messages'][number];

const IMAGE_URL = /^data:(image\/(?:png|jpeg|gif|webp));base64,([A-Za-z0-9+/]+={0,2})$/;
const MAX_IMAGE_BYTES = 10 * 1_048_576;

export interface Asked {
  readonly parts: readonly Part[];
  readonly systemExtra: string | undefined;
}

/** The last user message is what is asked; system and developer texts hold for this run only. The agent's own session is its history. */
export function askedOf(request: ChatRequest): Asked {
  if ((request.n ?? 1) !== 1) throw compatErrors.unsupported_value('n must be 1: an agent gives one answer.');
  if (request.tool_choice === 'required') throw compatErrors.unsupported_value('tool_choice "required" cannot be kept: the agent uses its own tools.');
  const user = request.messages.findLast((message) => message.role === 'user');
  const parts = user ? partsOf(user) : [];
  if (parts.length === 0) throw compatErrors.missing_message();
  const system = request.messages.filter((message) => message.role === 'system' || message.role === 'developer').map(textOf);
  return { parts, systemExtra: system.length > 0 ? system.join('\n\n') : undefined };
}

function partsOf(message: ChatMessage): Part[] {
  if (typeof message.content === 'string') return message.content === '' ? [] : [{ type: 'text', text: message.content }];
  return (message.content ?? []).map(toPart);
}

function toPart(part: { type: string }): Part {
  if (part.type === 'text' && 'text' in part && typeof part.text === 'string') return { type: 'text', text: part.text };
  if (part.type === 'image_url') return toImage('image_url' in part && isTable(part.image_url) ? part.image_url.url : undefined);
  throw compatErrors.unsupported_part(part.type);
}

function toImage(url: unknown): Part {
  if (typeof url !== 'string') throw compatErrors.invalid_image('image_url.url is missing');
  if (url.length > (MAX_IMAGE_BYTES * 4) / 3 + 64) throw compatErrors.invalid_image('it is larger than 10 MB');
  const [, mediaType, data] = IMAGE_URL.exec(url) ?? [];
  if (mediaType === undefined || data === undefined) throw compatErrors.invalid_image(url.startsWith('data:') ? 'its type or base64 is not valid' : 'only data URLs are taken, nothing is fetched');
  return { type: 'image', mediaType, data };
}

const textOf = (message: ChatMessage): string =>
  typeof message.content === 'string' ? message.content : (message.content ?? []).flatMap((part) => ('text' in part && typeof part.text === 'string' ? [part.text] : [])).join('\n');
