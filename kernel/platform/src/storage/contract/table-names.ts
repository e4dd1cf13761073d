/** The physical names of an owner's tables: `<id>_<table>`, with `-` written as `_`. */
import { storageErrors } from './errors.js';

export interface TableOwner {
  readonly id: string;
  readonly tables: readonly string[];
  /**
   * May commit writes to tables of other owners: for what carries writes that others made,
   * as the journal does with `also`. Reads and migrations stay with the own tables either way.
   */
  readonly carriesOthers?: boolean;
}

export interface TableNames {
  readonly id: string;
  /** Where the owner's applied migrations are kept. */
  readonly bookkeeping: string;
  /** Throws `storage_unknown_table` for a name that the owner did not declare. */
  physical(table: string): string;
  /** Throws unless the physical name is one that this owner may write. */
  checkWrite(table: string): void;
}

/** `known` gathers every table of every owner, so that a carrier cannot write what nobody declared. */
export const tableNames = (owner: TableOwner, known: Set<string>): TableNames => {
  const prefix = owner.id.replaceAll('-', '_');
  const own = new Map(owner.tables.map((table) => [table, `${prefix}_${table}`]));
  const bookkeeping = `${prefix}_migrations`;
  if (own.has('migrations')) throw storageErrors.unknown_table(owner.id, 'migrations (the name is kept for bookkeeping)');
  const writable = new Set(own.values());
  for (const name of writable) known.add(name);
  return {
    id: owner.id,
    bookkeeping,
    physical(table) {
      const name = own.get(table);
      if (name === undefined) throw storageErrors.unknown_table(owner.id, table);
      return name;
    },
    checkWrite(table) {
      if (writable.has(table) || (owner.carriesOthers && known.has(table))) return;
      throw storageErrors.unknown_table(owner.id, table);
    },
  };
};
