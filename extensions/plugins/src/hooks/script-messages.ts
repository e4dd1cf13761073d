/**
 * A conversation as scripts read it, and back.
 *
 * M1  A message that a script gives back with its `index` is the original, with whatever its tools need; only its texts may be others.
 * M2  One without an `index` is text that the script wrote. It can call no tool and answer none.
 */
import { isTable } from '@svc/api';
import type { ContentPart, ModelMessage } from '@svc/ext-llm/contract';

export interface ScriptMessage {
  readonly index: number;
  readonly role: 'user' | 'assistant';
  readonly content: string;
  readonly tool_calls?: ReadonlyArray<{ readonly id: string; readonly name: string; readonly arguments: unknown }>;
  readonly tool_results?: ReadonlyArray<{ readonly id: string; readonly name: string; readonly content: string; readonly is_error: boolean }>;
}

const MAX_CHARS = 400_000;

export const forScript = (messages: readonly ModelMessage[]): ScriptMessage[] =>
  messages.map(({ role, parts }, index) => {
    const calls = parts.flatMap((part) => (part.type === 'tool_call' ? [{ id: part.id, name: part.name, arguments: part.args }] : []));
    const results = parts.flatMap((part) => (part.type === 'tool_result' ? [{ id: part.id, name: part.name, content: part.content, is_error: part.isError }] : []));
    return { index, role, content: contentOf(parts), ...(calls.length === 0 ? {} : { tool_calls: calls }), ...(results.length === 0 ? {} : { tool_results: results }) };
  });

const contentOf = (parts: readonly ContentPart[]): string => parts.flatMap((part) => (part.type === 'text' ? [part.text] : part.type === 'image' ? ['[image]'] : [])).join('\n');

/** What a script made of them, or why it cannot be read. */
export const fromScript = (given: unknown, before: readonly ModelMessage[]): ModelMessage[] | string => {
  if (!Array.isArray(given)) return 'the response has no list "messages"';
  const made: ModelMessage[] = [];
  for (const [at, one] of given.entries()) {
    const message = messageOf(one, at === given.length - 1, before);
    if (typeof message === 'string') return `message ${at + 1} ${message}`;
    made.push(message);
  }
  return made;
};

const messageOf = (one: unknown, isLast: boolean, before: readonly ModelMessage[]): ModelMessage | string => {
  if (!isTable(one)) return 'is no object';
  const { role, content, index } = one;
  if (index !== undefined) {
    const original = typeof index === 'number' ? before[index] : undefined;
    if (!original) return `has the index ${JSON.stringify(index)}, which no message has`;
    return edited(original, one);
  }
  if (role !== 'user' && role !== 'assistant') return `has the role ${JSON.stringify(role ?? null).slice(0, 40)}; use "user" or "assistant"`;
  if (typeof content !== 'string' || content.trim() === '') return 'has no text "content"';
  const newest = before.at(-1);
  if (isLast && newest?.role === role && contentOf(newest.parts) === content) return newest;
  return { role, parts: [{ type: 'text', text: cleaned(content) }] };
};

const cleaned = (text: string): string => text.replaceAll('\0', '').slice(0, MAX_CHARS);

const edited = (original: ModelMessage, { content, tool_results: results }: Readonly<Record<string, unknown>>): ModelMessage => {
  const texts = new Map(
    (Array.isArray(results) ? results : []).flatMap((one: unknown) => (isTable(one) && typeof one.id === 'string' && typeof one.content === 'string' ? [[one.id, cleaned(one.content)] as const] : [])),
  );
  const parts = original.parts.map((part) => (part.type === 'tool_result' && texts.has(part.id) && texts.get(part.id) !== part.content ? { ...part, content: texts.get(part.id) ?? '' } : part));
  if (typeof content !== 'string' || content === contentOf(original.parts)) return parts.every((part, at) => part === original.parts[at]) ? original : { role: original.role, parts };
  const rest = parts.filter(({ type }) => type !== 'text');
  return { role: original.role, parts: content.trim() === '' ? rest : [{ type: 'text', text: cleaned(content) }, ...rest] };
};
