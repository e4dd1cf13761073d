/** A database as one end of a move, by its URL; without one, the file in the data folder. */
import { addressOf } from '../postgres/postgres-url.js';
import type { EndUse, MoveEnd } from './move-end.js';

export interface OpenEnd {
  readonly url: string | undefined;
  readonly file: string;
  readonly use: EndUse;
  /** Of a server, instead of the first one of its search path. */
  readonly schema?: string | undefined;
}

/** Rejects with `storage_bad_url`, `storage_unavailable` and `storage_server_unavailable`. The drivers are loaded where they are used. */
export const openEnd = async ({ file, schema, url, use }: OpenEnd): Promise<MoveEnd> => {
  if (url === undefined) return (await import('../sqlite/move-end.js')).openSqliteEnd(file, use);
  return (await import('../postgres/move-end.js')).openPostgresEnd(addressOf(url), use, schema);
};
