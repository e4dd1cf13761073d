/** Tells of the end of runs that steps wait for. While none is waited for, a message costs nothing here. */
import type { Disposable, Events, Logger } from '@svc/api';
import { RunEnded } from '@svc/ext-runs/contract';

export interface RunEnds {
  /** Calls `wake` once when the run ends. A run that ends while the daemon is off is found when its workflow looks next. */
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
    wake().catch((cause: unknown) => log.warn('A workflow was not told of the end of a step; it looks again within half a minute.', { run: runId, cause }));
  };
  return {
    watch: (runId, wake) => {
      if (watched.size >= MAX_WATCHED) return;
      watched.set(runId, wake);
      listener ??= events.on(RunEnded, (fact) => ended(fact.runId));
    },
  };
};
