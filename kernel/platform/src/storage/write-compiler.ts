/**
 * Turns the writes of one commit into SQL text, with what must be checked and counted.
 *
 * A guard behind a statement fails the whole transaction when the statement did
 * not change as many rows as it was expected to; its message names the write.
 */
import type { Row, Write } from '@svc/api';
import { EXPECT_MARK, storageErrors } from './errors.js';
import { createTemplates, fill, identifier, literal, type Template } from './sql-text.js';

/** Where counts that are only known afterwards are put, on the writer connection. */
export const CHANGES_TABLE = 'temp.svc_changes';

export interface Event {
  readonly event: string;
  readonly data: unknown;
}

/** One commit, ready to travel with others. */
export interface Unit {
  readonly id: number;
  readonly sql: string;
  /** Changes per write; those of `counted` writes are added after the commit. */
  readonly changes: number[];
  readonly counted: boolean;
  readonly events: readonly Event[];
  /** Rows it writes, for metrics; statements whose rows are not known beforehand count as one. */
  readonly rows: number;
}

export interface CompilerOptions {
  /** Throws when a table is not the caller's. */
  checkTable(table: string): void;
  /** SQL that keeps the event for durable listeners, or undefined. */
  storeEvent(event: Event): string | undefined;
}

interface Draft {
  readonly id: number;
  sql: string;
  counted: boolean;
  rows: number;
  readonly changes: number[];
  readonly events: Event[];
}

export type Compiler = (writes: readonly Write[], options: CompilerOptions) => Unit;

export const createCompiler = (): Compiler => {
  const template = createTemplates();
  let lastId = 0;
  return (writes, options) => {
    lastId += 1;
    const draft: Draft = { id: lastId, sql: '', counted: false, rows: 0, changes: [], events: [] };
    for (const [index, write] of writes.entries()) addWrite(draft, write, index, options, template);
    return draft;
  };
};

const addWrite = (draft: Draft, write: Write, index: number, options: CompilerOptions, template: (sql: string) => Template): void => {
  draft.changes.push(0);
  if ('event' in write) {
    draft.events.push({ event: write.event, data: write.data });
    const stored = options.storeEvent(write);
    if (stored !== undefined) draft.sql += `${stored};`;
  } else if ('sql' in write) {
    const parsed = template(write.sql);
    options.checkTable(parsed.target);
    // The line break ends a comment that may stand last.
    addStatement(draft, index, `${fill(parsed, write.args)}\n`, write.expect);
  } else if ('insert' in write) {
    options.checkTable(write.insert);
    addInsert(draft, index, write.insert, write.rows, write.ifAbsent === true);
  } else if ('update' in write) {
    options.checkTable(write.update);
    for (const row of write.rows) addStatement(draft, index, updateSql(write.update, write.key, row), write.expect === 'each' ? 1 : undefined);
  } else {
    options.checkTable(write.upsert);
    for (const row of write.rows) addUpsert(draft, index, write.upsert, write.key, row);
  }
};

/** Appends a statement; `known` is the number of rows it must change, undefined when that is to be counted. */
const addStatement = (draft: Draft, index: number, sql: string, known: number | undefined): void => {
  if (known === undefined) {
    draft.sql += `${sql};INSERT INTO ${CHANGES_TABLE} VALUES(${draft.id},${index},changes());`;
    draft.counted = true;
  } else {
    draft.sql += `${sql};SELECT json_extract('{}','${EXPECT_MARK}${index}') WHERE changes()<>${literal(known)};`;
    draft.changes[index] = (draft.changes[index] ?? 0) + known;
  }
  draft.rows += 1;
};

/** Rows with the same columns travel in one statement. */
const addInsert = (draft: Draft, index: number, table: string, rows: readonly Row[], ifAbsent: boolean): void => {
  let at = 0;
  while (at < rows.length) {
    const columns = columnsOf(rows[at]);
    const shape = columns.join();
    const tuples: string[] = [];
    for (; at < rows.length && columnsOf(rows[at]).join() === shape; at += 1) tuples.push(tuple(table, columns, rows[at] ?? {}));
    const sql = `INSERT INTO ${identifier(table)}(${columns.map(identifier).join()}) VALUES${tuples.join()}`;
    if (ifAbsent) {
      addStatement(draft, index, `${sql} ON CONFLICT DO NOTHING`, undefined);
    } else {
      // Either all its rows are in, or it failed: nothing to count.
      draft.sql += `${sql};`;
      draft.changes[index] = (draft.changes[index] ?? 0) + tuples.length;
      draft.rows += tuples.length;
    }
  }
};

const addUpsert = (draft: Draft, index: number, table: string, key: readonly string[], row: Row): void => {
  const columns = columnsOf(row);
  const set = columns.filter((column) => !key.includes(column)).map((column) => `${identifier(column)}=excluded.${identifier(column)}`);
  const insert = `INSERT INTO ${identifier(table)}(${columns.map(identifier).join()}) VALUES${tuple(table, columns, row)} ON CONFLICT(${key.map(identifier).join()})`;
  if (set.length === 0) {
    addStatement(draft, index, `${insert} DO NOTHING`, undefined);
    return;
  }
  draft.sql += `${insert} DO UPDATE SET ${set.join()};`;
  draft.changes[index] = (draft.changes[index] ?? 0) + 1;
  draft.rows += 1;
};

const updateSql = (table: string, key: readonly string[], row: Row): string => {
  const set: string[] = [];
  for (const [column, value] of Object.entries(row)) {
    if (!key.includes(column)) set.push(`${identifier(column)}=${columnValue(table, column, value)}`);
  }
  if (set.length === 0) throw storageErrors.bad_write(`an update of ${table} sets no column`);
  // A condition less would change rows nobody meant; `IS` finds NULL keys too.
  const where = key.map((column) => `${identifier(column)} IS ${columnValue(table, column, row[column])}`);
  if (where.length === 0) throw storageErrors.bad_write(`an update of ${table} names no key`);
  return `UPDATE ${identifier(table)} SET ${set.join()} WHERE ${where.join(' AND ')}`;
};

const columnsOf = (row: Row | undefined): string[] => {
  const columns = Object.keys(row ?? {});
  if (columns.length === 0) throw storageErrors.bad_write('a row has no columns');
  return columns;
};

const tuple = (table: string, columns: readonly string[], row: Row): string => `(${columns.map((column) => columnValue(table, column, row[column])).join()})`;

const columnValue = (table: string, column: string, value: unknown): string => {
  if (value === undefined) throw storageErrors.bad_write(`${table}.${column} has no value`);
  return literal(value);
};
