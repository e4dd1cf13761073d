/** What the TOML parser takes far longer for than its length: keys of thousands of dotted parts, and hundreds of thousands of values. Found in one pass over what is no string and no comment. */

const MAX_DOTS = 64;
/** Keys, tables and members of lists together: the parser takes a microsecond or two for each, and so does each check after it. */
export const MAX_PARTS = 10_000;
/** A key is looked at letter by letter. */
const MAX_KEY_CHARS = 1_000;
const BEGINS_PART = '=,[{';
/** After these another key begins, or none. */
const ENDS_KEY = '\n=,{}[]';

export interface Excess {
  /** Counted from one. */
  readonly line: number;
  readonly message: string;
  readonly expected: string;
}

/** The first place with more than any manifest has; undefined when there is none. */
export const excessOf = (text: string): Excess | undefined => {
  let dots = 0;
  let parts = 0;
  let from = 0;
  const excess = (at: number, message: string, expected: string): Excess => ({ line: text.slice(0, at).split('\n').length, message, expected });
  for (let at = 0; at < text.length; at++) {
    const char = text[at] ?? '';
    if (char === '"' || char === "'") {
      at = endOfString(text, at, char) - 1;
      from = at;
    } else if (char === '#') at = before(text.indexOf('\n', at), text.length);
    else if (ENDS_KEY.includes(char)) {
      if (char === '=' && at - from > MAX_KEY_CHARS) return excess(at, `a key has more than ${MAX_KEY_CHARS} characters`, 'shorter keys');
      dots = 0;
      from = at;
      if (BEGINS_PART.includes(char) && ++parts > MAX_PARTS) return excess(at, `it has more than ${MAX_PARTS} keys and values`, 'fewer of them');
    } else if (char === '.' && ++dots > MAX_DOTS) return excess(at, 'a key has more parts than any manifest needs', 'shorter keys');
  }
  return undefined;
};

/** The offset after the string that begins at `from`; the end of the text when it does not end, which the parser tells. */
const endOfString = (text: string, from: number, quote: string): number => {
  const close = text.startsWith(quote.repeat(3), from) ? quote.repeat(3) : quote;
  for (let at = from + close.length; at < text.length; at++) {
    const char = text[at];
    if (char === '\\' && quote === '"') at++;
    else if (char === '\n' && close.length === 1) return at;
    else if (char === quote && text.startsWith(close, at)) return at + close.length;
  }
  return text.length;
};

const before = (found: number, otherwise: number): number => (found < 0 ? otherwise : found) - 1;
