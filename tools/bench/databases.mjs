/** Asks a daemon's database beside it: the file of a home, or a server. */
import path from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import sqlite3 from 'sqlite3';

/** `url` of the server, or undefined for the file in that home. Gives `ask(sql)`, which resolves with rows, and `close()`. */
export const openReader = async (home, url) => {
  if (url === undefined) {
    const db = new sqlite3.Database(path.join(home, 'data', 'svc.db'), sqlite3.OPEN_READONLY);
    return { ask: promisify(db.all.bind(db)), close: promisify(db.close.bind(db)) };
  }
  const client = new pg.Client(url);
  await client.connect();
  return { ask: async (sql) => (await client.query(sql)).rows, close: () => client.end() };
};
