/** Rows of an area, read from the database of this home where no daemon runs. */
import { isSvcError, type Reader } from '@svc/api';
import type { Cli } from './cli.js';
import { Failure } from './failure.js';
import { placeOf } from './local-change.js';

/** Rejects with `error`, why the daemon could not be asked, where it runs or is another machine's. */
export const readLocalRows = async <T>(cli: Cli, error: unknown, owner: string, tables: readonly string[], work: (rows: Pick<Reader, 'select'>) => Promise<T>): Promise<T> => {
  if ((await placeOf(cli, error)) !== 'stopped') throw error;
  // The database is loaded only here.
  const { readRowsLocally } = await import('@svc/daemon/offline/local-rows');
  return readRowsLocally({ env: cli.settings.env, owner, tables }, work).catch((failure: unknown) => {
    throw isSvcError(failure) ? new Failure(failure.message, { code: failure.code, fix: failure.hint }) : failure;
  });
};
