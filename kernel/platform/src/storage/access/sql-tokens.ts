/**
 * SQL text in pieces, for the validator. Only what SQLite and PostgreSQL read the same way: comments, escape strings,
 * dollar quotes, casts by `::` and letters beyond ASCII outside of strings are refused, as is whatever does not end.
 */
import { storageErrors } from '../contract/errors.js';

export interface Token {
  /** A word may be a keyword; a name stood in quotes and is none. */
  readonly kind: 'word' | 'name' | 'text' | 'number' | 'mark';
  /** In capitals for a word, small for a name. */
  readonly text: string;
}

/** With its place in the text. */
export interface PlacedToken extends Token {
  readonly begin: number;
  readonly end: number;
}

/** Each alternative begins with another character and takes what it can at once: no text makes it go back far. */
const PIECE = /[ \t\r\n]+|'((?:[^'\0]|'')*)'|"([A-Za-z_]\w*)"|`([A-Za-z_]\w*)`|([A-Za-z_]\w*)|(\d+(?:\.\d+)?)|(\|\||<=|>=|<>|!=|-(?!-)|\/(?!\*)|[(),.?*=<>+%])/y;

/** Throws `storage_sql_refused` with the place where it cannot be read. */
export const tokensOf = (sql: string): PlacedToken[] => {
  const tokens: PlacedToken[] = [];
  const piece = new RegExp(PIECE);
  let at = 0;
  let lastEnd = -1;
  while (at < sql.length) {
    piece.lastIndex = at;
    const found = piece.exec(sql);
    if (!found) throw storageErrors.sql_refused(`it cannot be validated from here on: ${excerpt(sql, at)}`);
    const token = tokenOf(found);
    // `E'…'` is an escape and `"a""b"` one name: what stands close to the piece before may be part of it.
    if ((token?.kind === 'text' || token?.kind === 'name') && lastEnd === at && tokens.at(-1)?.kind !== 'mark') throw storageErrors.sql_refused(`a space is missing at ${excerpt(sql, at - 1)}`);
    const begin = at;
    at = piece.lastIndex;
    if (!token) continue;
    tokens.push({ ...token, begin, end: at });
    lastEnd = at;
  }
  return tokens;
};

/** Undefined for white space. */
const tokenOf = ([, text, double, back, word, number, mark]: RegExpExecArray): Token | undefined => {
  if (word !== undefined) return { kind: 'word', text: word.toUpperCase() };
  if (mark !== undefined) return { kind: 'mark', text: mark };
  const name = double ?? back;
  if (name !== undefined) return { kind: 'name', text: name.toLowerCase() };
  if (text !== undefined) return { kind: 'text', text };
  return number === undefined ? undefined : { kind: 'number', text: number };
};

const excerpt = (sql: string, at: number): string => JSON.stringify(sql.slice(Math.max(0, at), at + 20));
