/** What stands in a delta or a message of the chat-completions protocol: text, thoughts and what is neither. */
import { isTable } from '@svc/api';

export type Table = Readonly<Record<string, unknown>>;

export interface Content {
  text: string;
  thought: string;
  /** Parts of the content that are thoughts, as they came. */
  readonly thinkingParts: Table[];
}

const THOUGHTS = /^(?:thinking|reasoning|thought|reasoning_text|reasoning_content)$/;
const MAX_PARTS = 10_000;

/** A text, a list of parts, or one part. */
export const contentIn = (given: unknown): Content => {
  const content: Content = { text: '', thought: '', thinkingParts: [] };
  for (const part of Array.isArray(given) ? given.slice(0, MAX_PARTS) : [given]) takePart(content, part);
  return content;
};

const takePart = (content: Content, part: unknown): void => {
  if (typeof part === 'string') content.text += part;
  else if (typeof part === 'number') content.text += String(part);
  else if (isTable(part)) {
    const type = typeof part.type === 'string' ? part.type : '';
    if (THOUGHTS.test(type)) {
      content.thought += textIn(part);
      content.thinkingParts.push(part);
    } else content.text += textIn(part);
  }
};

const TEXTS = ['text', 'thinking', 'reasoning', 'summary', 'refusal', 'content', 'value', 'output_text'] as const;

/** The words of a part, however its type calls them. */
export const textIn = (part: unknown, depth = 0): string => {
  if (typeof part === 'string') return part;
  if (depth > 4) return '';
  if (Array.isArray(part)) return part.map((one) => textIn(one, depth + 1)).join('');
  if (!isTable(part)) return '';
  for (const name of TEXTS) {
    const found = textIn(part[name], depth + 1);
    if (found !== '') return found;
  }
  return '';
};

/** Servers name thoughts in several ways, and some twice at once. */
export const thoughtIn = (delta: Table): string => {
  for (const name of ['reasoning_content', 'reasoning', 'reasoning_text', 'thinking', 'thinking_blocks', 'reasoning_details'] as const) {
    const found = textIn(delta[name]);
    if (found !== '') return found;
  }
  return '';
};
