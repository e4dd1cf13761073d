/** Text as WordPiece pieces, as BERT's uncased tokenizer makes them, without special tokens. */

const MAX_WORD_CHARS = 100;
const ACCENTS = /\p{Mn}/gu;
const CONTROL = /[\p{Cc}\p{Cf}\p{Co}\uFFFD]/gu;
/** Characters that are words of their own: CJK ideographs, and all punctuation and symbols. */
const ALONE = /[\u4E00-\u9FFF\u3400-\u4DBF\uF900-\uFAFF\u{20000}-\u{2FA1F}]|\p{P}|[$+<=>^`|~]/gu;

export interface WordPieces {
  /** Rows of the vocabulary; words that no pieces make up are left out. */
  piecesOf(text: string): number[];
}

export const createWordPieces = (vocabulary: readonly string[]): WordPieces => {
  const rows = new Map(vocabulary.map((piece, row) => [piece, row]));
  const inWord = (word: string): number[] => {
    const chars = [...word];
    if (chars.length > MAX_WORD_CHARS) return [];
    const found: number[] = [];
    for (let from = 0; from < chars.length; ) {
      let end = chars.length;
      let row: number | undefined;
      for (; end > from; end -= 1) {
        row = rows.get(`${from === 0 ? '' : '##'}${chars.slice(from, end).join('')}`);
        if (row !== undefined) break;
      }
      // As the tokenizer has it: a word with one unknown part is unknown.
      if (row === undefined) return [];
      found.push(row);
      from = end;
    }
    return found;
  };
  return {
    piecesOf: (text) =>
      text
        .replace(CONTROL, (char) => (/\s/.test(char) ? ' ' : ''))
        .toLowerCase()
        .normalize('NFD')
        .replace(ACCENTS, '')
        .replace(ALONE, ' $& ')
        .split(/\s+/u)
        .filter((word) => word !== '')
        .flatMap(inWord),
  };
};
