/**
 * Turns the changes of one commit into SQL text, with what must be checked and counted.
 *
 * Each statement says how many rows it must change, or that they are to be counted. An engine validates that before
 * COMMIT: by a guard behind the statement that fails the transaction, or by the counts that the server reports.
 */
import type { Row } from '@svc/api';
import type { Dialect } from './dialect.js';
import { storageErrors } from './errors.js';
import { createTemplates, fill, targetOf, type Template } from './sql-template.js';
import type { WriteOp } from './write-op.js';

export interface Event {
  readonly event: string;
  readonly data: unknown;
}

/** One statement of a commit. */
export interface Statement {
  readonly sql: string;
  /** What is known of its rows: it must change `rows` of them, or (undefined) they are counted. Nothing to validate without it. */
  readonly check: { /** Index of the change in its commit. */ readonly write: number; readonly rows: number | undefined } | undefined;
}

/** Changes that follow each other in a commit and were made by the same third-party extension, or by none. */
export interface UnitPart {
  readonly by: string | undefined;
  /** Where it begins in `sql`, and its first statement. */
  readonly from: number;
  readonly statement: number;
}

/** One commit, ready to travel with others. */
export interface Unit {
  readonly id: number;
  readonly sql: string;
  /** Changes per write; those that are counted are added after the commit. */
  readonly changes: number[];
  readonly counted: boolean;
  /** The statements in `sql`, without what the dialect put behind them. */
  readonly statements: readonly Statement[];
  readonly events: readonly Event[];
  /** Rows it writes, for metrics; statements whose rows are not known beforehand count as one. */
  readonly rows: number;
  /** Set where a third-party extension made some of it: it has less time. */
  readonly parts?: readonly UnitPart[] | undefined;
}

interface Draft {
  readonly id: number;
  sql: string;
  counted: boolean;
  rows: number;
  readonly statements: Statement[];
  readonly changes: number[];
  readonly events: Event[];
  parts: UnitPart[] | undefined;
}

export interface CompilerOptions {
  readonly dialect: Dialect;
  /** SQL that keeps the event for durable listeners, or undefined. */
  storeEvent(event: Event): string | undefined;
}

interface Tools extends CompilerOptions {
  template(sql: string): Template;
}

export type Compiler = (ops: readonly WriteOp[]) => Unit;

export const createCompiler = (options: CompilerOptions): Compiler => {
  const tools: Tools = { ...options, template: createTemplates() };
  let lastId = 0;
  return (ops) => {
    lastId += 1;
    const draft: Draft = { id: lastId, sql: '', counted: false, rows: 0, statements: [], changes: [], events: [], parts: undefined };
    for (const [index, op] of ops.entries()) {
      if (op.by !== undefined || draft.parts !== undefined) addPart(draft, op.by);
      addOp(draft, op, index, tools);
    }
    return draft;
  };
};

const addPart = (draft: Draft, by: string | undefined): void => {
  draft.parts ??= draft.sql === '' ? [] : [{ by: undefined, from: 0, statement: 0 }];
  if (draft.parts.length === 0 || draft.parts.at(-1)?.by !== by) draft.parts.push({ by, from: draft.sql.length, statement: draft.statements.length });
};

const addOp = (draft: Draft, op: WriteOp, index: number, tools: Tools): void => {
  draft.changes.push(0);
  if ('event' in op) {
    draft.events.push({ event: op.event, data: op.data });
    const stored = tools.storeEvent(op);
    if (stored !== undefined) addPlain(draft, stored);
  } else if ('sql' in op) {
    const parsed = tools.template(op.sql);
    targetOf(parsed);
    // The line break ends a comment that may stand last.
    addStatement(draft, index, `${fill(parsed, op.args, tools.dialect.literal)}\n`, op.expect, tools.dialect);
  } else if ('insert' in op) {
    addInsert(draft, index, op.insert, op.rows, op.ifAbsent === true, tools.dialect);
  } else if ('update' in op) {
    for (const row of op.rows) addStatement(draft, index, updateSql(op.update, op.key, row, tools.dialect), op.expect === 'each' ? 1 : undefined, tools.dialect);
  } else {
    for (const row of op.rows) addUpsert(draft, index, op.upsert, op.key, row, tools.dialect);
  }
};

/** A statement that does what it says or fails: nothing to validate. */
const addPlain = (draft: Draft, sql: string): void => {
  draft.sql += `${sql};`;
  draft.statements.push({ sql, check: undefined });
};

/** Appends a statement; `known` is the number of rows it must change, undefined when that is to be counted, `any` when nobody asks. */
const addStatement = (draft: Draft, index: number, sql: string, known: number | 'any' | undefined, dialect: Dialect): void => {
  if (known === 'any') {
    addPlain(draft, sql);
    draft.rows += 1;
    return;
  }
  if (known === undefined) {
    draft.sql += `${sql};${dialect.counting(draft.id, index)}`;
    draft.counted = true;
  } else {
    draft.sql += `${sql};${dialect.guarding(index, known)}`;
    draft.changes[index] = (draft.changes[index] ?? 0) + known;
  }
  draft.statements.push({ sql, check: { write: index, rows: known } });
  draft.rows += 1;
};

/** Rows with the same columns travel in one statement. */
const addInsert = (draft: Draft, index: number, table: string, rows: readonly Row[], ifAbsent: boolean, dialect: Dialect): void => {
  let at = 0;
  while (at < rows.length) {
    const columns = columnsOf(rows[at]);
    const shape = columns.join();
    const tuples: string[] = [];
    for (; at < rows.length && columnsOf(rows[at]).join() === shape; at += 1) tuples.push(tuple(table, columns, rows[at] ?? {}, dialect));
    const sql = `INSERT INTO ${dialect.identifier(table)}(${columns.map(dialect.identifier).join()}) VALUES${tuples.join()}`;
    if (ifAbsent) {
      addStatement(draft, index, `${sql} ON CONFLICT DO NOTHING`, undefined, dialect);
    } else {
      // Either all its rows are in, or it failed: nothing to count.
      addPlain(draft, sql);
      draft.changes[index] = (draft.changes[index] ?? 0) + tuples.length;
      draft.rows += tuples.length;
    }
  }
};

const addUpsert = (draft: Draft, index: number, table: string, key: readonly string[], row: Row, dialect: Dialect): void => {
  const { identifier } = dialect;
  const columns = columnsOf(row);
  const set = columns.filter((column) => !key.includes(column)).map((column) => `${identifier(column)}=excluded.${identifier(column)}`);
  const insert = `INSERT INTO ${identifier(table)}(${columns.map(identifier).join()}) VALUES${tuple(table, columns, row, dialect)} ON CONFLICT(${key.map(identifier).join()})`;
  if (set.length === 0) {
    addStatement(draft, index, `${insert} DO NOTHING`, undefined, dialect);
    return;
  }
  addPlain(draft, `${insert} DO UPDATE SET ${set.join()}`);
  draft.changes[index] = (draft.changes[index] ?? 0) + 1;
  draft.rows += 1;
};

const updateSql = (table: string, key: readonly string[], row: Row, dialect: Dialect): string => {
  const { identifier } = dialect;
  const set: string[] = [];
  for (const [column, value] of Object.entries(row)) {
    if (!key.includes(column)) set.push(`${identifier(column)}=${columnValue(table, column, value, dialect)}`);
  }
  if (set.length === 0) throw storageErrors.bad_write(`an update of ${table} sets no column`);
  // A condition less would change rows nobody meant.
  const where = key.map((column) => dialect.isSame(identifier(column), columnValue(table, column, row[column], dialect, true)));
  if (where.length === 0) throw storageErrors.bad_write(`an update of ${table} names no key`);
  return `UPDATE ${identifier(table)} SET ${set.join()} WHERE ${where.join(' AND ')}`;
};

const columnsOf = (row: Row | undefined): string[] => {
  const columns = Object.keys(row ?? {});
  if (columns.length === 0) throw storageErrors.bad_write('a row has no columns');
  return columns;
};

const tuple = (table: string, columns: readonly string[], row: Row, dialect: Dialect): string => `(${columns.map((column) => columnValue(table, column, row[column], dialect)).join()})`;

const columnValue = (table: string, column: string, value: unknown, dialect: Dialect, isKey = false): string => {
  if (value === undefined) throw storageErrors.bad_write(`${table}.${column} has no value`);
  return isKey ? dialect.literal(value) : dialect.stored(value);
};
