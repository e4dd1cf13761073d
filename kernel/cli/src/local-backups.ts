/** Backups of this home where the API is not asked. */
import path from 'node:path';
import { isSvcError } from '@svc/api';
import type { Cli } from './cli.js';
import { Failure } from './failure.js';

type Local = typeof import('@svc/daemon/offline/local-backups');

/** The database is loaded only here. */
const locally = async <T>(cli: Cli, work: (local: Local, backup: Parameters<Local['createLocally']>[0]) => Promise<T>): Promise<T> => {
  const local = await import('@svc/daemon/offline/local-backups');
  try {
    return await work(local, { env: cli.settings.env, releaseFile: path.join(cli.distDir, 'release.json') });
  } catch (error) {
    throw isSvcError(error) ? new Failure(error.message, { code: error.code, fix: error.hint }) : error;
  }
};

/** `file` is a path, or the name of a backup of this home. */
export const verifyHere = (cli: Cli, file: string): ReturnType<Local['verifyLocally']> => locally(cli, ({ verifyLocally }, home) => verifyLocally({ ...home, file }));

/** Fails where a daemon holds the home. */
export const restoreHere = (cli: Cli, file: string): ReturnType<Local['restoreLocally']> => locally(cli, ({ restoreLocally }, home) => restoreLocally({ ...home, file }));

/** Fails where a daemon holds the home; undefined where there is nothing yet. */
export const backUpHere = (cli: Cli): ReturnType<Local['createLocally']> => locally(cli, ({ createLocally }, home) => createLocally(home));
