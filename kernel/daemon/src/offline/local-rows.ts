/** Reads the rows of an area while no daemon runs. Whoever can do that is the user of the machine whose home it is. */
import type { Reader } from '@svc/api';
import { resolveHome } from '@svc/platform/config/home';
import { databaseUrlOf } from '@svc/platform/config/start-settings';
import { settingsOf, withStorage } from './local-storage.js';

export interface LocalRows {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whose tables, and their short names. */
  readonly owner: string;
  readonly tables: readonly string[];
}

export const readRowsLocally = async <T>({ env, owner, tables }: LocalRows, work: (rows: Pick<Reader, 'select'>) => Promise<T>): Promise<T> => {
  const home = resolveHome(env);
  return withStorage(home, databaseUrlOf(await settingsOf(home, env)), (storage) => work(storage.dbFor({ id: owner, tables }).system('a command without the daemon')));
};
