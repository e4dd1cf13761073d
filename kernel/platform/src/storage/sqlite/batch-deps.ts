/** What carrying out a batch needs. */
import type { BatchEndDeps } from '../contract/batch-end.js';
import type { SqliteConnection } from './sqlite-connection.js';

export interface BatchDeps extends BatchEndDeps {
  readonly connection: SqliteConnection;
}
