/**
 * A backup in the place of the tables of a server: it is copied into a schema of its own, and the tables change their schema in
 * one transaction.
 *
 * N1  All tables are those of before, or all are those of the backup. A mark says which restore that was (M3 of move/marks.ts).
 * N2  Until the restore is confirmed, the tables of before wait in a schema of their own.
 * N3  A daemon that wrote to the tables of before commits nothing to those of the backup.
 * N4  What an administrator granted to others on a table or a column is granted on the restored one.
 */
import { IDENTITY_TABLE, identityIn } from '../contract/migrations/identity.js';
import type { TableOwner } from '../contract/table-names.js';
import { tableNames } from '../contract/table-names.js';
import { markSql, MOVE_TABLE } from '../move/marks.js';
import type { MoveEnd } from '../move/move-end.js';
import { markOf } from '../move/move-storage.js';
import { identifier, literal, TAKE_LOCK } from './postgres-dialect.js';

/** Where a backup is copied to. */
export const LOADED_SCHEMA = 'svc_restoring';
const BEFORE_SCHEMA = 'svc_before_restore';
const FENCE = 'kernel_restored';

export interface ServerRestore {
  /** Names this restore, here and in the home. */
  readonly token: string;
  /** For people. */
  readonly filename: string;
  readonly at: string;
}

/** An empty schema for a backup, in the place of what an earlier attempt left. The caller holds the database. */
export const prepareSchema = (live: MoveEnd): Promise<void> => live.change([`DROP SCHEMA IF EXISTS ${LOADED_SCHEMA} CASCADE`, `CREATE SCHEMA ${LOADED_SCHEMA}`]);

/** Whether this user may make a schema. */
export const canMakeSchema = async (end: MoveEnd): Promise<boolean> => {
  const [row] = await end.query("SELECT has_database_privilege(current_database(), 'CREATE') AS may");
  return Number(row?.may) === 1;
};

/** Puts what was loaded in the place of what is there. The caller holds the database. Tables of extensions that are in neither `owners` stay. */
export const swapTables = async (live: MoveEnd, owners: readonly TableOwner[], { at, filename, token }: ServerRestore): Promise<void> => {
  const schema = await schemaOf(live);
  const prefixes = ['kernel_', ...owners.map((owner) => tableNames(owner).prefix)];
  const tables = await live.tables();
  const replaced = tables.filter((name) => prefixes.some((prefix) => name.startsWith(prefix)));
  const staying = tables.filter((name) => !replaced.includes(name));
  const loaded = await tablesIn(live, LOADED_SCHEMA);
  await live.change([
    `CREATE SCHEMA ${BEFORE_SCHEMA}`,
    `COMMENT ON SCHEMA ${BEFORE_SCHEMA} IS ${literal(JSON.stringify(staying))}`,
    ...moved(schema, BEFORE_SCHEMA, replaced),
    ...(await grantsSql(live, loaded)),
    ...moved(LOADED_SCHEMA, schema, loaded),
    `DROP SCHEMA ${LOADED_SCHEMA}`,
    ...(await identitySql(live, tables)),
    ...(await fenceSql(live, tables)),
    ...markSql({ state: 'restoring', token, other: filename, at }, literal),
  ]);
};

/** The restored data has started: what was there before goes. Rejects where this restore is not under way. */
export const confirmTables = async (live: MoveEnd, token: string): Promise<void> => {
  await live.change([TAKE_LOCK, `UPDATE ${MOVE_TABLE} SET state = 'restored' WHERE token = ${literal(token)}`, `DROP SCHEMA ${BEFORE_SCHEMA} CASCADE`]);
};

/** `confirmed`: there is no way back. `before`: the tables of before are there, whether they had been replaced or not. */
export const revertTables = async (live: MoveEnd, token: string): Promise<'confirmed' | 'before'> => {
  const mark = await markOf(live);
  if (mark?.token === token && mark.state === 'restored') return 'confirmed';
  if (mark?.token !== token || mark.state !== 'restoring') return 'before';
  const schema = await schemaOf(live);
  const [row] = await live.query(`SELECT obj_description('${BEFORE_SCHEMA}'::regnamespace, 'pg_namespace') AS staying`);
  const staying = JSON.parse(String(row?.staying)) as string[]; // written by `swapTables`
  const restored = (await live.tables()).filter((name) => !staying.includes(name));
  await live.change([
    TAKE_LOCK,
    ...restored.map((name) => `DROP TABLE ${schema}.${identifier(name)} CASCADE`),
    ...moved(BEFORE_SCHEMA, schema, await tablesIn(live, BEFORE_SCHEMA)),
    `DROP SCHEMA ${BEFORE_SCHEMA}`,
  ]);
  return 'before';
};

/** Quoted: whatever its name is. */
const schemaOf = async (live: MoveEnd): Promise<string> => String((await live.query('SELECT quote_ident(current_schema()) AS name'))[0]?.name);

const tablesIn = async (live: MoveEnd, schema: string): Promise<string[]> =>
  (await live.query(`SELECT tablename AS name FROM pg_tables WHERE schemaname = ${literal(schema)} ORDER BY tablename`)).map(({ name }) => String(name));

const moved = (from: string, to: string, tables: readonly string[]): string[] => tables.map((name) => `ALTER TABLE ${from}.${identifier(name)} SET SCHEMA ${to}`);

/** The owner's rights come with the table. A column that the backup does not have yet has no rights. */
const grantsSql = async (live: MoveEnd, loaded: readonly string[]): Promise<string[]> => {
  const grant = "CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END AS grantee, privilege_type AS privilege, is_grantable AS passes";
  const isGranted = "relnamespace = current_schema()::regnamespace AND relkind = 'r' AND grantee <> relowner";
  const rows = await live.query(
    `SELECT relname AS name, NULL AS place, ${grant} FROM pg_class CROSS JOIN LATERAL aclexplode(relacl) WHERE ${isGranted}
    UNION ALL SELECT relname AS name, quote_ident(attname) AS place, ${grant} FROM pg_class JOIN pg_attribute AS had ON had.attrelid = pg_class.oid CROSS JOIN LATERAL aclexplode(attacl)
      WHERE ${isGranted} AND EXISTS (SELECT 1 FROM information_schema.columns WHERE table_schema = '${LOADED_SCHEMA}' AND table_name = relname AND column_name = had.attname)`,
  );
  return rows
    .filter(({ name }) => loaded.includes(String(name)))
    .map(({ grantee, name, passes, place, privilege }) => {
      const column = place === null ? '' : ` (${String(place)})`;
      return `GRANT ${String(privilege)}${column} ON ${LOADED_SCHEMA}.${identifier(String(name))} TO ${String(grantee)}${Number(passes) === 1 ? ' WITH GRANT OPTION' : ''}`;
    });
};

/** The same database, further than it was: for other daemons it is not an older copy. */
const identitySql = async (live: MoveEnd, tables: readonly string[]): Promise<string[]> => {
  const was = tables.includes(IDENTITY_TABLE) ? identityIn(await live.query(`SELECT id, mark FROM ${IDENTITY_TABLE}`)) : undefined;
  return was ? [`INSERT INTO ${IDENTITY_TABLE}(one, id, mark) VALUES(1, ${literal(was.id)}, ${was.mark + 1})`] : [];
};

/** Each commit of a daemon notes its number under its name first (W2 of postgres-writer.ts); these names are refused from now on. */
const fenceSql = async (live: MoveEnd, tables: readonly string[]): Promise<string[]> => {
  const writers = tables.includes('kernel_batches') ? await live.query('SELECT writer FROM kernel_batches') : [];
  if (writers.length === 0) return [];
  return [`ALTER TABLE kernel_batches ADD CONSTRAINT ${FENCE} CHECK (writer NOT IN (${writers.map(({ writer }) => literal(String(writer))).join()})) NOT VALID`];
};
