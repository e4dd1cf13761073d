/** The row that says which database this is, in SQLite. */
import { IDENTITY_TABLE, identityIn, type IdentityRow } from '../contract/migrations/identity.js';
import type { SqliteConnection } from './sqlite-connection.js';

export const identityRow = (connection: SqliteConnection): IdentityRow => ({
  read: async () => identityIn(await connection.all(`SELECT id, mark FROM ${IDENTITY_TABLE}`, [])),
  advance: () => connection.exec(`INSERT INTO ${IDENTITY_TABLE} VALUES(1, lower(hex(randomblob(16))), 1) ON CONFLICT (one) DO UPDATE SET mark = mark + 1;`),
});
