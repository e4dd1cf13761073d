/**
 * Who reads on next. However many sockets have frames waiting, only a few of them are served before the event loop gets
 * its turn: an answer to somebody else waits for those few, and not for all.
 */

const SOCKETS_IN_A_TURN = 4;

export interface FrameTurns {
  /** Nobody waits: whoever has something may read it at once. */
  isIdle(): boolean;
  /** Calls `work` once, behind those that wait already. */
  wait(work: () => void): void;
}

export const createFrameTurns = (): FrameTurns => {
  let waiting: Array<() => void> = [];
  let isScheduled = false;
  const schedule = (): void => {
    if (isScheduled || waiting.length === 0) return;
    isScheduled = true;
    setImmediate(run);
  };
  const run = (): void => {
    isScheduled = false;
    const now = waiting.slice(0, SOCKETS_IN_A_TURN);
    waiting = waiting.slice(SOCKETS_IN_A_TURN);
    for (const work of now) work();
    schedule();
  };
  return {
    isIdle: () => waiting.length === 0,
    wait: (work) => {
      waiting.push(work);
      schedule();
    },
  };
};
