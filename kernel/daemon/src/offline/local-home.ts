/** The home folder for the command line alone: no daemon runs in it meanwhile, and none starts. */
import { lockHome } from '@svc/platform/process/home-lock';

/** Rejects with `daemon_already_running`. */
export const whileLocked = async <T>(home: string, work: () => Promise<T>): Promise<T> => {
  const lock = await lockHome(home);
  return work().finally(() => lock.release());
};
