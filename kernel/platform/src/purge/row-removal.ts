/**
 * Removes somebody's rows from the tables of one area, as its declarations say whose they are.
 *
 * R1  In commits of at most 500 rows of one table, so that other writers come between.
 * R2  Rows that belong to a row of another table go first, and those that came meanwhile go in the same commit as it.
 */
import type { Db, PurgeSubject, Scalar, TableDecl } from '@svc/api';

const BATCH = 500;

export interface Condition {
  readonly sql: string;
  readonly args: readonly Scalar[];
}

/** Resolves with how many rows went. */
export const removeRows = async (db: Db, tables: readonly TableDecl[], subject: PurgeSubject): Promise<number> => {
  let removed = 0;
  for (const table of deepestFirst(tables)) {
    const condition = conditionOf(db, tables, table, subject);
    if (!condition) continue;
    for (let batch = BATCH; batch === BATCH; ) {
      batch = await removeBatch(db, tables, table, condition);
      removed += batch;
    }
  }
  return removed;
};

/** One table's next rows, and what belongs to them. Resolves with how many of the table itself went. */
const removeBatch = async (db: Db, tables: readonly TableDecl[], table: TableDecl, condition: Condition): Promise<number> => {
  const key = table.primaryKey.map(quoted).join(', ');
  const doomed: Condition = { sql: `(${key}) IN (SELECT ${key} FROM ${db.table(table.name)} WHERE ${condition.sql} ORDER BY ${key} LIMIT ${BATCH})`, args: condition.args };
  const writes = [...removalsBelow(db, tables, table, doomed), deletion(db, table, doomed)];
  const { changes } = await db.commit(writes.map(({ sql, args }) => db.sql(sql, args)));
  return changes.at(-1) ?? 0;
};

const removalsBelow = (db: Db, tables: readonly TableDecl[], parent: TableDecl, doomed: Condition): Condition[] =>
  tables.flatMap((table) => {
    const below = throughCondition(db, table, parent, doomed);
    return below ? [...removalsBelow(db, tables, table, below), deletion(db, table, below)] : [];
  });

const deletion = (db: Db, table: TableDecl, { sql, args }: Condition): Condition => ({ sql: `DELETE FROM ${db.table(table.name)} WHERE ${sql}`, args });

/** Which rows of the table are the subject's; undefined when its declaration names none. */
export const conditionOf = (db: Db, tables: readonly TableDecl[], table: TableDecl, subject: PurgeSubject): Condition | undefined => {
  const parent = tables.find(({ name }) => name === table.through?.table);
  const above = parent && conditionOf(db, tables, parent, subject);
  const parts = [ownCondition(table, subject), parent && above && throughCondition(db, table, parent, above)].filter((part) => part !== undefined);
  return parts.length === 0 ? undefined : { sql: parts.map(({ sql }) => `(${sql})`).join(' OR '), args: parts.flatMap(({ args }) => args) };
};

const ownCondition = (table: TableDecl, { ownerId, agentId, sessionId }: PurgeSubject): Condition | undefined => {
  const columns = [
    [table.owner, ownerId],
    [table.agent, agentId],
    [table.session, sessionId],
  ] as const;
  for (const [column, value] of columns) if (column !== undefined && value !== undefined) return { sql: `${quoted(column)} = ?`, args: [value] };
  return undefined;
};

const throughCondition = (db: Db, table: TableDecl, parent: TableDecl, above: Condition): Condition | undefined => {
  if (table.through?.table !== parent.name) return undefined;
  const [key = ''] = parent.primaryKey;
  return { sql: `${quoted(table.through.column)} IN (SELECT ${quoted(key)} FROM ${db.table(parent.name)} WHERE ${above.sql})`, args: above.args };
};

export const deepestFirst = (tables: readonly TableDecl[]): TableDecl[] => tables.toSorted((a, b) => depthOf(tables, b) - depthOf(tables, a));

const depthOf = (tables: readonly TableDecl[], table: TableDecl): number => {
  const parent = tables.find(({ name }) => name === table.through?.table);
  return parent ? depthOf(tables, parent) + 1 : 0;
};

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
