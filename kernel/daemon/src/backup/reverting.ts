/** Going back from a restore, of the files and of a server: the server first, because it says whether there is a way back. */
import { backupErrors } from '@svc/platform/backup/errors';
import { confirmSwap, openRestore, revertOpenSwap } from '@svc/platform/backup/restore-swap';
import { revertServer } from '@svc/platform/backup/server-database';
import type { Home } from '@svc/platform/config/home';

/** False where no restore is open, or the server says that it was confirmed: then its files are, too. The home is locked. */
export const revertRestore = async ({ home }: Home, at: string, reason: string, urlOf: () => Promise<string | undefined>): Promise<boolean> => {
  const plan = await openRestore(home);
  if (plan?.serverToken === undefined) return revertOpenSwap(home, at, reason);
  const url = await urlOf();
  if (url === undefined) throw backupErrors.server_unknown(plan.filename);
  if ((await revertServer(url, plan.serverToken)) === 'before') return revertOpenSwap(home, at, reason);
  await confirmSwap(home, at);
  return false;
};
