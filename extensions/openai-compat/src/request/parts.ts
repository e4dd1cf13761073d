/** The parts of a message. What is wrong in the newest one is refused by its name; in older ones, which nobody can change any more, words take its place. */
import { isSvcError, isTable } from '@svc/api';
import type { Part } from '@svc/ext-sessions/contract';
import { compatErrors } from '../errors.js';
import type { ChatMessage } from './chat-request.js';
import { toImage } from './images.js';

export type ReadPart = Part;
type Content = ChatMessage['content'];

/** What models said to themselves: it is no part of what was said. */
const THOUGHTS: ReadonlySet<string> = new Set(['thinking', 'redacted_thinking', 'reasoning', 'reasoning_text', 'summary_text']);
const TEXTS: ReadonlySet<string> = new Set(['text', 'input_text', 'output_text']);

export const strictParts = (content: Content): ReadPart[] => partsOf(content, toPart);

export const plainParts = (content: Content): ReadPart[] =>
  partsOf(content, (part) => {
    try {
      return toPart(part);
    } catch (cause) {
      if (!isSvcError(cause)) throw cause;
      return { type: 'text', text: part.type === 'image_url' ? `[a picture that was not taken: ${cause.message}]` : `[a part of type ${part.type.slice(0, 60)}]` };
    }
  });

function partsOf(content: Content, read: (part: Readonly<Record<string, unknown>> & { type: string }) => ReadPart): ReadPart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  return (content ?? [])
    .filter(({ type }) => !THOUGHTS.has(type))
    .map(read)
    .filter((part) => part.type !== 'text' || part.text !== '');
}

function toPart(part: Readonly<Record<string, unknown>> & { type: string }): ReadPart {
  if (TEXTS.has(part.type) && (typeof part.text === 'string' || part.text === null)) return { type: 'text', text: part.text ?? '' };
  if (part.type === 'refusal' && typeof part.refusal === 'string') return { type: 'text', text: part.refusal };
  if (part.type === 'image_url') return toImage(isTable(part.image_url) ? part.image_url.url : part.image_url);
  throw compatErrors.unsupported_part(part.type);
}
