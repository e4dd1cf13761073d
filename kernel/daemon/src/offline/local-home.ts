/** The home folder for the command line alone: no daemon runs in it meanwhile, and none starts. */
import { lockHome } from '@svc/platform/process/home-lock';

/** Rejects with `daemon_already_running`. */
export const whileLocked = async (home: string, work: () => Promise<void>): Promise<void> => {
  const lock = await lockHome(home);
  try {
    await work();
  } finally {
    await lock.release();
  }
};
