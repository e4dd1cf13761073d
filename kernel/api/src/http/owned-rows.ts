/** Rows of a declared table that belong to people: what nearly every area does with them, typed by the declaration. */
import type { Actor } from '../actor.js';
import type { RowOf, TableDecl } from '../declare/table.js';
import type { SvcError } from '../errors.js';
import type { Db, Page, Row, Select, Where, Write } from '../storage.js';

export interface OwnedRows<R> {
  /** By its primary key. Throws what `missing` makes when there is none that the actor may see. */
  get(actor: Actor, id: string): Promise<R>;
  /** Those that the actor may see, in the order of `order`. */
  page(actor: Actor, query: Pick<Select, 'after' | 'limit'>, where?: Where): Promise<Page<R>>;
  insert(row: R): Write;
  /** Every column of the row with this primary key. One that has gone meanwhile is a conflict (`storage_conflict`). */
  update(row: R): Write;
  /** One that has gone meanwhile is a conflict. */
  remove(row: R): Write;
}

export interface OwnedRowsSpec {
  /** Of pages. */
  readonly order: NonNullable<Select['order']>;
  readonly missing: (id: string) => SvcError;
}

/** The table has an owner, in the column `owner_id`, and a primary key of one text column. */
export const ownedRows = <D extends TableDecl>(db: Db, table: D, { order, missing }: OwnedRowsSpec): OwnedRows<RowOf<D> & Row> => {
  type R = RowOf<D> & Row;
  const [key, second] = table.primaryKey;
  if (key === undefined || second !== undefined || table.owner !== 'owner_id')
    throw new Error(`the table ${table.name} has no owner in a column owner_id, or no primary key of one column: ownedRows serves no other`);
  const from = table.name;
  return {
    get: async (actor, id) => {
      const row = await db.as(actor).first<R>({ from, where: { [key]: id } });
      if (!row) throw missing(id);
      return row;
    },
    page: (actor, { after, limit }, where = {}) => db.as(actor).page<R>({ from, where, order, ...(after === undefined ? {} : { after }), ...(limit === undefined ? {} : { limit }) }),
    insert: (row) => db.insert(from, [row]),
    update: (row) => db.update(from, [key], [row], { expect: 'each' }),
    remove: (row) => db.remove(from, { [key]: row[key] ?? null }, { expect: 1 }),
  };
};
