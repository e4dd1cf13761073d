/**
 * `ctx.db` over an engine: the one place where writes are sealed and opened. readers.ts turns queries and SQL text into
 * statements. Who reaches which table is decided here (S4, S5); the engine below takes physical names and asks nobody.
 */
import type { Db, Scalar, Where, Write } from '@svc/api';
import type { Engine } from '../contract/engine.js';
import { storageErrors } from '../contract/errors.js';
import { createReaders } from './readers.js';
import type { SealedWrites } from './sealed-writes.js';
import { createSqlPolicy, type SqlValidate } from './sql-policy.js';
import type { TableNames } from '../contract/table-names.js';
import type { TableShapes } from './table-shapes.js';
import { both, conditionsOf, type Quote } from './where-sql.js';
import type { WriteOp } from '../contract/write-op.js';

export interface DbParts {
  readonly engine: Pick<Engine, 'commit' | 'read' | 'identifier' | 'words'>;
  readonly sealed: SealedWrites;
  readonly shapes: TableShapes;
}

export const createDb = (parts: DbParts, names: TableNames): Db => {
  const validate = createSqlPolicy(names);
  const { engine, shapes } = parts;
  return { ...createWrites(parts, names), ...createReaders({ engine, shapes, names, validate, quote: quoteWith(engine) }), ...createSqlText(parts, names, validate) };
};

/** What a third-party extension makes says so wherever it is committed. */
const sealFor =
  (sealed: SealedWrites, { id, isThirdParty }: TableNames) =>
  (label: string, op: WriteOp): Write =>
    sealed.seal(label, isThirdParty ? { ...op, by: id } : op);

const createWrites = ({ engine, sealed }: DbParts, names: TableNames): Pick<Db, 'insert' | 'update' | 'upsert' | 'remove' | 'commit'> => {
  const label = (verb: string, table: string): string => `${names.id}: ${verb} ${table}`;
  const quote = quoteWith(engine);
  const seal = sealFor(sealed, names);
  return {
    insert: (table, rows, options) => seal(label('insert', table), { insert: names.physical(table), rows, ...(options?.ifAbsent ? { ifAbsent: true } : {}) }),
    update: (table, key, rows, options) => seal(label('update', table), { update: names.physical(table), key: Array.from(key, text), rows, ...(options?.expect ? { expect: options.expect } : {}) }),
    upsert: (table, key, rows) => seal(label('upsert', table), { upsert: names.physical(table), key: Array.from(key, text), rows }),
    remove: (table, where, options) => seal(label('remove', table), { ...removal(names.physical(table), where, quote), ...expected(options?.expect) }),
    // Not async: it is on the path of every message, and stands in the queue before this returns.
    commit: (writes: readonly Write[]) => {
      let ops: WriteOp[];
      try {
        ops = sealed.open(writes);
      } catch (error) {
        return Promise.reject(error);
      }
      return engine.commit(ops);
    },
  };
};

/** A condition less would delete rows nobody meant. */
const removal = (table: string, where: Where, quote: Quote): { sql: string; args: readonly Scalar[] } => {
  const found = both(conditionsOf(where, quote));
  if (!found) throw storageErrors.bad_write(`a removal from ${table} names no condition`);
  return { sql: `DELETE FROM ${quote(table)} WHERE ${found.sql}`, args: found.args };
};

const createSqlText = ({ sealed }: DbParts, names: TableNames, validate: SqlValidate): Pick<Db, 'sql' | 'table'> => {
  const seal = sealFor(sealed, names);
  return {
    sql: (sql, args, options) => seal(`${names.id}: ${validate(sql, 'write').label}`, { sql, args, ...expected(options?.expect) }),
    table: names.physical,
  };
};

const expected = (expect: number | 'any' | undefined): { expect?: number | 'any' } => {
  if (expect === undefined) return {};
  if (expect === 'any') return { expect };
  if (!Number.isSafeInteger(expect) || expect < 0) throw storageErrors.bad_write(`${String(expect)} is not a valid number of expected rows`);
  return { expect };
};

/** Whoever hands in an object with a text of its own would have it validated once and used twice. */
const text = (name: string): string => {
  if (typeof name !== 'string') throw storageErrors.bad_write('a column is named by a text');
  return name;
};

const quoteWith =
  ({ identifier }: Pick<Engine, 'identifier'>): Quote =>
  (name) =>
    identifier(text(name));
