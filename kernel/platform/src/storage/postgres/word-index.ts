/** Words in PostgreSQL: a tsvector as it was written, under a GIN index. No parser and no dictionary of the server has a say. */
import type { WordIndex } from '../contract/word-index.js';
import { identifier, indexName } from './postgres-dialect.js';

export const postgresWords: WordIndex = {
  // Without a list of what waits, which each search would have to read through.
  create: ({ table, column }) => [`CREATE INDEX ${identifier(indexName(`${table}_${column}_gin`))} ON ${identifier(table)} USING gin (${identifier(column)}) WITH (fastupdate = off)`],
  condition: ({ column }) => `${identifier(column)} @@ CAST(? AS tsquery)`,
  // Where it takes a few rows for many, PostgreSQL goes through the key from its end and looks into each row.
  sorted: (key) => `(${key} + 0)`,
  query: (groups) => groups.map((group) => `(${group.map((word) => `'${word}'`).join(' & ')})`).join(' | '),
};
