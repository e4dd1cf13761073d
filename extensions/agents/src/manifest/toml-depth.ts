/** What the TOML parser takes far longer for than its length: keys of thousands of dotted parts. Found in one pass over what is no string and no comment. */

const MAX_DOTS = 64;
/** After these another key begins, or none. */
const ENDS_KEY = '\n=,{}[]';

/** The line, counted from one, of a key with more parts than any manifest has; undefined when there is none. */
export const lineOfDeepKey = (text: string): number | undefined => {
  let dots = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text[at] ?? '';
    if (char === '"' || char === "'") at = endOfString(text, at, char) - 1;
    else if (char === '#') at = before(text.indexOf('\n', at), text.length);
    else if (ENDS_KEY.includes(char)) dots = 0;
    else if (char === '.' && ++dots > MAX_DOTS) return text.slice(0, at).split('\n').length;
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
