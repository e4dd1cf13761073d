/**
 * From the log to what a model reads. The same entries give the same messages, whether they came together or one by one.
 *
 * S1  Every tool call is answered in the message straight after it; a call without a result gets one that says so.
 * S2  A result without its call is left out. The first message is the user's.
 * S3  What does not fit the budget, or is more messages than asked for, is cut from the front, at a user's message; the newest request always stays.
 * S8  A log that grows is projected by what was added: an entry touches the newest message, or the one that holds the results of its call.
 *     A message that was handed out never changes; what changes it puts another in its place.
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
  /** Estimated, of all of them. */
  readonly tokens: number;
}

export interface GrowingProjection {
  add(entries: readonly Entry[]): void;
  /** What of it fits. */
  within(budgetTokens: number, maxMessages?: number): Projected;
}

export const projectEntries = (entries: readonly Entry[], budgetTokens: number, maxMessages?: number): Projected => {
  const projection = createProjection();
  projection.add(entries);
  return projection.within(budgetTokens, maxMessages);
};

export const createProjection = (): GrowingProjection => {
  const draft = new Draft();
  return {
    add: (entries) => {
      for (const entry of entries) draft.add(entry);
    },
    within: (budgetTokens, maxMessages = Number.POSITIVE_INFINITY) => ({ messages: draft.fit(budgetTokens, maxMessages), repaired: draft.repaired, total: draft.total, tokens: draft.tokens }),
  };
};

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

/** Results that came before their call, or without one. */
interface Early {
  count: number;
  last: Entry | undefined;
}

class Draft {
  readonly #messages: ModelMessage[] = [];
  /** Of each message. */
  readonly #tokens: number[] = [];
  #allTokens = 0;
  /** The first message with which a conversation may begin; none before it. */
  #first = -1;
  /** Where the results of the calls stand, by call. */
  readonly #answeredIn = new Map<string, number>();
  readonly #lost = new Set<string>();
  readonly #early = new Map<string, Early>();
  #orphans = 0;
  /** The message of results that the next call joins, if it follows straight after the last. */
  #round: number | undefined;

  get repaired(): number {
    return this.#lost.size + this.#orphans;
  }

  get tokens(): number {
    return this.#allTokens;
  }

  get total(): number {
    return this.#messages.length;
  }

  add(entry: Entry): void {
    if (entry.kind === 'tool_call') {
      this.#call(entry);
      return;
    }
    this.#round = undefined;
    if (entry.kind === 'user' || entry.kind === 'assistant') this.#push(entry.kind, toContent(entry.parts));
    else if (entry.kind === 'summary') this.#push('user', [{ type: 'text', text: `Summary of the conversation so far:\n${entry.content ?? ''}` }]);
    else if (entry.kind === 'tool_result') this.#result(entry);
  }

  fit(budgetTokens: number, maxMessages: number): readonly ModelMessage[] {
    const all = this.#messages.length;
    if (this.#first < 0) return [];
    if (this.#allTokens <= budgetTokens && all - this.#first <= maxMessages) return this.#messages.slice(this.#first);
    let tokens = 0;
    let begin = all;
    let newest = all;
    for (let i = all - 1, message = this.#messages[i]; message && i >= this.#first; message = this.#messages[--i]) {
      tokens += this.#tokens[i] ?? 0;
      if (canBegin(message)) {
        if (newest === all) newest = i;
        if (tokens <= budgetTokens && all - i <= maxMessages) begin = i;
      }
      if ((tokens > budgetTokens || all - i > maxMessages) && newest < all) break;
    }
    return this.#messages.slice(Math.min(begin, newest));
  }

  #call(call: Entry): void {
    const id = call.callId ?? '';
    // Providers refuse a conversation in which a call stands twice.
    if (this.#answeredIn.has(id)) return;
    const asked: ContentPart = { type: 'tool_call', id, name: call.tool ?? '', args: call.args ?? {}, ...(call.signature === undefined ? {} : { signature: call.signature }) };
    if (this.#round === undefined) {
      this.#push('assistant', [asked]);
      this.#push('user', [this.#firstResult(call, id)]);
      this.#round = this.#messages.length - 1;
    } else {
      this.#extend(this.#round - 1, [asked]);
      this.#extend(this.#round, [this.#firstResult(call, id)]);
    }
    this.#answeredIn.set(id, this.#round);
  }

  /** What is known of a call's result when the call is met. */
  #firstResult(call: Entry, id: string): ContentPart {
    const early = this.#early.get(id);
    this.#early.delete(id);
    this.#orphans -= early?.count ?? 0;
    if (!early?.last) this.#lost.add(id);
    return resultPart(id, call.tool ?? '', early?.last);
  }

  #result(result: Entry): void {
    const id = result.callId ?? '';
    const at = this.#answeredIn.get(id);
    if (at === undefined) {
      const early = this.#early.get(id) ?? { count: 0, last: undefined };
      this.#early.set(id, { count: early.count + 1, last: result.callId === undefined ? early.last : result });
      this.#orphans += 1;
    } else if (result.callId !== undefined) {
      this.#lost.delete(id);
      const parts = (this.#messages[at]?.parts ?? []).map((part) => (part.type === 'tool_result' && part.id === id ? resultPart(id, part.name, result) : part));
      this.#put(at, { role: 'user', parts });
    }
  }

  #push(role: 'user' | 'assistant', parts: readonly ContentPart[]): void {
    if (parts.length === 0) return;
    const last = this.#messages.length - 1;
    if (this.#messages[last]?.role === role) this.#extend(last, parts);
    else this.#put(last + 1, { role, parts: [...parts] });
  }

  #extend(index: number, parts: readonly ContentPart[]): void {
    const before = this.#messages[index];
    if (before) this.#put(index, { role: before.role, parts: [...before.parts, ...parts] });
  }

  #put(index: number, message: ModelMessage): void {
    const tokens = countTokens(message);
    this.#allTokens += tokens - (this.#tokens[index] ?? 0);
    this.#tokens[index] = tokens;
    Object.freeze(message.parts);
    this.#messages[index] = Object.freeze(message);
    // A message of results never becomes one, and one that can begin stays so.
    if (this.#first < 0 && canBegin(message)) this.#first = index;
  }
}

const resultPart = (id: string, name: string, result: Entry | undefined): ContentPart => ({ type: 'tool_result', id, name, content: result?.content ?? LOST_RESULT, isError: result?.isError ?? true });

const toContent = (parts: readonly Part[] | undefined): ContentPart[] => (parts ?? []).filter((part) => part.type !== 'text' || part.text !== '').map(contentOf);

const contentOf = ({ file, ...part }: Part): ContentPart => (file && part.type === 'image' ? { ...part, upload: file.id } : part);

/** True where a conversation may begin: a user's own words, not only results of calls that would be cut off. */
const canBegin = (message: ModelMessage): boolean => message.role === 'user' && message.parts.every((part) => part.type !== 'tool_result');
