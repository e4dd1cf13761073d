/**
 * Words of deleted rows leave the file. A contentless index only marks them as gone, and its segments have the words until they are merged.
 *
 * W1  All segments of an index with such marks are merged into one: what is marked is not copied, and `secure_delete` overwrites the rest.
 * W2  It is done in small steps, between which others commit. An index without marks costs one look.
 * W3  It takes at most a twentieth of the time: a large index is not written anew at each rest.
 */
import { identifier } from './sqlite-dialect.js';
import type { SqliteConnection } from './sqlite-connection.js';

/** Written by one step: about a megabyte. */
const STEP_PAGES = 250;
/** Rows that are deleted meanwhile leave marks again; the next turn goes on. */
const MAX_ROUNDS = 3;
const REST_FACTOR = 20;
/** Where FTS5 stores marks (FTS5_TOMBSTONE_ROWID): segment numbers from 2^16 on, above 37 bits of level and page. */
const FIRST_MARK = 2 ** 53;

interface Writer {
  readonly connection: Pick<SqliteConnection, 'all' | 'exec'>;
  exclusive<T>(work: () => Promise<T>): Promise<T>;
}
export interface ForgettingDeps extends Writer {
  /** Milliseconds that only go forward. */
  elapsed(): number;
}

/** True when nothing is left to do; to be called again otherwise. */
export const createForgetting = ({ elapsed, ...deps }: ForgettingDeps): (() => Promise<boolean>) => {
  let notBefore = -Infinity;
  return async () => {
    const startedAt = elapsed();
    if (startedAt < notBefore) return false;
    const marked = await markedIndexes(deps);
    if (marked.length === 0) return true;
    for (let round = 0, left = marked; round < MAX_ROUNDS && left.length > 0; round++, left = await markedIndexes(deps)) for (const index of left) await mergeAll(deps, index);
    const endedAt = elapsed();
    notBefore = endedAt + REST_FACTOR * (endedAt - startedAt);
    return false;
  };
};

const INDEXES = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE '%!_!_words' ESCAPE '!' AND sql LIKE 'CREATE VIRTUAL TABLE % USING fts5(%'";

const markedIndexes = ({ connection, exclusive }: Writer): Promise<string[]> =>
  exclusive(async () => {
    const marked: string[] = [];
    for (const name of (await connection.all(INDEXES, [])).map((row) => String(row.name))) {
      if ((await connection.all(`SELECT 1 FROM ${identifier(`${name}_data`)} WHERE id >= ${FIRST_MARK} LIMIT 1`, [])).length > 0) marked.push(name);
    }
    return marked;
  });

/** A negative number begins to merge all segments, a positive one goes on. The count of changes says whether there was anything to do. */
const mergeAll = async ({ connection, exclusive }: Writer, index: string): Promise<void> => {
  const table = identifier(index);
  let isLeft = true;
  for (let pages = -STEP_PAGES; isLeft; pages = STEP_PAGES) {
    isLeft = await exclusive(async () => {
      // Its extension may be removed between two steps.
      if ((await connection.all("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?", [index])).length === 0) return false;
      const before = await changed(connection);
      await connection.exec(`INSERT INTO ${table}(${table}, rank) VALUES('merge', ${pages})`);
      return (await changed(connection)) - before > 1;
    });
  }
};

const changed = async (connection: Writer['connection']): Promise<number> => Number((await connection.all('SELECT total_changes() AS n', []))[0]?.n);
