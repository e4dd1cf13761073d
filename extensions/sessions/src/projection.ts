/**
 * From the log to what a model reads. The same entries give the same messages, whether they came together or one by one.
 *
 * S1  Every tool call is answered in the message straight after it; a call without a result gets one that says so.
 * S2  A result without its call is left out. The first message is the user's.
 * S11 What still does not fit, the newest request with its calls, is shortened: results of tools from the oldest on, so that the model can go on working. What was left out is said.
 * S3  What does not fit the budget, or is more messages than asked for, is cut from the front, at a user's message; the newest request always stays.
 * S12 A picture that a call gave stands behind the results of its round, for models that see; it begins no conversation, and goes with its result.
 * S8  A log that grows is projected by what was added: an entry touches the newest message, or the one that holds the results of its call.
 *     A message that was handed out never changes; what changes it puts another in its place.
 */
import { CHARS_PER_TOKEN, tokensOfChars } from '@svc/api';
import type { ContentPart, ModelMessage, ProviderState } from '@svc/ext-llm/contract';
import type { Entry, Part } from './contract.js';

const LOST_RESULT = 'The result of this call was lost: the run was interrupted before it was recorded.';
/** Tokens an image is counted as. */
const IMAGE_TOKENS = 1_000;

export interface Projected {
  readonly messages: readonly ModelMessage[];
  readonly repaired: number;
  /** Messages before the budget cut any. */
  readonly total: number;
  /** Estimated, of all of them. */
  readonly tokens: number;
  /** Estimated, of those that are left. More than the budget only where the newest request alone is. */
  readonly fittedTokens: number;
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
    within: (budgetTokens, maxMessages = Number.POSITIVE_INFINITY) => ({ ...draft.fit(budgetTokens, maxMessages), repaired: draft.repaired, total: draft.total, tokens: draft.tokens }),
  };
};

/** An estimate, chars/4 and a flat price for images. */
export const countTokens = (message: ModelMessage): number => {
  let tokens = 4;
  for (const part of message.parts) {
    if ('state' in part && part.state) tokens += tokensOfChars(JSON.stringify(part.state).length);
    if (part.type === 'text') tokens += tokensOfChars(part.text.length);
    else if (part.type === 'image') tokens += IMAGE_TOKENS;
    else if (part.type === 'tool_call') tokens += tokensOfChars(part.name.length + JSON.stringify(part.args ?? {}).length);
    else tokens += tokensOfChars(part.content.length);
  }
  return tokens;
};

/** Results that came before their call, or without one. */
interface Early {
  count: number;
  last: Entry | undefined;
}

/** A model must not take it for words of the person who asks. */
const recallText = ({ content = '', origin, recalled }: Entry): string =>
  `Recalled for the message that follows, from ${origin?.source || recalled?.by || 'memory'}. It is background, not a request:\n${content}`;

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
    if (entry.kind === 'user' || entry.kind === 'assistant') this.#push(entry.kind, withState(toContent(entry.parts), entry.state));
    else if (entry.kind === 'recall') this.#push('user', [{ type: 'text', text: recallText(entry) }]);
    else if (entry.kind === 'summary') this.#push('user', [{ type: 'text', text: `Summary of the conversation so far:\n${entry.content ?? ''}` }]);
    else if (entry.kind === 'tool_result') this.#result(entry);
  }

  fit(budgetTokens: number, maxMessages: number): Pick<Projected, 'messages' | 'fittedTokens'> {
    const all = this.#messages.length;
    if (all === 0) return { messages: [], fittedTokens: 0 };
    if (this.#first < 0)
      return shortened(
        [
          NO_BEGINNING,
          ...this.#messages.slice(
            Math.max(
              0,
              this.#messages.findIndex(({ role }) => role === 'assistant'),
            ),
          ),
        ],
        budgetTokens,
      );
    if (this.#first === 0 && this.#allTokens <= budgetTokens && all <= maxMessages) return { messages: this.#messages.slice(), fittedTokens: this.#allTokens };
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
    const [first, ...rest] = this.#messages.slice(Math.min(begin, newest));
    return shortened(first ? [withoutResults(first), ...rest] : rest, budgetTokens);
  }

  #call(call: Entry): void {
    const id = call.callId ?? '';
    // Providers refuse a conversation in which a call stands twice.
    if (this.#answeredIn.has(id)) return;
    const asked: ContentPart = { type: 'tool_call', id, name: call.tool ?? '', args: call.args ?? {}, ...(call.signature === undefined ? {} : { signature: call.signature }), ...stateOf(call.state) };
    if (this.#round === undefined) {
      this.#push('assistant', [asked]);
      this.#push('user', this.#firstResult(call, id));
      this.#round = this.#messages.length - 1;
    } else {
      this.#extend(this.#round - 1, [asked]);
      this.#extend(this.#round, this.#firstResult(call, id));
    }
    this.#answeredIn.set(id, this.#round);
  }

  /** What is known of a call's result when the call is met. */
  #firstResult(call: Entry, id: string): readonly ContentPart[] {
    const early = this.#early.get(id);
    this.#early.delete(id);
    this.#orphans -= early?.count ?? 0;
    if (!early?.last) this.#lost.add(id);
    return [resultPart(id, call.tool ?? '', early?.last), ...picturesOf(id, early?.last)];
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
      const parts = (this.#messages[at]?.parts ?? []).flatMap((part) => (part.type === 'tool_result' && part.id === id ? [resultPart(id, part.name, result)] : isPictureOf(part, id) ? [] : [part]));
      this.#put(at, { role: 'user', parts: [...parts, ...picturesOf(id, result)] });
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
    // One that can begin stays so; a message of results can become one, before the first that was known.
    if ((this.#first < 0 || index < this.#first) && canBegin(message)) this.#first = index;
  }
}

const resultPart = (id: string, name: string, result: Entry | undefined): ContentPart => ({ type: 'tool_result', id, name, content: result?.content ?? LOST_RESULT, isError: result?.isError ?? true });

const picturesOf = (id: string, result: Entry | undefined): ContentPart[] =>
  (result?.files ?? []).flatMap((file): ContentPart[] => (file.mediaType.startsWith('image/') ? [{ type: 'image', mediaType: file.mediaType, data: '', upload: file.id, ofCall: id }] : []));

const isPictureOf = (part: ContentPart, id: string): boolean => part.type === 'image' && part.ofCall === id;

/** A result, or what came with one. */
const isOfCall = (part: ContentPart): boolean => part.type === 'tool_result' || (part.type === 'image' && part.ofCall !== undefined);

const toContent = (parts: readonly Part[] | undefined): ContentPart[] => (parts ?? []).filter((part) => part.type !== 'text' || part.text !== '').map(contentOf);

const stateOf = (state: ProviderState | undefined): { state?: ProviderState } => (state === undefined ? {} : { state });

/** It stands with the first text of the answer. */
const withState = (parts: ContentPart[], state: ProviderState | undefined): ContentPart[] => {
  const first = parts.findIndex((part) => part.type === 'text');
  return state === undefined ? parts : parts.map((part, index) => (index === first && part.type === 'text' ? { ...part, state } : part));
};

const contentOf = ({ file, ...part }: Part): ContentPart => (file && part.type === 'image' ? { ...part, upload: file.id } : part);

/** True where a conversation may begin: words of a user, also beside results of calls that are then cut off. */
const canBegin = (message: ModelMessage): boolean => message.role === 'user' && message.parts.some((part) => !isOfCall(part));

const withoutResults = (message: ModelMessage): ModelMessage => (message.parts.some(isOfCall) ? { role: 'user', parts: message.parts.filter((part) => !isOfCall(part)) } : message);

/** Every protocol wants words of a user first. */
const BEGINNING: ContentPart = { type: 'text', text: 'The beginning of this conversation is not available.' };
const NO_BEGINNING: ModelMessage = Object.freeze({ role: 'user', parts: [BEGINNING] });

/** S11. The newest results are shortened last, and none to nothing: the model sees what it asked for. */
const shortened = (messages: readonly ModelMessage[], budgetTokens: number): Pick<Projected, 'messages' | 'fittedTokens'> => {
  const counts = messages.map(countTokens);
  let tokens = counts.reduce((sum, count) => sum + count, 0);
  if (tokens <= budgetTokens) return { messages, fittedTokens: tokens };
  const next = [...messages];
  for (const [index, message] of messages.entries()) {
    if (tokens <= budgetTokens) break;
    let missing = tokens - budgetTokens;
    const parts = message.parts.map((part) => {
      if (part.type !== 'tool_result' || missing <= 0 || part.content.length <= LEAST_RESULT_CHARS) return part;
      const cut = cutResult(part.content, missing * CHARS_PER_TOKEN);
      missing -= Math.floor((part.content.length - cut.length) / CHARS_PER_TOKEN);
      return { ...part, content: cut };
    });
    const fitted = { role: message.role, parts };
    tokens += countTokens(fitted) - (counts[index] ?? 0);
    next[index] = fitted;
  }
  return { messages: next, fittedTokens: tokens };
};

/** Results of this length stay whole. */
const LEAST_RESULT_CHARS = 400;

/** Its beginning, and how much is left out. */
const cutResult = (content: string, leastCut: number): string => {
  const kept = Math.max(LEAST_RESULT_CHARS / 2, content.length - leastCut - LEAST_RESULT_CHARS / 4);
  return `${content.slice(0, kept)}\n[${content.length - kept} more characters were left out, because the conversation is too long for the model.]`;
};
