/** `files`: an extension's own data, cache and static files, and shared roots by grant. What is open is closed with the generation. */
import { join } from 'node:path';
import type { Assets, Dir, FileRoot, Files, ForeignDatabase } from '@svc/api';
import type { Lifetime } from '@svc/core';
import { openForeignDir } from '@svc/platform/adapters/files/foreign-dir';
import { contextErrors } from '../../errors.js';
import { countedDir } from '../../quotas/counted-dir.js';
import type { Meter } from '../../quotas/meter.js';
import type { Member } from '../../parts.js';
import { whileAlive } from '../while-alive.js';

/** Folders of areas, side by side in the home folder. */
const IN_HOME = ['skills', 'hands', 'plugins', 'registry', 'inbox', 'mcp'] as const satisfies readonly FileRoot[];

/** `assets` is the folder of its static files, where its build made one; `meter` counts what it writes to its own folders. */
export const filesMember = ({ parts, owner, grants, alive }: Member, assets: string | undefined, meter?: Meter): Files => {
  const { home, dataDir, workspacesDir } = parts.home;
  const roots = {
    workspaces: workspacesDir,
    uploads: join(dataDir, 'uploads'),
    templates: join(home, 'templates'),
    checkpoints: join(home, 'checkpoints'),
    ...Object.fromEntries(IN_HOME.map((name) => [name, join(home, name)])),
  } as Record<FileRoot, string>;
  const shown = (dir: Dir): Dir => whileAlive(ownedDir(dir, owner.id, owner.lifetime), alive);
  const open = (path: string): Dir => shown(parts.openDir(path));
  const own = (path: string): Dir => (meter ? shown(countedDir(parts.openDir(path), meter)) : open(path));
  return {
    // No id begins with a dot, so nobody's files lie there.
    assets: readOnly(open(assets ?? join(dataDir, 'ext', '.none'))),
    data: own(join(dataDir, 'ext', owner.id)),
    cache: own(join(dataDir, 'cache', owner.id)),
    root: (name) => {
      grants.need(`files:${name}`);
      return open(roots[name]);
    },
    foreign: async (path, allowed) => {
      alive();
      grants.need('files:migrate');
      const found = await openForeignDir(path, allowed, join(dataDir, 'cache', owner.id, 'copies'));
      return whileAlive({ ...found, database: async (file: string) => ownedDatabase(await found.database(file), file, owner.lifetime) }, alive);
    },
  };
};

/** A copy goes with the generation that made it. */
const ownedDatabase = (database: ForeignDatabase, file: string, lifetime: Lifetime): ForeignDatabase => {
  const owned = lifetime.add(`copy of ${file}`, () => database.close());
  return { ...database, close: () => Promise.resolve(owned.dispose()) };
};

const readOnly = ({ read, readStream, readText, stat }: Dir): Assets => Object.freeze({ read, readStream, readText, stat });

const ownedDir = (dir: Dir, id: string, lifetime: Lifetime): Dir => ({
  ...dir,
  readStream: (path, options) => ownedPieces(dir.readStream(path, options), `reading of ${path}`, id, lifetime),
  writeStream: (path, source, options) => dir.writeStream(path, untilStopped(source, id, lifetime.signal), options),
  dir: (path) => ownedDir(dir.dir(path), id, lifetime),
});

/** A reader that stopped in the middle holds a file open: its generation's end closes it. */
async function* ownedPieces(source: AsyncIterable<Uint8Array>, label: string, id: string, lifetime: Lifetime): AsyncGenerator<Uint8Array> {
  const pieces = source[Symbol.asyncIterator]();
  const owned = lifetime.add(label, async () => void (await pieces.return?.()));
  try {
    for (let next = await pieces.next(); !next.done; next = await pieces.next()) yield next.value;
    // Ended from outside: half a file is not a file.
    if (lifetime.signal.aborted) throw contextErrors.extension_stopped(id);
  } finally {
    await owned.dispose();
  }
}

/** A source that is waited for in vain must not keep the file half written when its generation is gone. */
async function* untilStopped(source: AsyncIterable<Uint8Array>, id: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const pieces = source[Symbol.asyncIterator]();
  for (;;) {
    const next = await nextUnlessStopped(pieces, id, signal);
    if (next.done) return;
    let isTaken = false;
    try {
      yield next.value;
      isTaken = true;
    } finally {
      if (!isTaken) await pieces.return?.();
    }
  }
}

const nextUnlessStopped = (pieces: AsyncIterator<Uint8Array>, id: string, signal: AbortSignal): Promise<IteratorResult<Uint8Array>> =>
  new Promise((resolve, reject) => {
    const onAbort = (): void => {
      reject(contextErrors.extension_stopped(id));
      // Its end may wait for a piece that never comes; nobody waits for it here.
      void pieces.return?.().catch(() => undefined);
    };
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    pieces
      .next()
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', onAbort));
  });
