/**
 * Text as the terms it is found by: folded, without words that stand in every text, in their stems.
 *
 * T1  The same on every database, and for every language that wordsOf takes apart.
 * T2  A text of stop words alone has no terms: nothing is found by it, and nothing breaks.
 */
import { wordsOf } from '@svc/api';
import { stemmer } from 'stemmer';

const MAX_TERMS = 2_000;
const MAX_ASKED = 32;
const STOP: ReadonlySet<string> = new Set(
  'a about above after again all also am an and any are as at be because been before being below between both but by can could did do does doing don down during each few for from further had has have having he her here hers him his how i if in into is it its just ll m me more most my no nor not now of off on once only or other our ours out over own re s same she should so some such t than that the their theirs them then there these they this those through to too under until up us ve very was we were what when where which while who whom why will with would you your yours d isn aren wasn weren didn doesn couldn wouldn shouldn hasn haven hadn won tell know please'.split(
    ' ',
  ),
);
/** Characters of Chinese and Japanese that only hold a sentence together. */
const STOP_CHARS: ReadonlySet<string> = new Set([...'的了是在我你他她它们这那有和与就也都吗呢吧啊么之其のはがをにでとも']);
const ASCII = /^[a-z]+$/;

const termOf = (word: string): string => (ASCII.test(word) ? stemmer(word) : word);
const isTerm = (word: string): boolean => !STOP.has(word) && !STOP_CHARS.has(word);

/** The different terms of a text, for the index. */
export const termsOf = (text: string): string[] => [...new Set(wordsOf(text, MAX_TERMS).filter(isTerm).map(termOf))];

/** Two characters of a script without spaces. */
export const isPair = (word: string): boolean => !ASCII.test(word) && [...word].length === 2 && /\p{Lo}/u.test(word);

/** Those of a question. Single characters of scripts without spaces count only where the question has no pair of them. */
export const termsAsked = (text: string): string[] => {
  const words = wordsOf(text, MAX_TERMS).filter(isTerm);
  const pairs = words.filter(isPair);
  const kept = pairs.length === 0 ? words : words.filter((word) => [...word].length > 1 || !pairs.some((pair) => pair.includes(word)));
  return [...new Set(kept.map(termOf))].slice(0, MAX_ASKED);
};

const LETTER = /\p{L}/u;
/** Of scripts whose single characters the built-in embedder knows, and not what they mean together. */
const UNKNOWN_SCRIPT = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}]+/gu;

/** A text without the words that stand in every text: their meaning would make all texts alike. Nothing is left of a text in Chinese, and nothing of numbers alone: words find them. */
export const contentWords = (whole: string): string => {
  const text = whole.replace(UNKNOWN_SCRIPT, ' ');
  const kept = text.replace(/[A-Za-z]+/g, (word) => (STOP.has(word.toLowerCase()) ? ' ' : word));
  return LETTER.test(kept) ? kept : LETTER.test(text) ? text : '';
};

/** A day in the words of somebody who asks for it. */
export const dateWords = (iso: string): string => {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return '';
  const part = (options: Intl.DateTimeFormatOptions): string => new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', ...options }).format(date);
  return `${part({ weekday: 'long' })} ${part({ day: 'numeric', month: 'long', year: 'numeric' })}`;
};

/** How much each term of an entry counts: BM25 by the entry alone, with a usual length in place of everybody's mean. */
export interface WeighedText {
  readonly text: string;
  /** 1 for what it says; less for what stands around it. */
  readonly weight: number;
}

const SATURATION = 1.2;
const LENGTH_SHARE = 0.75;
const USUAL_TERMS = 14;

export const weighTerms = (parts: readonly WeighedText[]): Map<string, number> => {
  const counts = new Map<string, number>();
  for (const { text, weight } of parts) for (const term of termsOf(text)) counts.set(term, Math.max(counts.get(term) ?? 0, weight));
  const length = termsOf(parts[0]?.text ?? '').length;
  const norm = SATURATION * (1 - LENGTH_SHARE + (LENGTH_SHARE * length) / USUAL_TERMS);
  return new Map([...counts].map(([term, count]) => [term, Math.round(((count * (SATURATION + 1)) / (count + norm)) * 10_000) / 10_000]));
};
