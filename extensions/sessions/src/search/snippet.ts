/** What is shown of a message that was found, and how well it fits. */
import { foldedText } from '@svc/api';

const SNIPPET_CHARS = 160;
/** Of them, before the first word that was asked for. */
const LEAD_CHARS = 50;
/** A message of this many letters is of usual length; longer ones need a word more often to fit as well. */
const USUAL_CHARS = 300;
const SATURATION = 1.2;
const PHRASE_SCORE = 1;

/** The words that were asked for, and the whole of it as one text. */
export interface Asked {
  readonly words: readonly string[];
  readonly phrase: string;
}

/** Higher is better; by this text alone, so that what others wrote changes nothing. */
export const scoreOf = (text: string, { words, phrase }: Asked): number => {
  const folded = foldedText(text);
  const length = 0.25 + (0.75 * folded.length) / USUAL_CHARS;
  let score = words.length > 1 && folded.includes(phrase) ? PHRASE_SCORE : 0;
  for (const word of words) {
    const times = timesIn(folded, word);
    score += times / (times + SATURATION * length);
  }
  return score;
};

const timesIn = (text: string, word: string): number => {
  let times = 0;
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) times += 1;
  return times;
};

/** One line around the first word that was asked for; the beginning where that stands further behind than is kept. */
export const snippetOf = (text: string, { words }: Asked): string => {
  const begin = Math.max(0, firstOf(text, words) - LEAD_CHARS);
  const end = Math.min(text.length, begin + SNIPPET_CHARS);
  const shown = text
    .slice(wholeFrom(text, begin), wholeFrom(text, end))
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  return `${begin > 0 ? '…' : ''}${shown}${end < text.length ? '…' : ''}`;
};

const firstOf = (text: string, words: readonly string[]): number => {
  const plain = earliest(text.toLowerCase(), words);
  if (plain >= 0) return plain;
  // Case alone was not it: letter by letter, with where each came from.
  let folded = '';
  const origin: number[] = [];
  let at = 0;
  for (const char of text) {
    const one = foldedText(char);
    for (let n = 0; n < one.length; n++) origin.push(at);
    folded += one;
    at += char.length;
  }
  return origin[earliest(folded, words)] ?? 0;
};

const earliest = (text: string, words: readonly string[]): number => words.map((word) => text.indexOf(word)).reduce((first, at) => (at >= 0 && (first < 0 || at < first) ? at : first), -1);

/** Never in the middle of a character. */
const wholeFrom = (text: string, at: number): number => {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff ? at + 1 : at;
};
