/** `svc storage status` and `reopen`: the database of this home as it is. To look at it is possible beside a daemon that runs. */
import { access } from 'node:fs/promises';
import { openRestore } from '@svc/platform/backup/restore-swap';
import { settleServer } from '@svc/platform/backup/server-database';
import { databaseFileOf, resolveHome } from '@svc/platform/config/home';
import { databaseUrlOf } from '@svc/platform/config/start-settings';
import { lockHome } from '@svc/platform/process/home-lock';
import { FORGET_MARK, markOf, type MoveEnd, type MoveMark, moveErrors, openEnd } from '@svc/platform/storage/move';
import type { LocalInstall } from './local-installer.js';
import { settingsOf } from './local-storage.js';

export interface StorageReport {
  readonly engine: 'sqlite' | 'postgres';
  readonly place: string;
  readonly version: string;
  /** Of the file with its free pages; of a server's database as a whole. */
  readonly bytes: number;
  readonly tables: ReadonlyArray<{ readonly name: string; readonly rows: number }>;
  /** By extension, `kernel` and `journal` among them. */
  readonly schemas: ReadonlyArray<{ readonly owner: string; readonly migrations: number; readonly newest: string }>;
  /** `left`: it was moved to `other` and opens no more. `arriving`: a move into it is not finished. `restoring`: a restore of the backup `other` is not confirmed. */
  readonly move: { readonly state: Exclude<MoveMark['state'], 'restored'>; readonly other: string; readonly at: string } | null;
}

/** Undefined where there is no database yet. */
export async function lookAtStorage({ env }: Pick<LocalInstall, 'env'>): Promise<StorageReport | undefined> {
  const end = await openOwn(env, 'read');
  if (end === undefined) return undefined;
  try {
    const tables = await Promise.all(
      (await end.tables()).filter((name) => name.includes('__')).map(async (name) => ({ name, rows: Number((await end.query(`SELECT count(*) AS n FROM "${name}"`))[0]?.n) })),
    );
    const mark = await markOf(end);
    return {
      engine: end.dialect,
      place: end.place,
      version: await end.version(),
      bytes: await end.bytes(),
      tables,
      schemas: [...(await end.applied())]
        .map(([book, done]) => ({ owner: ownerOf(book), migrations: done.size, newest: [...done.keys()].sort().at(-1) ?? '' }))
        .sort((a, b) => (a.owner < b.owner ? -1 : 1)),
      move: mark && mark.state !== 'restored' ? { state: mark.state, other: mark.other, at: mark.at } : null,
    };
  } finally {
    await end.close();
  }
}

export interface Reopening {
  readonly place: string;
  /** `left`: the data was moved away. `restoring`: a backup was restored into it, and the home that did it never confirmed that. */
  readonly state: 'left' | 'restoring';
  /** Where the data was moved to, or the backup. */
  readonly other: string;
}

export interface ReopenStorage extends Pick<LocalInstall, 'env'> {
  /** Of an unconfirmed restore: the data of the backup, and not that of before it. */
  readonly keepsRestored: boolean;
  agrees(reopening: Reopening): Promise<boolean>;
}

/** Lets a database be used again that was moved away, or whose restore was never confirmed because its home is lost. Rejects with `storage_move_no_mark`, and where a daemon uses it. */
export async function reopenStorage({ agrees, env, keepsRestored }: ReopenStorage): Promise<Reopening & { readonly isReopened: boolean }> {
  const home = resolveHome(env);
  const lock = await lockHome(home.home);
  const end = await openOwn(env, 'change').catch(async (error: unknown) => {
    await lock.release();
    throw error;
  });
  try {
    const mark = end && (await markOf(end));
    if (!end || (mark?.state !== 'left' && mark?.state !== 'restoring')) throw moveErrors.move_no_mark(end?.place ?? databaseFileOf(home.dataDir));
    const { other, state, token } = mark;
    if (keepsRestored && state === 'left') throw moveErrors.reopen_no_restore(end.place);
    if (state === 'restoring' && (await openRestore(home.home))?.serverToken === token) throw moveErrors.reopen_own_restore(end.place, other);
    const reopening = { place: end.place, state, other };
    const isReopened = await agrees(reopening);
    if (isReopened) await reopen(end, mark, keepsRestored);
    return { ...reopening, isReopened };
  } finally {
    await end?.close();
    await lock.release();
  }
}

const reopen = async (end: MoveEnd, { state, token }: MoveMark, keepsRestored: boolean): Promise<void> => {
  if (state === 'left') return end.change([FORGET_MARK, ...end.unfence()]);
  // The daemon that restores may be alive, and about to confirm.
  await end.hold();
  return settleServer(end, token, keepsRestored ? 'restored' : 'before');
};

const openOwn = async (env: LocalInstall['env'], use: 'read' | 'change'): Promise<MoveEnd | undefined> => {
  const home = resolveHome(env);
  const url = databaseUrlOf(await settingsOf(home, env));
  const file = databaseFileOf(home.dataDir);
  if (url !== undefined) return openEnd({ file, url, use });
  const isThere = await access(file).then(
    () => true,
    () => false,
  );
  return isThere ? openEnd({ file, url, use }) : undefined;
};

/** `agents_spawn__migrations` → `agents-spawn`. */
const ownerOf = (book: string): string => book.replace(/__migrations$/, '').replaceAll('_', '-');
