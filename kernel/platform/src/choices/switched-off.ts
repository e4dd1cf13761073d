/**
 * What is noted of extensions in files, for when neither the API nor the database answers.
 *
 * O1  `data/switched-off/<id>`: somebody switched it off. It counts from then on, for the daemon that runs and for each
 *     start, before anything is asked of the database; it goes when the database has the choice.
 * O2  `data/switching-on/<id>`: it is being switched on. A start that finds it leaves the extension off and says so.
 *
 * Read and written at once: the threads that files are otherwise read by may all be waiting for what hangs.
 */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface IdNotes {
  all(): ReadonlySet<string>;
  has(id: string): boolean;
  put(id: string): void;
  drop(id: string): void;
}

const ID = /^[a-z][a-z0-9-]{0,99}$/;

const openNotes = (folder: string): IdNotes => {
  const all = (): ReadonlySet<string> => {
    try {
      return new Set(readdirSync(folder).filter((name) => ID.test(name)));
    } catch {
      return new Set(); // no folder: nothing was noted
    }
  };
  return {
    all,
    has: (id) => all().has(id),
    put: (id) => {
      if (!ID.test(id)) return;
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      writeFileSync(join(folder, id), '', { mode: 0o600 });
    },
    drop: (id) => {
      if (ID.test(id)) rmSync(join(folder, id), { force: true });
    },
  };
};

export const switchedOffIn = (dataDir: string): IdNotes => openNotes(join(dataDir, 'switched-off'));
export const switchingOnIn = (dataDir: string): IdNotes => openNotes(join(dataDir, 'switching-on'));
