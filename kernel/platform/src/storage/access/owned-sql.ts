/**
 * SQL text of a read as one actor: each own table that has an owner stands for those of its rows that are the actor's.
 * `SELECT … FROM notes__notes` becomes `WITH mine__1 AS (SELECT * FROM notes__notes WHERE owner_id = ?) SELECT … FROM mine__1`.
 * The text has been validated before: no WITH of its own gives a name with `__`.
 */
import { type Actor, type Scalar, seesAll } from '@svc/api';
import { storageErrors } from '../contract/errors.js';
import type { TableNames } from '../contract/table-names.js';
import { OWNER_COLUMN, type Statement } from './select-sql.js';
import { checkSize } from './sql-size.js';
import { type PlacedToken, tokensOf } from './sql-tokens.js';
import type { TableShapes } from './table-shapes.js';
import type { Quote } from './where-sql.js';

const MAX_KEPT = 500;

/** Throws `storage_no_owned_table` for a text that reads no table with an owner. */
export type OwnedSql = (sql: string, args: readonly Scalar[], actor: Actor) => Statement;

interface OwnedText {
  readonly sql: string;
  /** How many of its first arguments are the owner. */
  readonly owners: number;
}

interface OwnedSqlDeps {
  readonly names: TableNames;
  readonly shapes: TableShapes;
  readonly quote: Quote;
}

export const createOwnedSql = (deps: OwnedSqlDeps): OwnedSql => {
  const kept = new Map<string, OwnedText>();
  const textFor = (sql: string): OwnedText => {
    const known = kept.get(sql);
    if (known) return known;
    const fresh = ownedText(deps, sql);
    // A text built anew for each call would fill the map: start over rather than grow.
    if (kept.size >= MAX_KEPT) kept.clear();
    kept.set(sql, fresh);
    return fresh;
  };
  return (sql, args, actor) => {
    const { sql: filtered, owners } = textFor(sql);
    return seesAll(actor) ? { sql, args } : { sql: filtered, args: [...new Array<string>(owners).fill(actor.ownerId), ...args] };
  };
};

const ownedText = ({ names, shapes, quote }: OwnedSqlDeps, sql: string): OwnedText => {
  const tokens = tokensOf(sql);
  const tables: string[] = [];
  let text = '';
  let from = 0;
  for (const token of tokens) {
    const table = tableOf(token, names, shapes);
    if (table === undefined) continue;
    if (!tables.includes(table)) tables.push(table);
    text += sql.slice(from, token.begin) + alias(tables.indexOf(table));
    from = token.end;
  }
  if (tables.length === 0) throw storageErrors.no_owned_table(names.id);
  const views = tables.map((table, index) => `${alias(index)} AS NOT MATERIALIZED (SELECT * FROM ${quote(table)} WHERE ${quote(OWNER_COLUMN)} = ?)`).join();
  const filtered = withViews(views, text + sql.slice(from), tokens);
  checkSize(tokensOf(filtered), names.isThirdParty);
  return { sql: filtered, owners: tables.length };
};

const alias = (index: number): string => `mine__${index + 1}`;

/** The physical name of the owner's table with an owner column that the token names; undefined for anything else. */
const tableOf = ({ kind, text }: PlacedToken, names: TableNames, shapes: TableShapes): string | undefined => {
  if (kind !== 'word' && kind !== 'name') return undefined;
  const name = text.toLowerCase();
  return names.isOwn(name) && shapes.of(name)?.columns.has(OWNER_COLUMN) ? name : undefined;
};

/** In front of what the text's own WITH gives, where it has one. */
const withViews = (views: string, text: string, [first, second]: readonly PlacedToken[]): string => {
  if (first?.text !== 'WITH') return `WITH ${views} ${text}`;
  const head = second?.kind === 'word' && second.text === 'RECURSIVE' ? second : first;
  return `${text.slice(0, head.end)} ${views}, ${text.slice(head.end)}`;
};
