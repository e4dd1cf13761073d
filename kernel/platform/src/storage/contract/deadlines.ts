/** Ends work that takes too long, whoever does it: SQLite by an interrupt, PostgreSQL by a cancel request. */
import { performance } from 'node:perf_hooks';

/** An interrupt that arrives between two statements of one text is lost: it is repeated until the work is over. */
const AGAIN_EVERY_MS = 20;
/** What runs when the storage is closed has this long to end by itself. */
const CLOSING_MS = 5_000;

export interface Deadline {
  /** Undefined while the work is in its time. */
  readonly isOver: boolean;
  ms(): number;
}

/** Whoever begins one ends it. */
export interface OpenDeadline extends Deadline {
  end(): void;
}

export interface Deadlines {
  /** `interrupt` is called once `limitMs` are over, and again until the end. */
  begin(limitMs: number, interrupt: () => void): OpenDeadline;
  /** The same around some work, whose end is the result. */
  within<T>(limitMs: number, interrupt: () => void, work: (deadline: Deadline) => Promise<T>): Promise<T>;
  /** The daemon stops: nothing that runs now goes on for longer than this, nothing that begins later takes longer, and nothing gains time. */
  hurry(limitMs: number | undefined): void;
}

interface Running extends OpenDeadline {
  isOver: boolean;
  readonly interrupt: () => void;
  /** In the time of performance.now(). */
  readonly due: number;
  timer: NodeJS.Timeout | undefined;
}

const expire = (one: Running): void => {
  one.isOver = true;
  one.interrupt();
  one.timer = setTimeout(expire, AGAIN_EVERY_MS, one);
};

export const createDeadlines = (): Deadlines => {
  const running = new Set<Running>();
  let atMost = Number.POSITIVE_INFINITY;
  const begin = (limitMs: number, interrupt: () => void): OpenDeadline => {
    const begun = performance.now();
    const ms = Math.min(limitMs, atMost);
    const one: Running = {
      isOver: false,
      due: begun + ms,
      interrupt,
      timer: undefined,
      ms: () => performance.now() - begun,
      end: () => {
        clearTimeout(one.timer);
        running.delete(one);
      },
    };
    one.timer = setTimeout(expire, ms, one);
    running.add(one);
    return one;
  };
  return {
    begin,
    async within(limitMs, interrupt, work) {
      const deadline = begin(limitMs, interrupt);
      try {
        return await work(deadline);
      } finally {
        deadline.end();
      }
    },
    hurry(limitMs = CLOSING_MS) {
      atMost = Math.min(atMost, limitMs);
      for (const one of running) {
        if (one.isOver) continue;
        clearTimeout(one.timer);
        one.timer = setTimeout(expire, Math.min(atMost, Math.max(0, one.due - performance.now())), one);
      }
    },
  };
};
