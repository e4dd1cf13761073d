/** Backups under load: each must be a prefix of what was acknowledged. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { stageBackup } from '../../src/backup/staged-backup.js';
import { serverDatabase } from '../../src/backup/server-database.js';
import { addNumber, backUp, newHome, openHome, owner, owners, put, VERSION } from './backup-kit.js';

const WRITERS = 8;
/** From here on they write slowly: each backup would take longer than the one before, and more be written while it is made. */
const MANY_ROWS = 20_000;
const SLOW_MS = 20;

/** `count` backups while eight writers commit, at first as fast as they can. Resolves with the rows that were written. */
export const backUpUnderLoad = async (count: number, url?: string): Promise<number> => {
  const { home, storage } = await newHome(url);
  const server = url === undefined ? {} : { database: serverDatabase({ url, owners: async () => owners }) };
  const begun = Array.from({ length: WRITERS }, () => 0);
  const acknowledged = Array.from({ length: WRITERS }, () => 0);
  let isOver = false;
  let isBackup = false;
  const rows = (): number => acknowledged.reduce((sum, one) => sum + one, 0);
  await put(home, 'workspaces/a/notes.txt', 'buy milk');
  const writing = Promise.all(
    begun.map(async (_, writer) => {
      while (!isOver) {
        // Nobody writes while a backup is looked at.
        if (!isBackup || rows() > MANY_ROWS) await sleep(SLOW_MS);
        if (!isBackup) continue;
        begun[writer] = (begun[writer] ?? 0) + 1;
        await addNumber(storage, writer, begun[writer] ?? 0);
        acknowledged[writer] = begun[writer] ?? 0;
      }
    }),
  );
  try {
    for (let round = 1; round <= count; round += 1) {
      isBackup = true;
      // A small backup is made before a writer that rests has woken.
      for (const standing = rows(); rows() === standing; ) await sleep(1);
      const before = [...acknowledged];
      const { path } = await backUp(home, storage, server);
      const after = [...begun];
      isBackup = false;
      const folder = join(home, 'backups/.staged');
      await stageBackup({ archive: path, folder, version: VERSION });
      await rm(path);
      await assertPrefix(folder, before, after, `backup ${round}`);
      await rm(folder, { recursive: true });
    }
  } finally {
    isOver = true;
    await writing;
    await storage.close();
    await rm(home, { recursive: true, force: true });
  }
  return rows();
};

/** Of each writer: 1 to some n without a gap, at least what was acknowledged when the backup began, at most what was begun when it ended. */
const assertPrefix = async (home: string, before: readonly number[], after: readonly number[], label: string): Promise<void> => {
  const restored = await openHome(home);
  try {
    const rows = await restored
      .dbFor({ ...owner, isPlatform: true })
      .system('a test')
      .read<{ writer: number; rows: number; newest: number }>('SELECT writer, count(*) AS rows, max(n) AS newest FROM acme__numbers GROUP BY writer', []);
    for (const [writer, least] of before.entries()) {
      const found = rows.find((one) => one.writer === writer) ?? { rows: 0, newest: 0 };
      expect(found.rows, `${label}: gaps of writer ${writer}`).to.equal(found.newest ?? 0);
      expect(found.rows, `${label}: writer ${writer}`).to.be.within(least, after[writer] ?? 0);
    }
  } finally {
    await restored.close();
  }
};
