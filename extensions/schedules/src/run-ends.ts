/** Tells of the end of runs that fires wait for. While none is waited for, a message costs nothing here. */
import type { Disposable, Events, Logger } from '@svc/api';
import { RunEnded } from '@svc/ext-runs/contract';

export interface RunEnds {
  /** Calls `wake` once when the run ends. A run that ends while the daemon is off is found when its fire looks next. */
  watch(runId: string, wake: () => Promise<unknown>): void;
}

const MAX_WATCHED = 10_000;

export const createRunEnds = (events: Pick<Events, 'on'>, log: Logger): RunEnds => {
  const watched = new Map<string, () => Promise<unknown>>();
  let listener: Disposable | undefined;
  const ended = (runId: string): void => {
    const wake = watched.get(runId);
    if (!wake) return;
    watched.delete(runId);
    if (watched.size === 0) {
      listener?.dispose();
      listener = undefined;
    }
    wake().catch((cause: unknown) => log.warn('A fire was not told of the end of its run; it looks again within a minute.', { run: runId, cause }));
  };
  return {
    watch: (runId, wake) => {
      if (watched.size >= MAX_WATCHED) return;
      watched.set(runId, wake);
      listener ??= events.on(RunEnded, (fact) => ended(fact.runId));
    },
  };
};
