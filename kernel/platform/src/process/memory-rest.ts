/**
 * Memory after a busy time. V8 collects garbage while something is allocated: a daemon that has nothing to do any more
 * would keep all that its busiest minute took. So when it has come to rest it collects once more, as thoroughly as V8
 * can, and again when what is kept for a while (conversations, ended streams) has been let go.
 */
import { getHeapStatistics } from 'node:v8';
import type { Logger } from '@svc/api';

const POLL_EVERY_MS = 5_000;
/** A share of one processor: timers and probes stay below it. */
const RESTING_SHARE = 0.03;
/** Looks at rest after which garbage is collected: while this is done nothing else is, for a tenth of a second or two. */
const FIRST = 3;
const AGAIN = 9;
/** Less growth than this is not worth it. */
const GROWN = 1.25;

/** What is asked of the process, and done to it. */
export interface MemoryRestDeps {
  readonly log: Pick<Logger, 'debug' | 'warn'>;
  /** CPU time so far, in milliseconds. */
  cpuMs(): number;
  /** Bytes that V8 holds. */
  heapBytes(): number;
  collect(): Promise<void>;
}

/** One look at a time, every five seconds. */
export const createMemoryRest = ({ log, cpuMs, heapBytes, collect }: MemoryRestDeps): { look(): Promise<void> } => {
  let cpuBefore = cpuMs();
  // A start is a busy time, and whatever it took is growth.
  let kept = 0;
  let rested = 0;
  let wasBusy = true;
  const isDue = (): boolean => {
    if (rested === AGAIN) return wasBusy;
    if (!wasBusy || rested !== FIRST) return false;
    // What has not grown is worth neither of the two.
    wasBusy = heapBytes() >= kept * GROWN;
    return wasBusy;
  };
  return {
    look: async () => {
      const cpuNow = cpuMs();
      const isResting = cpuNow - cpuBefore < POLL_EVERY_MS * RESTING_SHARE;
      cpuBefore = cpuNow;
      rested = isResting ? rested + 1 : 0;
      wasBusy ||= !isResting;
      if (!isDue()) return;
      if (rested === AGAIN) wasBusy = false;
      const before = heapBytes();
      await collect().catch((cause: unknown) => log.warn('memory could not be released; it is collected later', { cause }));
      kept = heapBytes();
      cpuBefore = cpuMs();
      log.debug('memory was released after a busy time', { before, after: kept });
    },
  };
};

export const watchMemory = (log: Pick<Logger, 'debug' | 'warn'>): void => {
  const cpuMs = (): number => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  };
  const rest = createMemoryRest({ log, cpuMs, heapBytes: () => getHeapStatistics().total_heap_size, collect: collectGarbage });
  setInterval(() => void rest.look(), POLL_EVERY_MS).unref();
};

/** The one way to ask V8 for it that needs no flag. */
const collectGarbage = async (): Promise<void> => {
  const { Session } = await import('node:inspector/promises');
  const session = new Session();
  session.connect();
  try {
    await session.post('HeapProfiler.collectGarbage');
  } finally {
    session.disconnect();
  }
};
