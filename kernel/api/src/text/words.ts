/**
 * Text as the words it is found by, the same on every database: no engine's own idea of a word has a say.
 *
 * W1  Case, width and accents make no difference: `CAFÉ`, `cafe` and `ｃａｆé` are one word.
 * W2  Scripts without spaces between words (Chinese, Japanese, Korean, Thai and their neighbours) are taken apart into their
 *     characters and pairs of them, so that a part of any length is found.
 * W3  A pictograph is a word of its own. Everything else between letters and digits only parts words.
 */

/** Longer ones are cut, where they are kept and where they are asked for. */
const MAX_WORD_CHARS = 40;
const ACCENTS = /[\u0300-\u036f]/g;
const RUN = /[\p{L}\p{N}\p{M}]+|\p{Extended_Pictographic}/gu;
const UNSPACED =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}\p{sc=Bopomofo}]+|[^\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}\p{sc=Bopomofo}]+/gu;
const IS_UNSPACED = /^[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}\p{sc=Bopomofo}]/u;
const PLAIN = /^[\p{ASCII}]*$/u;
const PLAIN_RUN = /[a-z0-9]+/g;

/** The different words of a text, at most `limit` of them, to keep. */
export const wordsOf = (text: string, limit: number): string[] => {
  const found = new Set<string>();
  for (const run of runsOf(text)) {
    for (const word of run.isUnspaced ? [...run.chars, ...pairsOf(run.chars)] : [run.text]) {
      found.add(word);
      if (found.size === limit) return [...found];
    }
  }
  return [...found];
};

/** The different words that a row must have to fit what is asked. */
export const wordsAsked = (text: string): string[] => {
  const asked = new Set<string>();
  for (const run of runsOf(text)) for (const word of run.isUnspaced ? (run.chars.length === 1 ? run.chars : pairsOf(run.chars)) : [run.text]) asked.add(word);
  return [...asked];
};

/** The text as words are compared: what two texts have in common is the same in both. */
export const foldedText = (text: string): string => text.normalize('NFKD').replace(ACCENTS, '').normalize('NFC').toLowerCase();

interface WordRun {
  readonly text: string;
  readonly chars: readonly string[];
  readonly isUnspaced: boolean;
}

function* runsOf(text: string): Generator<WordRun> {
  const lower = text.toLowerCase();
  // Most messages: nothing to fold, and no script to tell apart.
  if (PLAIN.test(lower)) {
    for (const [run] of lower.matchAll(PLAIN_RUN)) yield { text: run.slice(0, MAX_WORD_CHARS), chars: [], isUnspaced: false };
    return;
  }
  for (const [run] of foldedText(text).matchAll(RUN)) {
    for (const [part] of run.matchAll(UNSPACED)) {
      if (IS_UNSPACED.test(part)) yield { text: part, chars: [...part], isUnspaced: true };
      else yield { text: [...part].slice(0, MAX_WORD_CHARS).join(''), chars: [], isUnspaced: false };
    }
  }
}

const pairsOf = (chars: readonly string[]): string[] => chars.slice(1).map((char, index) => `${chars[index] ?? ''}${char}`);

const WORD = /^[\p{L}\p{N}\p{M}\p{Extended_Pictographic}]{1,128}$/u;
const HAS_CAPITAL = /[A-Z]/;

/** What a column of words can hold: letters, digits and pictographs; of the letters of ASCII the small ones. */
export const isWord = (word: string): boolean => WORD.test(word) && !HAS_CAPITAL.test(word);

/** Words as a column of the kind `words` is given them; null when there are none. */
export const wordList = (words: readonly string[]): string | null => {
  const wrong = words.find((word) => !isWord(word));
  if (wrong !== undefined) throw new Error(`${JSON.stringify(wrong.slice(0, 80))} is not a word: use letters, digits and pictographs, at most 128`);
  return words.length === 0 ? null : words.join(' ');
};
