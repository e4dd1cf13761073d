/**
 * Restores in the process of the daemon: stops it, puts the backup in place, starts it again.
 *
 * D1  Nobody writes while the data is replaced: the daemon is stopped, and its home is locked.
 * D2  What was there is in a backup of its own before it is replaced.
 * D3  If the restored data does not start, the data of before is back, and starts. A process that dies meanwhile leaves this to the next start (restore-swap.ts, X2).
 */
import { createServer, type Server } from 'node:http';
import { isSvcError } from '@svc/api';
import { backupErrors } from '@svc/platform/backup/errors';
import { reportRestore, type RestorePlan, swapIn } from '@svc/platform/backup/restore-swap';
import { restoreIntoServer } from '@svc/platform/backup/server-database';
import { databaseFileOf, resolveHome } from '@svc/platform/config/home';
import { type HomeLock, lockHome } from '@svc/platform/process/home-lock';
import { type BackupHome, type BackupServer, backUpHome, dropStaged } from './home-backup.js';
import { revertRestore } from './reverting.js';

export interface Restoring<D> {
  readonly home: BackupHome;
  readonly plan: RestorePlan;
  /** Where the daemon listened. */
  readonly host: string;
  readonly port: number;
  stop(): Promise<void>;
  /** `isRestored`: the start confirms the restore (boot.ts). Rejects when it does not come up; then nothing of it runs. */
  boot(isRestored: boolean): Promise<D>;
  failed(error: unknown): void;
}

/** Resolves with the daemon that runs afterwards, with the data of the backup or that of before. Rejects when neither starts. */
export const restoreDaemon = async <D>(restoring: Restoring<D>): Promise<D> => {
  await restoring.stop();
  const answering = await answerMeanwhile(restoring.host, restoring.port);
  const isSwapped = await replaceData(restoring).finally(() => closed(answering));
  if (!isSwapped) return restoring.boot(false);
  try {
    return await restoring.boot(true);
  } catch (error) {
    restoring.failed(error);
    await goBack(restoring.home, error);
    return restoring.boot(false);
  }
};

/** For a home whose daemon is stopped: the next start confirms the restore, or goes back. Rejects, with nothing changed, where it cannot be done. */
export const replaceStopped = async (home: BackupHome, plan: RestorePlan): Promise<{ safety: string | null }> => {
  const lock = await lockHome(home.home.home);
  return swapUnder(lock, home, plan);
};

const replaceData = async ({ failed, home, plan }: Pick<Restoring<unknown>, 'failed' | 'home' | 'plan'>): Promise<boolean> => {
  try {
    await replaceStopped(home, plan);
    return true;
  } catch (error) {
    failed(error);
    return false;
  }
};

const swapUnder = async (lock: HomeLock, home: BackupHome, plan: RestorePlan): Promise<{ safety: string | null }> => {
  try {
    if (home.server) return await swapOnServer(home, home.server, plan);
    const { filename: safety } = await backUpHome(home, { cause: 'safety' });
    await swapIn(home.home.home, { ...plan, safety });
    return { safety };
  } catch (error) {
    const [now, reason] = [home.clock.iso(), reasonOf(error)];
    if (!(await revertRestore(home.home, now, reason, async () => home.server?.url))) await reportRestore(home.home.home, plan, { status: 'reverted', at: now, reason });
    await dropStaged(home.home);
    throw error;
  } finally {
    await lock.release();
  }
};

/** The tables last: a home whose files were replaced and whose tables were not goes back by its files alone. */
const swapOnServer = async (home: BackupHome, { owners, url }: BackupServer, plan: RestorePlan): Promise<{ safety: string | null }> => {
  let safety: string | null = null;
  const { filename, staged } = plan;
  const [token, restored] = [home.ids.uuid(), resolveHome({ SVC_HOME: staged })];
  await restoreIntoServer({
    ...{ url, token, filename, at: home.clock.iso(), file: databaseFileOf(restored.dataDir) },
    owners: { present: await owners(home.home), restored: await owners(restored) },
    prepare: async (isEmpty) => {
      if (!isEmpty) safety = (await backUpHome(home, { cause: 'safety' })).filename;
    },
    replace: async (swapTables) => {
      await swapIn(home.home.home, { ...plan, safety, serverToken: token });
      await swapTables();
    },
  });
  return { safety };
};

export const goBack = async ({ clock, home, server }: BackupHome, error: unknown): Promise<void> => {
  const lock = await lockHome(home.home);
  try {
    await revertRestore(home, clock.iso(), reasonOf(error), async () => server?.url);
  } finally {
    await lock.release();
  }
};

export const reasonOf = (error: unknown): string => (isSvcError(error) || error instanceof Error ? error.message : String(error));

/** Undefined where the port cannot be opened again: then nothing answers until the daemon is back. */
const answerMeanwhile = async (host: string, port: number): Promise<Server | undefined> => {
  const { message, hint, code } = backupErrors.restoring();
  const body = JSON.stringify({ error: message, code, hint });
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(503, { 'content-type': 'application/json; charset=utf-8', 'retry-after': '2', connection: 'close' }).end(body);
  });
  return new Promise((resolve) => {
    server.once('error', () => resolve(undefined));
    server.listen(port, host, () => resolve(server));
  });
};

const closed = async (server: Server | undefined): Promise<void> => {
  if (!server) return;
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
};
