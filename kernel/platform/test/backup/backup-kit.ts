/** A home with a real database, and backups of it. */
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Logger, Migration } from '@svc/api';
import { type CreateBackup, createBackup, type CreatedBackup, fileDatabase } from '../../src/backup/create-backup.js';
import { systemClock } from '../../src/clock/clock.js';
import { systemIds } from '../../src/clock/ids.js';
import { openStorage, type Storage } from '../../src/storage/storage.js';

export const VERSION = '1.2.3';
export const owner = { id: 'acme', tables: ['numbers'] };
const silent: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const migrations: readonly Migration[] = [
  { name: '0001_init', up: (m) => m.createTable('numbers', { id: { kind: 'text', primaryKey: true }, writer: { kind: 'integer', notNull: true }, n: { kind: 'integer', notNull: true } }) },
];

/** With a `url`, its database is a server's. */
export const openHome = async (home: string, url?: string): Promise<Storage> => {
  await mkdir(join(home, 'data'), { recursive: true });
  const storage = await openStorage({ file: join(home, 'data/svc.db'), url, clock: systemClock(), log: silent, onEvents: () => undefined });
  await storage.migrate(owner, migrations);
  return storage;
};

export const newHome = async (url?: string): Promise<{ home: string; storage: Storage }> => {
  const home = await mkdtemp(join(tmpdir(), 'svc-backup-'));
  return { home, storage: await openHome(home, url) };
};

export const owners = [{ ...owner, migrations }];

export const put = async (home: string, path: string, text: string): Promise<void> => {
  await mkdir(dirname(join(home, path)), { recursive: true });
  await writeFile(join(home, path), text);
};

export const addNumber = (storage: Storage, writer: number, n: number): Promise<unknown> => {
  const db = storage.dbFor(owner);
  return db.commit([db.insert('numbers', [{ id: `${writer}-${n}`, writer, n }])]);
};

export const backUp = (home: string, { saveTo }: Pick<Storage, 'saveTo'>, more: Partial<CreateBackup> = {}): Promise<CreatedBackup> => {
  const database = fileDatabase(join(home, 'data/svc.db'), saveTo ?? (() => Promise.reject(new Error('this database is saved elsewhere'))));
  return createBackup({ home, version: VERSION, cause: 'manual', now: new Date().toISOString(), id: systemIds().hex(6), database, configText: async () => undefined, ...more });
};
