/**
 * SQL text for PostgreSQL. Values travel as literals in the text, as they do with SQLite: one trip for many statements,
 * and the same typing in both engines. The connection is set to `standard_conforming_strings`, so that a quote is all
 * that has to be doubled.
 */
import { createHash } from 'node:crypto';
import type { SchemaDialect } from '../contract/migrations/migration-sql.js';
import { checkIdentifier, type Dialect, numberText, storableNumber } from '../contract/dialect.js';
import { storageErrors } from '../contract/errors.js';

const MAX_NAME = 63;

/** Any number that nobody else is likely to lock in this database: `svc` and a version. */
export const COMMIT_LOCK = 0x73766301;
export const TAKE_LOCK = `SELECT pg_advisory_xact_lock(${COMMIT_LOCK})`;

/** A number with a fraction travels in quotes: the type of its column decides, and a column of integers refuses it instead of rounding. */
export const literal = (value: unknown): string => {
  if (value === null) return 'NULL';
  if (typeof value === 'string') {
    if (value.includes('\0')) throw storageErrors.bad_text();
    return value.includes("'") ? `'${value.replaceAll("'", "''")}'` : `'${value}'`;
  }
  const number = storableNumber(value);
  return Number.isInteger(number) ? numberText(number) : `'${number}'`;
};

/** Lower case stays lower case, and a word of SQL may be a name. */
export const identifier = (name: string): string => `"${checkIdentifier(name)}"`;

export const postgresDialect: Dialect = {
  identifier,
  literal,
  stored: (value) => literal(typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\uFFFD') : value),
  isSame: (column, value) => `${column} IS NOT DISTINCT FROM ${value}`,
  counting: () => '',
  guarding: () => '',
};

/** Texts compare by their bytes, as in SQLite: no locale of the server changes an order or a page. JSON stays the text that was written. */
const columnType: SchemaDialect['columnType'] = (name, kind) => {
  switch (kind) {
    case 'text':
      return 'text COLLATE "C"';
    case 'integer':
      return 'bigint';
    case 'real':
      return 'double precision';
    case 'blob':
      return 'bytea';
    case 'boolean':
      return `bigint CHECK (${identifier(name)} IN (0, 1))`;
    case 'words':
      return 'tsvector';
    case 'json':
      return `text COLLATE "C" CHECK (${identifier(name)} IS NULL OR ${identifier(name)}::json IS NOT NULL)`;
  }
};

// A longer name would be cut off, and two that begin alike would be one.
export const indexName = (name: string): string => (name.length <= MAX_NAME ? name : `${name.slice(0, MAX_NAME - 9)}_${createHash('sha256').update(name).digest('hex').slice(0, 8)}`);

export const postgresSchema: Omit<SchemaDialect, 'words'> = { knexClient: 'pg', identifier, columnType, indexName };
