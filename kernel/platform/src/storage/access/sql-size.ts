/**
 * How large a statement becomes when an engine puts in what its names stand for.
 *
 * A query that uses another twice, which uses another twice, and so on, is a thousand times its text after ten steps: it
 * takes all memory while it is prepared, where no interrupt reaches it. What is counted here is more than any engine
 * makes of it: the words of each SELECT, and what it selects from as often as it uses one name.
 */
import { storageErrors } from '../contract/errors.js';
import type { Token } from './sql-tokens.js';

const MAX_SIZE = 250_000;
const MAX_TEXT = { own: 100_000, thirdParty: 20_000 };

/**
 * What one takes, in words, where its texts may be made as long as a value can be: SQLite hears an interrupt between two
 * rows, and not between two of these.
 */
const PATTERNS: ReadonlySet<string> = new Set(['LIKE', 'GLOB']);
const PATTERN_SIZE = 20_000;
const SEARCHES: ReadonlySet<string> = new Set(['REPLACE', 'TRIM', 'LTRIM', 'RTRIM']);
const SEARCH_SIZE = 5_000;
const CALL_SIZE = 500;
const OPERATORS: ReadonlySet<string> = new Set(['||', '=', '<', '>', '<=', '>=', '<>', '!=', '+', '-', '*', '/', '%']);
const OPERATOR_SIZE = 50;
/** Stand before a bracket and call nothing. */
const BRACKETED: ReadonlySet<string> = new Set('IN AS VALUES EXISTS AND OR NOT ON BY WHERE SELECT THEN ELSE WHEN FROM JOIN OVER FILTER CONFLICT RETURNING UNION ALL SET LIMIT'.split(' '));

const SELECTS: ReadonlySet<string> = new Set(['SELECT', 'WITH', 'VALUES']);
/** Used over and over in any statement, and no name of a column. */
const COMMON: ReadonlySet<string> = new Set(
  'SELECT FROM WHERE AND OR NOT NULL IS IN AS ON BY ASC DESC CASE WHEN THEN ELSE END LIKE BETWEEN JOIN LEFT INNER OUTER UNION ALL ORDER GROUP SET VALUES EXISTS DISTINCT LIMIT NULLS FIRST LAST'.split(
    ' ',
  ),
);

/** One SELECT, with the brackets in it that are none. */
interface Level {
  readonly uses: Map<string, number>;
  readonly given: Map<string, number>;
  tokens: number;
  /** What it selects from, put in once. */
  parts: number;
}

/** An open bracket: a level of its own, or part of the one around it. */
interface Bracket {
  readonly level: Level;
  readonly isOwn: boolean;
  /** What WITH calls it. */
  readonly name: string | undefined;
  /** The token before it. */
  readonly before: number;
}

const newLevel = (): Level => ({ uses: new Map(), given: new Map(), tokens: 0, parts: 0 });

const sizeOf = ({ parts, tokens, uses }: Level): number => {
  let most = 1;
  for (const count of uses.values()) most = Math.max(most, count);
  return tokens + parts * most;
};

const weightOf = ({ kind, text }: Token, next: Token | undefined): number => {
  if (kind === 'mark') return OPERATORS.has(text) ? OPERATOR_SIZE : 1;
  if (kind !== 'word') return 1;
  if (PATTERNS.has(text)) return PATTERN_SIZE;
  if (next?.text !== '(' || next.kind !== 'mark' || BRACKETED.has(text)) return 1;
  return SEARCHES.has(text) ? SEARCH_SIZE : CALL_SIZE;
};

/** Throws `storage_sql_refused`. */
export const checkLength = (sql: string, isThirdParty: boolean): void => {
  const most = isThirdParty ? MAX_TEXT.thirdParty : MAX_TEXT.own;
  if (sql.length > most) throw storageErrors.sql_refused(`it is longer than ${most} characters`);
};

/** Throws `storage_sql_refused`. */
export const checkSize = (tokens: readonly Token[], isThirdParty: boolean): void => {
  const open: Bracket[] = [{ level: newLevel(), isOwn: true, name: undefined, before: -1 }];
  /** Where the bracket that ends here was opened. */
  const openedAt = new Map<number, number>();
  for (const [at, token] of tokens.entries()) {
    const top = open.at(-1);
    if (!top) return;
    top.level.tokens += isThirdParty ? weightOf(token, tokens[at + 1]) : 1;
    if (token.kind === 'mark' && token.text === '(') {
      const isOwn = SELECTS.has(tokens[at + 1]?.text ?? '') && tokens[at + 1]?.kind === 'word';
      open.push({ level: isOwn ? newLevel() : top.level, isOwn, name: isOwn ? nameBefore(tokens, at, openedAt) : undefined, before: at - 1 });
    } else if (token.kind === 'mark' && token.text === ')') {
      open.pop();
      openedAt.set(at, top.before);
      const around = open.at(-1)?.level;
      if (top.isOwn && around) close(top, around);
    } else if (token.kind === 'word' || token.kind === 'name') use(token, tokens[at + 1], open);
  }
  const [whole] = open;
  if (whole) refuseLarge(sizeOf(whole.level));
};

const refuseLarge = (size: number): void => {
  if (size > MAX_SIZE) throw storageErrors.sql_refused('it is too large, itself or after its names are expanded: use fewer patterns, functions and subqueries');
};

const close = ({ level, name }: Bracket, around: Level): void => {
  const size = sizeOf(level);
  refuseLarge(size);
  // Put in where it is named; elsewhere it stands.
  if (name === undefined) around.parts += size;
  else around.given.set(name, size);
};

const use = (token: Token, next: Token | undefined, open: readonly Bracket[]): void => {
  const { level } = open.at(-1) ?? {};
  const name = token.text.toLowerCase();
  // The name of a table before a point says nothing about how often a column is used.
  if (!level || next?.text === '.' || (token.kind === 'word' && COMMON.has(token.text))) return;
  level.uses.set(name, (level.uses.get(name) ?? 0) + 1);
  for (let at = open.length - 1; at >= 0; at -= 1) {
    const size = open[at]?.level.given.get(name);
    if (size === undefined) continue;
    level.parts += size;
    return;
  }
};

/** `name AS (`, `name (columns) AS (`, with MATERIALIZED or without. */
const nameBefore = (tokens: readonly Token[], bracket: number, openedAt: ReadonlyMap<number, number>): string | undefined => {
  let at = bracket - 1;
  while (isWord(tokens[at], 'MATERIALIZED') || isWord(tokens[at], 'NOT')) at -= 1;
  if (!isWord(tokens[at], 'AS')) return undefined;
  at -= 1;
  const columnsAt = openedAt.get(at);
  const named = tokens[columnsAt ?? at];
  return named && (named.kind === 'word' || named.kind === 'name') ? named.text.toLowerCase() : undefined;
};

const isWord = (token: Token | undefined, word: string): boolean => token?.kind === 'word' && token.text === word;
