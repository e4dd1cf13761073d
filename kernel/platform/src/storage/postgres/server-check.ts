/** Whether a server can hold what is written here. */
import { storageErrors } from '../contract/errors.js';
import type { PostgresConnection } from './postgres-connection.js';

/** The oldest that is tested against what is used here. */
const OLDEST = 130_000;

export const checkServer = async (connection: Pick<PostgresConnection, 'query'>, place: string): Promise<void> => {
  const [result] = await connection.query("SELECT current_setting('server_version_num') AS version, current_setting('server_encoding') AS encoding");
  const row = result?.rows[0];
  const version = Number(row?.version);
  if (!(version >= OLDEST)) throw storageErrors.server_unavailable(place, `it is PostgreSQL ${Math.floor(version / 10_000)}, and 13 is the oldest that will do`);
  if (row?.encoding !== 'UTF8') throw storageErrors.server_unavailable(place, `its encoding is ${row?.encoding}, but UTF8 is required`);
};
