/** Storage at the gate: own tables, and SQL text only by grant. */
import type { Db, GrantName } from '@svc/api';

const SQL_GRANT: GrantName = 'db:sql';

export interface StorageRules {
  /** Throws `daemon_not_granted` unless the manifest asks for this grant. */
  need(grant: GrantName): void;
  /** Throws `daemon_extension_stopped` once the generation is closed. */
  alive(): void;
}

/** Writes can be built after the end, as what is built is committed by others, too; nothing is read or committed then. */
export const dbGate = (db: Db, { need, alive }: StorageRules): Db => ({
  insert: db.insert,
  update: db.update,
  upsert: db.upsert,
  remove: db.remove,
  select: async (query) => {
    alive();
    return db.select(query);
  },
  first: async (query) => {
    alive();
    return db.first(query);
  },
  count: async (table, where, actor, search) => {
    alive();
    return db.count(table, where, actor, search);
  },
  page: async (query) => {
    alive();
    return db.page(query);
  },
  commit: (writes) => {
    alive();
    return db.commit(writes);
  },
  sql: (text, args, options) => {
    need(SQL_GRANT);
    return db.sql(text, args, options);
  },
  table: (name) => {
    need(SQL_GRANT);
    return db.table(name);
  },
  read: async (sql, args) => {
    need(SQL_GRANT);
    alive();
    return db.read(sql, args);
  },
  readOne: async (sql, args) => {
    need(SQL_GRANT);
    alive();
    return db.readOne(sql, args);
  },
});
