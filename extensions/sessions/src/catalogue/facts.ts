/** What lists say of a session, counted entry by entry as they come. The same entries give the same facts, in any portions. */
import type { Entry } from '../contract.js';

export interface Facts {
  /** As people see them (history.ts): a call belongs to the message before it, if that is the model's. */
  readonly messages: number;
  /** Letters that a model would read: the newest summary and what it does not cover. */
  readonly contextChars: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costMicros: number;
  readonly firstWords: string | null;
  readonly firstAt: string | null;
  readonly lastAt: string | null;
  readonly lastRole: 'user' | 'assistant' | 'note' | null;
}

/** One entry, whose content need not be at hand: of a result only its length counts. */
export type Counted = Pick<Entry, 'kind' | 'at'> & Partial<Entry> & { readonly chars: number };

/** What stands in place of a label is cut here. */
const FIRST_WORDS_CHARS = 60;
/** A picture is counted as 1,000 tokens (projection.ts). */
const IMAGE_CHARS = 4_000;

export const NO_FACTS: Facts = { messages: 0, contextChars: 0, inputTokens: 0, outputTokens: 0, costMicros: 0, firstWords: null, firstAt: null, lastAt: null, lastRole: null };

export const addEntry = (facts: Facts, entry: Counted): Facts => {
  const role = roleOf(entry, facts.lastRole);
  const text = entry.kind === 'user' && facts.firstWords === null ? firstWordsOf(textOf(entry)) : '';
  return {
    messages: facts.messages + (role === undefined ? 0 : 1),
    contextChars: facts.contextChars + (entry.kind === 'note' ? 0 : entry.chars),
    inputTokens: facts.inputTokens + (entry.used?.inputTokens ?? 0),
    outputTokens: facts.outputTokens + (entry.used?.outputTokens ?? 0),
    costMicros: facts.costMicros + (entry.used?.costMicros ?? 0),
    firstWords: text === '' ? facts.firstWords : text,
    firstAt: facts.firstAt ?? entry.at,
    lastAt: entry.kind === 'summary' ? facts.lastAt : entry.at,
    lastRole: role ?? facts.lastRole,
  };
};

/** Whose message an entry begins; undefined for one that begins none. */
const roleOf = ({ kind }: Counted, last: Facts['lastRole']): 'user' | 'assistant' | 'note' | undefined => {
  if (kind === 'tool_call') return last === 'assistant' ? undefined : 'assistant';
  return kind === 'user' || kind === 'assistant' || kind === 'note' ? kind : undefined;
};

export const textOf = ({ parts = [] }: Partial<Entry>): string => parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');

/** Letters of one entry, as a model reads it. */
export const charsOf = ({ parts = [], content = '', args }: Partial<Entry>): number => {
  let chars = content.length + (args === undefined ? 0 : JSON.stringify(args).length);
  for (const part of parts) chars += part.type === 'text' ? part.text.length : IMAGE_CHARS;
  return chars;
};

/** One line, in whole characters. */
export const firstWordsOf = (text: string): string =>
  [
    ...text
      .slice(0, FIRST_WORDS_CHARS * 8)
      .replace(/[\s\p{Cc}]+/gu, ' ')
      .trim(),
  ]
    .slice(0, FIRST_WORDS_CHARS)
    .join('')
    .trim();

/** Of the first of these entries that a person wrote with words; null where none is. */
export const firstWordsIn = (entries: readonly Entry[]): string | null => entries.reduce((facts, entry) => addEntry(facts, { ...entry, chars: 0 }), NO_FACTS).firstWords;
