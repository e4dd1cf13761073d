/** Ends work that takes too long, whoever does it: SQLite by an interrupt, PostgreSQL by a cancel request. */
import { performance } from 'node:perf_hooks';

/** An interrupt that arrives between two statements of one text is lost: it is repeated until the work is over. */
const AGAIN_EVERY_MS = 20;

export interface Deadline {
  /** Undefined while the work is in its time. */
  readonly isOver: boolean;
  ms(): number;
}

export interface Deadlines {
  /** `interrupt` is called once `limitMs` are over, and again until the work ends. The work's own end is the result. */
  within<T>(limitMs: number, interrupt: () => void, work: (deadline: Deadline) => Promise<T>): Promise<T>;
  /** The daemon stops: nothing that runs now or begins later takes longer than this. */
  hurry(limitMs: number): void;
}

interface Running extends Deadline {
  isOver: boolean;
  readonly begun: number;
  readonly interrupt: () => void;
  timer: NodeJS.Timeout | undefined;
}

export const createDeadlines = (): Deadlines => {
  const running = new Set<Running>();
  let atMost = Number.POSITIVE_INFINITY;
  const expire = (one: Running): void => {
    one.isOver = true;
    one.interrupt();
    one.timer = setTimeout(expire, AGAIN_EVERY_MS, one);
  };
  return {
    async within(limitMs, interrupt, work) {
      const begun = performance.now();
      const one: Running = { isOver: false, begun, interrupt, timer: undefined, ms: () => performance.now() - begun };
      one.timer = setTimeout(expire, Math.min(limitMs, atMost), one);
      running.add(one);
      try {
        return await work(one);
      } finally {
        clearTimeout(one.timer);
        running.delete(one);
      }
    },
    hurry(limitMs) {
      atMost = Math.min(atMost, limitMs);
      for (const one of running) {
        if (one.isOver) continue;
        clearTimeout(one.timer);
        one.timer = setTimeout(expire, atMost, one);
      }
    },
  };
};
