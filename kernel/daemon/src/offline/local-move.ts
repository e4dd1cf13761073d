/**
 * `svc storage`: what the database of this home is, and how its data gets into another one. No daemon runs meanwhile: the
 * home is locked, and a server is asked whether daemons of other homes use it.
 */
import { access, mkdir, rename, rm } from 'node:fs/promises';
import * as api from '@svc/api';
import { systemClock } from '@svc/platform/clock/clock';
import { systemIds } from '@svc/platform/clock/ids';
import { databaseFileOf, type Home, identityFileOf, resolveHome } from '@svc/platform/config/home';
import { databaseUrlOf } from '@svc/platform/config/start-settings';
import { lockHome } from '@svc/platform/process/home-lock';
import { identityProblemOf, noteIdentity, markOf, type MovedOwner, type MoveEnd, moveErrors, type MoveProgress, moveStorage, openEnd, previewMove } from '@svc/platform/storage/move';
import { addressOf } from '@svc/platform/storage/postgres/postgres-url';
import { ownersInHome } from '../backup/table-owners.js';
import { readRelease } from '../release.js';
import { storeFact } from './local-audit.js';
import type { LocalInstall } from './local-installer.js';
import { settingsOf } from './local-storage.js';

export interface LocalMove extends Pick<LocalInstall, 'env' | 'releaseFile'> {
  /** `postgres://…`, or `sqlite` for the file in the data folder. */
  readonly to: string;
  readonly without: readonly string[];
  readonly replacesNul: boolean;
  readonly isDryRun: boolean;
  onProgress(progress: MoveProgress): void;
}

export interface MoveReport {
  readonly from: string;
  readonly to: string;
  /** For `[storage] url`; undefined for the file in the data folder. */
  readonly url: string | undefined;
  readonly tables: ReadonlyArray<{ readonly name: string; readonly rows: number; readonly sum?: string }>;
  readonly isResumed: boolean;
  /** Where the older data of the target file is now. */
  readonly setAside: string | undefined;
}

/** Rejects with `daemon_already_running` and the errors of a move (platform/storage/move/errors.ts). */
export async function moveLocally(move: LocalMove): Promise<MoveReport> {
  const home = resolveHome(move.env);
  const url = targetUrl(move.to);
  const lock = await lockHome(home.home);
  try {
    const release = await readRelease(move.releaseFile, api);
    const config = await settingsOf(home, move.env, release);
    const from = databaseUrlOf(config);
    if (placeOf(home, from) === placeOf(home, url)) throw moveErrors.move_same(placeOf(home, url));
    const file = databaseFileOf(home.dataDir);
    if (from === undefined) await access(file).catch(() => Promise.reject(moveErrors.move_no_source(file)));
    const source = await openEnd({ file, url: from, use: move.isDryRun ? 'read' : 'change' });
    try {
      await refuseSuspect(home, source);
      const owners = await ownersInHome(home, release, config);
      if (move.isDryRun) return await preview(move, home, { source, url, owners });
      const report = await carryOut(move, home, { source, url, owners });
      // Of the new database, where a daemon enters it in the trail. The data has moved even if it cannot be stored.
      const moved = { type: 'database_moved', command: 'svc storage migrate' };
      if (report.tables.length > 0) await storeFact({ home, release, settings: config }, url, moved, { outcome: 'ok', details: { from: report.from, to: report.to } }).catch(() => undefined);
      return report;
    } finally {
      await source.close();
    }
  } finally {
    await lock.release();
  }
}

interface Carried {
  readonly source: MoveEnd;
  readonly url: string | undefined;
  readonly owners: readonly MovedOwner[];
}

/** A server is asked whether it can be used; a file that is not there yet is not made. */
const preview = async ({ without }: LocalMove, home: Home, { owners, source, url }: Carried): Promise<MoveReport> => {
  const target = url === undefined ? undefined : await openEnd({ file: databaseFileOf(home.dataDir), url, use: 'read' });
  try {
    const tables = await previewMove({ owners, source, target, without });
    return { from: source.place, to: placeOf(home, url), url, isResumed: false, setAside: undefined, tables };
  } finally {
    await target?.close();
  }
};

const carryOut = async (move: LocalMove, home: Home, { owners, source, url }: Carried): Promise<MoveReport> => {
  const file = databaseFileOf(home.dataDir);
  await mkdir(home.dataDir, { recursive: true, mode: 0o700 });
  let target = await openEnd({ file, url, use: 'make' });
  let setAside: string | undefined;
  try {
    const { identity, isResumed, tables } = await moveStorage({
      source,
      target,
      owners,
      without: move.without,
      replacesNul: move.replacesNul,
      clock: systemClock(),
      ids: systemIds(),
      onProgress: move.onProgress,
      emptied: async (full, holds) => {
        if (full.dialect === 'postgres') {
          if (holds === 'the data of before') throw moveErrors.move_target_used(full.place, 'the data from before the move to the database that is used now');
          await full.change([`DROP TABLE IF EXISTS ${(await full.tables()).join(', ')} CASCADE`]);
          return full;
        }
        await full.close();
        if (holds === 'the data of before') setAside = await putAside(file);
        else for (const end of FILES) await rm(`${file}${end}`, { force: true });
        target = await openEnd({ file, url, use: 'make' });
        return target;
      },
    });
    if (identity) await noteIdentity(identityFileOf(file), identity);
    return { from: source.place, to: target.place, url, tables, isResumed, setAside };
  } finally {
    await target.close();
  }
};

/** What a SQLite database may consist of. */
const FILES = ['', '-wal', '-shm'];

const putAside = async (file: string): Promise<string> => {
  const aside = `${file}.moved-${systemClock().iso().replaceAll(':', '')}`;
  for (const end of FILES) {
    const isThere = await access(`${file}${end}`).then(
      () => true,
      () => false,
    );
    if (isThere) await rename(`${file}${end}`, `${aside}${end}`);
  }
  return aside;
};

const targetUrl = (text: string): string | undefined => {
  if (text === 'sqlite') return undefined;
  if (!/^postgres(?:ql)?:\/\//.test(text)) throw moveErrors.move_bad_target(text.replace(/\/\/[^@]*@/, '//…@'));
  return addressOf(text).url;
};

const placeOf = (home: Home, url: string | undefined): string => (url === undefined ? databaseFileOf(home.dataDir) : addressOf(url).place);

/** A database that was put back from an older copy is not moved on unseen. One that was left is older than what it was moved to. */
const refuseSuspect = async (home: Home, source: MoveEnd): Promise<void> => {
  if ((await markOf(source))?.state === 'left') return;
  const problem = await identityProblemOf(identityFileOf(databaseFileOf(home.dataDir)), source.place, source.query);
  if (problem !== undefined) throw moveErrors.move_source_suspect(problem);
};
