/** The timers that the core sets, in the hands of a test: budgets of seconds pass when the test says so. Whoever else runs in the process has its own. */

interface HandTimer {
  readonly ms: number;
  readonly fn: () => void;
}

export interface HandTimers {
  /** What is being waited for, in milliseconds. */
  waits(): number[];
  /** Lets this much of every wait pass at once: what waits no longer than this is over. */
  pass(ms: number): void;
  restore(): void;
}

/** Whether the core called: in a stack, the line after the error and after who made it. */
const isOfTheCore = ({ stack = '' }: Error): boolean => /core[/\\](src|test)[/\\]/.test(stack.split('\n')[2] ?? '');

export const takeTimers = (): HandTimers => {
  const own = { setTimeout: globalThis.setTimeout, clearTimeout: globalThis.clearTimeout };
  const waiting = new Map<object, HandTimer>();
  // Only what the core uses: a callback and a delay, and a handle to clear it by.
  globalThis.setTimeout = ((fn: () => void, ms = 0) => {
    if (!isOfTheCore(new Error(''))) return own.setTimeout(fn, ms);
    const handle = { unref: () => handle };
    waiting.set(handle, { ms, fn });
    return handle;
  }) as unknown as typeof setTimeout;
  globalThis.clearTimeout = ((handle: object) => void (waiting.delete(handle) || own.clearTimeout(handle as NodeJS.Timeout))) as unknown as typeof clearTimeout;
  return {
    waits: () => [...waiting.values()].map(({ ms }) => ms),
    pass: (ms) => {
      for (const [handle, timer] of waiting) {
        if (timer.ms > ms) continue;
        waiting.delete(handle);
        timer.fn();
      }
    },
    restore: () => void Object.assign(globalThis, own),
  };
};
