/**
 * The physical names of an owner's tables: `<id>__<table>`, with `-` of the id written as `_`.
 *
 * An id has no `_`, no `--` and no `-` at its end, so what it becomes has no `__` and does not end in `_`; a table
 * begins with a letter. So the first `__` of a physical name parts the two: no two owners can share one.
 */
import { storageErrors } from './errors.js';

export interface TableOwner {
  readonly id: string;
  readonly tables: readonly string[];
  /** The kernel's and the journal's own: they may have a reserved id, and their SQL text is not validated. */
  readonly isPlatform?: boolean;
  /** It was not shipped with the daemon: its statements have less time and read less at once. */
  readonly isThirdParty?: boolean;
}

export interface TableNames {
  readonly id: string;
  readonly isPlatform: boolean;
  readonly isThirdParty: boolean;
  /** With which every physical name of the owner begins, and nobody else's. */
  readonly prefix: string;
  /** Where the owner's applied migrations are kept. */
  readonly bookkeeping: string;
  /** Throws `storage_unknown_table` for a name that the owner did not declare. */
  physical(table: string): string;
  /** The physical names of all that it declared. */
  readonly own: readonly string[];
  /** Whether this is the physical name of one of the owner's tables. */
  isOwn(physical: string): boolean;
}

const ID = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/;
const TABLE = /^[a-z][a-z0-9_]*$/;
const RESERVED = /^(?:kernel|journal|svc)$|^(?:sqlite|pg)(?:-|$)/;
/** PostgreSQL cuts longer names, and two that were cut may be one. */
const MAX_NAME = 63;

/** Throws `storage_bad_name` when it would not be unmistakable. */
export const physicalName = (id: string, table: string): string => {
  const name = `${id.replaceAll('-', '_')}__${table}`;
  if (!ID.test(id) || !TABLE.test(table)) throw storageErrors.bad_name(id, table, 'an id has small letters, digits and single hyphens within, a table small letters, digits and _');
  if (name.length > MAX_NAME) throw storageErrors.bad_name(id, table, `${name} has ${name.length} characters, and ${MAX_NAME} are the limit`);
  return name;
};

export const tableNames = (owner: TableOwner): TableNames => {
  const { id, tables, isPlatform = false, isThirdParty = false } = owner;
  if (!isPlatform && RESERVED.test(id)) throw storageErrors.reserved_owner(id);
  if (tables.includes('migrations')) throw storageErrors.bad_name(id, 'migrations', 'the name is reserved');
  const own = new Map(tables.map((table) => [table, physicalName(id, table)]));
  const physical = new Set(own.values());
  return {
    id,
    isPlatform,
    isThirdParty,
    prefix: `${id.replaceAll('-', '_')}__`,
    bookkeeping: physicalName(id, 'migrations'),
    physical(table) {
      const name = own.get(table);
      if (name === undefined) throw storageErrors.unknown_table(id, String(table));
      return name;
    },
    own: [...physical],
    isOwn: (name) => physical.has(name),
  };
};
