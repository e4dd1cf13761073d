/** Storage at the access check: own tables, and SQL text only by grant. */
import type { Actor, Db, Reader } from '@svc/api';
import type { GrantName } from '@svc/api/internal';

const SQL_GRANT: GrantName = 'db:sql';

export interface StorageRules {
  /** Throws `daemon_not_granted` unless the manifest asks for this grant. */
  need(grant: GrantName): void;
  /** Throws `daemon_extension_stopped` once the generation is closed. */
  alive(): void;
  /** The actor itself. Throws `actor_made_up` where this extension may not act for it. */
  actorOf(actor: Actor): Actor;
}

/** Writes can be built after the end, as what is built is committed by others, too; nothing is read or committed then. */
export const dbAccess = (db: Db, rules: StorageRules): Db => ({
  insert: db.insert,
  update: db.update,
  upsert: db.upsert,
  remove: db.remove,
  as: (actor) => readerGate(db.as(rules.actorOf(actor)), rules),
  system: (why) => readerGate(db.system(why), rules),
  commit: (writes) => {
    rules.alive();
    return db.commit(writes);
  },
  sql: (text, args, options) => {
    rules.need(SQL_GRANT);
    return db.sql(text, args, options);
  },
  table: (name) => {
    rules.need(SQL_GRANT);
    return db.table(name);
  },
});

const readerGate = (reader: Reader, { need, alive }: StorageRules): Reader => ({
  select: async (query) => {
    alive();
    return reader.select(query);
  },
  first: async (query) => {
    alive();
    return reader.first(query);
  },
  count: async (table, where, search) => {
    alive();
    return reader.count(table, where, search);
  },
  page: async (query) => {
    alive();
    return reader.page(query);
  },
  read: async (sql, args) => {
    need(SQL_GRANT);
    alive();
    return reader.read(sql, args);
  },
  readOne: async (sql, args) => {
    need(SQL_GRANT);
    alive();
    return reader.readOne(sql, args);
  },
});
