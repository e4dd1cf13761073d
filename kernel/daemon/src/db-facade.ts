/** Storage and events as one generation sees them: own tables, declared events, and SQL text only by grant. */
import type { Db, Events } from '@svc/api';
import type { EventHub, Owner } from '@svc/core';
import type { Storage } from '@svc/platform/storage/storage';
import { daemonErrors } from './errors.js';

const SQL_GRANT = 'db:sql';

export interface DbGate {
  /** Throws `daemon_not_granted` unless the manifest asks for this grant. */
  need(grant: string): void;
  /** Throws `daemon_extension_stopped` once the generation is closed. */
  alive(): void;
}

/** Writes can be built after the end, as what is built is committed by others, too; nothing is read or committed then. */
export const dbFacade = (db: Db, { need, alive }: DbGate): Db => ({
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
  count: async (table, where, actor) => {
    alive();
    return db.count(table, where, actor);
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

/** `publishes`: the events that the manifest names. */
export const eventsFacade = (parts: { readonly events: EventHub; readonly storage: Pick<Storage, 'event'> }, owner: Owner, publishes: readonly string[]): Events => {
  const hub = parts.events.facade(owner);
  const declared = new Set(publishes);
  const need = (event: string): void => {
    if (!declared.has(event)) throw daemonErrors.event_undeclared(owner.id, String(event));
  };
  return {
    event: (name, data) => {
      need(name);
      return parts.storage.event(owner.id, name, data);
    },
    publish: (name, data) => {
      need(name);
      hub.publish(name, data);
    },
    on: hub.on,
  };
};
