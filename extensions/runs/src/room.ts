/**
 * Room for runs of this daemon ([runs] max_active).
 *
 * M1  What is being accepted counts like what is driven, from before the first look at the database until it is driven: of a
 *     hundred that come at once, none is too many.
 * M2  A conversation drives one run at a time: those that join it while it is counted need no room.
 * M3  What no person began needs room of its own kind as well ([queue.concurrency]): people's messages do not wait for it.
 */
import type { DurableWorker } from '@svc/api';

export interface Room {
  /** Undefined where there is none. Call the answer when the run is driven, queued or refused. */
  enter(lane: string, pool?: string): (() => void) | undefined;
}

const NO_POOL = (): void => undefined;

export const createRoom = (worker: Pick<DurableWorker, 'active' | 'reserve'>, limit: () => number): Room => {
  const entering = new Map<string, number>();
  return {
    enter: (lane, pool) => {
      const count = entering.get(lane) ?? 0;
      if (count === 0 && worker.active.size + entering.size >= limit()) return undefined;
      const place = pool === undefined ? NO_POOL : worker.reserve(pool);
      if (!place) return undefined;
      entering.set(lane, count + 1);
      return () => {
        place();
        const left = (entering.get(lane) ?? 1) - 1;
        if (left === 0) entering.delete(lane);
        else entering.set(lane, left);
      };
    },
  };
};
