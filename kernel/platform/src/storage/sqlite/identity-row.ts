/** The row that says which database this is, in SQLite. */
import { type Identity, IDENTITY_TABLE, type IdentityRow } from '../contract/migrations/identity.js';
import type { SqliteConnection } from './sqlite-connection.js';

export const identityRow = (connection: SqliteConnection): IdentityRow => ({
  read: async () => {
    const rows = (await connection.all(`SELECT id, mark FROM ${IDENTITY_TABLE}`, [])) as Identity[]; // the shape of this SELECT
    return rows[0];
  },
  advance: () => connection.exec(`INSERT INTO ${IDENTITY_TABLE} VALUES(1, lower(hex(randomblob(16))), 1) ON CONFLICT (one) DO UPDATE SET mark = mark + 1;`),
});
