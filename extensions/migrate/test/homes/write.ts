/** Files and databases of a home of another program. */
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { openSqlite } from '@svc/platform/storage/sqlite/sqlite-connection';

export const put = async (root: string, path: string, content: unknown): Promise<void> => {
  const file = join(root, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, typeof content === 'string' || content instanceof Uint8Array ? content : JSON.stringify(content));
};

export const lines = (events: readonly unknown[]): string => events.map((event) => `${JSON.stringify(event)}\n`).join('');

/** SQL text of a value; bytes become a blob. */
export const sql = (value: string | number | null | Uint8Array): string =>
  value === null ? 'NULL' : typeof value === 'number' ? String(value) : typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : `x'${Buffer.from(value).toString('hex')}'`;

export const insert = (table: string, row: Readonly<Record<string, string | number | null | Uint8Array>>): string =>
  `INSERT INTO ${table}(${Object.keys(row).join(', ')}) VALUES (${Object.values(row).map(sql).join(', ')});`;

/** In WAL mode, as all of these programs have it. With `stays`, it is not closed: what was written stands in the WAL alone. */
export const database = async (root: string, path: string, statements: readonly string[], stays = false): Promise<() => Promise<void>> => {
  await mkdir(dirname(join(root, path)), { recursive: true });
  const connection = await openSqlite({ file: join(root, path), readOnly: false, maxStatements: 4 });
  await connection.exec('PRAGMA journal_mode=WAL;PRAGMA wal_autocheckpoint=0;');
  await connection.exec(`BEGIN;${statements.join('\n')}COMMIT;`);
  if (stays) return () => connection.close();
  await connection.close();
  return () => Promise.resolve();
};

/** Of each file its hash: whoever only reads leaves it as it is. */
export const hashes = async (root: string): Promise<Record<string, string>> => {
  const found: Record<string, string> = {};
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) {
      const path = join(entry.parentPath, entry.name);
      found[path.slice(root.length + 1)] = createHash('sha256')
        .update(await readFile(path))
        .digest('hex');
    }
  return found;
};
