/**
 * Whether SQL text of an owner stays with the owner's tables.
 *
 * G1  Wherever a table can stand (behind FROM, JOIN, INTO, UPDATE and a comma among them, in any nesting) stands one of
 *     the owner's tables or a name that a WITH around it has given. Everything else that could reach a table is refused:
 *     functions not on the list, `x IN table`, other schemas, other statements.
 * G2  What is not understood is refused. Each token is looked at once.
 */
import { storageErrors } from '../contract/errors.js';
import { checkLength, checkSize } from './sql-size.js';
import { type Token, tokensOf } from './sql-tokens.js';
import type { TableNames } from '../contract/table-names.js';

export interface Validated {
  /** `insert entries`, `select`: for people. */
  readonly label: string;
}

export type SqlUse = 'read' | 'write';

const words = (list: string): ReadonlySet<string> => new Set(list.split(' '));

const READS = words('SELECT WITH');
const WRITES = words('INSERT UPDATE DELETE WITH');
const CHANGES = words('INSERT UPDATE DELETE INTO');
/** Ways to a table that the portable part of SQL does not need. */
const REFUSED = words('PRAGMA ATTACH DETACH TABLE USING LATERAL ONLY MERGE COPY CALL EXECUTE CURRENT ROWS TABLESAMPLE INFORMATION_SCHEMA');
const RESERVED_NAME = /^(?:sqlite|pg|kernel|svc)_|__/i;
/** Behind these a list of tables is over. Only words that no engine takes for an alias: `FROM own AS offset, other` is one list. */
const ENDS_TABLES = words('SELECT WHERE GROUP HAVING ORDER LIMIT UNION EXCEPT INTERSECT RETURNING');
const BEGINS_STATEMENT = words('SELECT INSERT UPDATE DELETE VALUES');
/** May stand before a bracket without being called. */
const BEFORE_BRACKET = words(
  'IN AS VALUES EXISTS AND OR NOT ON BY WHERE SELECT DISTINCT THEN ELSE WHEN CASE LIMIT OFFSET SET CONFLICT UNION ALL EXCEPT INTERSECT LIKE BETWEEN HAVING RETURNING IS FROM JOIN OVER FILTER MATERIALIZED',
);
const FUNCTIONS = words('COUNT SUM MIN MAX AVG TOTAL LOWER UPPER LENGTH SUBSTR COALESCE NULLIF ABS ROUND CAST REPLACE TRIM LTRIM RTRIM ROW_NUMBER RANK LAG LEAD');

/** These look for each piece of their second argument at each place of the first: within one step, which no interrupt ends. */
const SEARCHES = words('REPLACE TRIM LTRIM RTRIM');
const MAX_SEARCHED = 100;

/** One level of brackets. */
interface Frame {
  /** A table must come next. */
  expectsTable: boolean;
  /** Within a list of tables: a comma begins another. */
  isInTables: boolean;
  /** The bracket itself stands where a table can: a list of tables, or a SELECT. */
  isOpening: boolean;
  /** Names that a WITH of this level has given. */
  readonly given: string[];
  with: { isRecursive: boolean; expectsName: boolean; pending: string | undefined } | undefined;
}

const frame = (isOpening: boolean): Frame => ({ expectsTable: isOpening, isInTables: isOpening, isOpening, given: [], with: undefined });

export type SqlValidate = (sql: string, use: SqlUse) => Validated;

/** Validates each text once; the texts are constants of the code. Throws `storage_sql_refused` and `storage_foreign_table`. */
export const createSqlPolicy = (names: TableNames): SqlValidate => {
  const kept: Readonly<Record<SqlUse, Map<string, Validated>>> = { read: new Map(), write: new Map() };
  return (sql, use) => {
    if (names.isPlatform) return PLATFORM;
    const known = kept[use].get(sql);
    if (known) return known;
    if (typeof sql !== 'string') throw storageErrors.sql_refused('it is not text');
    checkLength(sql, names.isThirdParty);
    const fresh = validate(tokensOf(sql), use, names);
    // A text built anew for each call would fill the map: start over rather than grow.
    if (kept[use].size >= MAX_KEPT) kept[use].clear();
    kept[use].set(sql, fresh);
    return fresh;
  };
};

const PLATFORM: Validated = { label: 'sql' };
const MAX_KEPT = 500;

const validate = (tokens: readonly Token[], use: SqlUse, names: TableNames): Validated => {
  const [first] = tokens;
  if (first?.kind !== 'word' || !(use === 'read' ? READS : WRITES).has(first.text)) {
    throw storageErrors.sql_refused(use === 'read' ? 'a read begins with SELECT or WITH' : 'only INSERT, UPDATE and DELETE are writes');
  }
  checkSize(tokens, names.isThirdParty);
  const walk = new Walk(tokens, use, names);
  for (let at = 0; at < tokens.length; at += 1) walk.step(at);
  walk.end();
  return { label: [first.text.toLowerCase(), walk.target].filter(Boolean).join(' ') };
};

class Walk {
  /** The table that is changed, by its physical name. */
  target: string | undefined;
  readonly #tokens: readonly Token[];
  readonly #use: SqlUse;
  readonly #names: TableNames;
  readonly #frames: Frame[] = [frame(false)];

  constructor(tokens: readonly Token[], use: SqlUse, names: TableNames) {
    this.#tokens = tokens;
    this.#use = use;
    this.#names = names;
  }

  step(at: number): void {
    const token = this.#tokens[at];
    const top = this.#frames.at(-1);
    if (!token || !top) throw storageErrors.sql_refused('its brackets do not fit');
    if (token.kind === 'mark') this.#mark(token.text, top, at);
    else if (top.with?.expectsName) this.#give(token, top, at);
    else if (top.expectsTable) this.#table(token, top, at);
    else if (token.kind === 'word') this.#word(token.text, top, at);
    else if (token.kind === 'name') this.#callable(token, at);
  }

  end(): void {
    const [only, ...open] = this.#frames;
    if (!only || open.length > 0 || only.expectsTable || only.with) throw storageErrors.sql_refused('it ends too early');
    if (this.#use === 'write' && this.target === undefined) throw storageErrors.sql_refused('only INSERT, UPDATE and DELETE are writes');
  }

  #mark(mark: string, top: Frame, at: number): void {
    if (mark === '(' && !top.with?.expectsName) {
      this.#frames.push(frame(top.expectsTable));
      top.expectsTable = false;
      top.isOpening = false;
    } else if (top.expectsTable || top.with?.expectsName) {
      throw storageErrors.sql_refused(`"${mark}" is not a name`);
    } else if (mark === ')') {
      if (top.with) throw storageErrors.sql_refused('WITH leads to no statement');
      this.#frames.pop();
    } else if (mark === ',') {
      if (top.with) {
        grant(top);
        top.with.expectsName = true;
      } else if (top.isInTables) top.expectsTable = true;
    } else if (mark === '.' && this.#tokens[at + 2]?.text === '(') {
      throw storageErrors.sql_refused('functions of a schema are not called');
    }
  }

  /** A name that WITH gives; what it stands for follows in brackets. */
  #give(token: Token, top: Frame, at: number): void {
    if (!top.with) return;
    if (token.kind === 'word' && token.text === 'RECURSIVE') {
      top.with.isRecursive = true;
      return;
    }
    if (token.kind !== 'word' && token.kind !== 'name') throw storageErrors.sql_refused('WITH gives no name');
    const name = token.text.toLowerCase();
    if (RESERVED_NAME.test(name)) throw storageErrors.sql_refused(`WITH may not give the name ${name}`);
    top.with.expectsName = false;
    top.with.pending = name;
    // Only then does it stand for itself within its own brackets; otherwise the name there is that of a table.
    if (top.with.isRecursive) grant(top);
    const next = this.#tokens[at + 1];
    if (next?.text !== '(' && !this.#isWord(at + 1, 'AS')) throw storageErrors.sql_refused(`WITH says nothing about ${name}`);
  }

  #table(token: Token, top: Frame, at: number): void {
    const isOpening = top.isOpening && token.kind === 'word';
    top.isOpening = false;
    if (isOpening && (READS.has(token.text) || (token.text === 'VALUES' && this.#tokens[at + 1]?.text === '('))) {
      top.expectsTable = false;
      top.isInTables = false;
      this.#word(token.text, top, at);
      return;
    }
    if (token.kind !== 'word' && token.kind !== 'name') throw storageErrors.sql_refused('a table must be named');
    const name = token.text.toLowerCase();
    const next = this.#tokens[at + 1]?.text;
    const isInto = this.#isWord(at - 1, 'INTO');
    const isChanged = isInto || this.#isWord(at - 1, 'UPDATE') || this.#isWord(at - 2, 'DELETE');
    if (next === '.') throw storageErrors.foreign_table(this.#names.id, `${name}.${this.#tokens[at + 2]?.text.toLowerCase() ?? ''}`);
    if (next === '(' && !isInto) throw storageErrors.sql_refused(`${name} is used as a function of tables`);
    if (!this.#names.isOwn(name) && (isChanged || !this.#isGiven(name))) throw storageErrors.foreign_table(this.#names.id, name);
    if (isChanged) this.target ??= name;
    top.expectsTable = false;
  }

  #word(word: string, top: Frame, at: number): void {
    if (REFUSED.has(word) || /^(?:SQLITE|PG)_/.test(word)) throw storageErrors.sql_refused(`${word.toLowerCase()} is not for SQL text of an extension`);
    if (this.#use === 'read' && CHANGES.has(word)) throw storageErrors.sql_refused(`${word} changes something, and a read changes nothing`);
    if (BEGINS_STATEMENT.has(word) && top.with) {
      grant(top);
      top.with = undefined;
    }
    if (ENDS_TABLES.has(word)) top.isInTables = false;
    if (word === 'WITH') this.#with(top, at);
    else if (word === 'FROM' || word === 'JOIN') expectTable(top, true);
    else if (word === 'INTO') expectTable(top, false);
    else if (word === 'UPDATE') this.#update(top, at);
    else if (word === 'IN' && this.#tokens[at + 1]?.text !== '(') throw storageErrors.sql_refused('IN takes a list in brackets');
    else this.#callable({ kind: 'word', text: word }, at);
  }

  /** Elsewhere an engine may take the word for a name. */
  #with(top: Frame, at: number): void {
    if (at > 0 && this.#tokens[at - 1]?.text !== '(') throw storageErrors.sql_refused('WITH stands at the beginning of a statement or a bracket');
    top.with = { isRecursive: false, expectsName: true, pending: undefined };
  }

  /** `ON CONFLICT … DO UPDATE SET` names no table, and what is set ends a list of them. */
  #update(top: Frame, at: number): void {
    if (!this.#isWord(at - 1, 'DO')) expectTable(top, false);
    else if (this.#isWord(at + 1, 'SET')) top.isInTables = false;
    else throw storageErrors.sql_refused('DO UPDATE is followed by SET');
  }

  #callable({ kind, text }: Token, at: number): void {
    if (this.#tokens[at + 1]?.text !== '(' || this.#tokens[at + 1]?.kind !== 'mark') return;
    if (kind === 'word' && (BEFORE_BRACKET.has(text) || FUNCTIONS.has(text))) {
      if (SEARCHES.has(text)) checkSearched(this.#tokens, at);
      return;
    }
    throw storageErrors.sql_refused(`the function ${text.toLowerCase()} is not on the list`);
  }

  #isGiven(name: string): boolean {
    return this.#frames.some((one) => one.given.includes(name));
  }

  #isWord(at: number, word: string): boolean {
    const token = this.#tokens[at];
    return token?.kind === 'word' && token.text === word;
  }
}

const expectTable = (top: Frame, isList: boolean): void => {
  top.expectsTable = true;
  if (isList) top.isInTables = true;
};

const grant = (top: Frame): void => {
  if (top.with?.pending === undefined) return;
  top.given.push(top.with.pending);
  top.with.pending = undefined;
};

/** What is looked for stands in the text itself, so that it is short whatever the rows hold. */
const checkSearched = (tokens: readonly Token[], at: number): void => {
  let depth = 0;
  for (let next = at + 1; next < tokens.length; next += 1) {
    const text = tokens[next]?.kind === 'mark' ? tokens[next]?.text : undefined;
    if (text === '(') depth += 1;
    else if (text === ')') depth -= 1;
    if (depth === 0) return;
    if (text !== ',' || depth > 1) continue;
    const [searched, behind] = [tokens[next + 1], tokens[next + 2]];
    const isShort = searched?.kind === 'text' && searched.text.length <= MAX_SEARCHED && behind?.kind === 'mark' && (behind.text === ',' || behind.text === ')');
    if (!isShort) throw storageErrors.sql_refused(`the search text of ${tokens[at]?.text.toLowerCase()} must be a constant of at most ${MAX_SEARCHED} characters`);
    return;
  }
};
