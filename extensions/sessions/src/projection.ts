/**
 * From the log to what a model reads. A pure function: the same entries give the same messages.
 *
 * S1  Every tool call is answered in the message straight after it; a call without a result gets one that says so.
 * S2  A result without its call is left out. The first message is the user's.
 * S3  What does not fit the budget, or is more messages than asked for, is cut from the front, at a user's message; the newest request always stays.
 */
import type { ContentPart, ModelMessage } from '@svc/ext-llm/contract';
import type { Entry, Part } from './contract.js';

const LOST_RESULT = 'The result of this call was lost: the run was interrupted before it was recorded.';
/** Tokens an image is counted as. */
const IMAGE_TOKENS = 1_000;
const CHARS_PER_TOKEN = 4;

export interface Projected {
  readonly messages: readonly ModelMessage[];
  readonly repaired: number;
  /** Messages before the budget cut any. */
  readonly total: number;
}

export function projectEntries(entries: readonly Entry[], budgetTokens: number, maxMessages = Number.POSITIVE_INFINITY): Projected {
  const draft = new Draft();
  const results = resultsByCall(entries);
  for (let i = 0, entry = entries[i]; entry; entry = entries[++i]) {
    if (entry.kind === 'user') draft.user(toContent(entry.parts));
    else if (entry.kind === 'summary') draft.user([{ type: 'text', text: `Summary of the conversation so far:\n${entry.content ?? ''}` }]);
    else if (entry.kind === 'assistant') {
      const calls = callsAfter(entries, i);
      draft.assistant(toContent(entry.parts), calls, results);
      i += calls.length;
    } else if (entry.kind === 'tool_call') {
      const calls = [entry, ...callsAfter(entries, i)];
      draft.assistant([], calls, results);
      i += calls.length - 1;
    }
  }
  const orphans = entries.filter((entry) => entry.kind === 'tool_result' && !draft.answered.has(entry.callId ?? '')).length;
  return { messages: fit(draft.messages, budgetTokens, maxMessages), repaired: draft.repaired + orphans, total: draft.messages.length };
}

/** An estimate, chars/4 and a flat price for images. */
export const countTokens = (message: ModelMessage): number => {
  let tokens = 4;
  for (const part of message.parts) {
    if (part.type === 'text') tokens += Math.ceil(part.text.length / CHARS_PER_TOKEN);
    else if (part.type === 'image') tokens += IMAGE_TOKENS;
    else if (part.type === 'tool_call') tokens += Math.ceil((part.name.length + JSON.stringify(part.args ?? {}).length) / CHARS_PER_TOKEN);
    else tokens += Math.ceil(part.content.length / CHARS_PER_TOKEN);
  }
  return tokens;
};

class Draft {
  readonly messages: Array<{ role: 'user' | 'assistant'; parts: ContentPart[] }> = [];
  readonly answered = new Set<string>();
  repaired = 0;

  user(parts: readonly ContentPart[]): void {
    if (parts.length > 0) this.#push('user', parts);
  }

  assistant(parts: readonly ContentPart[], calls: readonly Entry[], results: ReadonlyMap<string, Entry>): void {
    const fresh = calls.filter((call) => !this.answered.has(call.callId ?? ''));
    const all: ContentPart[] = [...parts, ...fresh.map((call): ContentPart => ({ type: 'tool_call', id: call.callId ?? '', name: call.tool ?? '', args: call.args ?? {} }))];
    if (all.length === 0) return;
    this.#push('assistant', all);
    if (fresh.length === 0) return;
    this.#push(
      'user',
      fresh.map((call) => this.#resultOf(call, results)),
    );
  }

  #resultOf(call: Entry, results: ReadonlyMap<string, Entry>): ContentPart {
    const id = call.callId ?? '';
    const result = results.get(id);
    this.answered.add(id);
    if (!result) this.repaired++;
    return { type: 'tool_result', id, name: call.tool ?? '', content: result?.content ?? LOST_RESULT, isError: result?.isError ?? true };
  }

  #push(role: 'user' | 'assistant', parts: readonly ContentPart[]): void {
    const last = this.messages.at(-1);
    if (last?.role === role) last.parts.push(...parts);
    else this.messages.push({ role, parts: [...parts] });
  }
}

function resultsByCall(entries: readonly Entry[]): Map<string, Entry> {
  const results = new Map<string, Entry>();
  for (const entry of entries) if (entry.kind === 'tool_result' && entry.callId !== undefined) results.set(entry.callId, entry);
  return results;
}

function callsAfter(entries: readonly Entry[], index: number): Entry[] {
  const calls: Entry[] = [];
  for (let i = index + 1, entry = entries[i]; entry?.kind === 'tool_call'; entry = entries[++i]) calls.push(entry);
  return calls;
}

const toContent = (parts: readonly Part[] | undefined): ContentPart[] => (parts ?? []).filter((part) => part.type !== 'text' || part.text !== '').map((part) => ({ ...part }));

/** True where a conversation may begin: a user's own words, not only results of calls that would be cut off. */
const canBegin = (message: ModelMessage): boolean => message.role === 'user' && message.parts.every((part) => part.type !== 'tool_result');

function fit(messages: readonly ModelMessage[], budgetTokens: number, maxMessages: number): readonly ModelMessage[] {
  const first = messages.findIndex(canBegin);
  if (first < 0) return [];
  let tokens = 0;
  let begin = messages.length;
  let newest = messages.length;
  for (let i = messages.length - 1, message = messages[i]; message && i >= first; message = messages[--i]) {
    tokens += countTokens(message);
    if (canBegin(message)) {
      if (newest === messages.length) newest = i;
      if (tokens <= budgetTokens && messages.length - i <= maxMessages) begin = i;
    }
    if ((tokens > budgetTokens || messages.length - i > maxMessages) && newest < messages.length) break;
  }
  return messages.slice(Math.min(begin, newest));
}
