/** Time limits, and the waits between two attempts. */

/** What ends a request: its caller's signal, or its time. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** Whether its time has run out. */
  isOver(): boolean;
  /** Begins its time anew: something came. */
  renew(): void;
  end(): void;
}

/** Without `AbortSignal.any`, whose listeners on a signal that lives long are never taken back in Node 20. */
export const deadline = (timeoutMs: number, caller?: AbortSignal): Deadline => {
  const abort = new AbortController();
  let isOver = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const onCaller = (): void => abort.abort(caller?.reason);
  const start = (): void => {
    clearTimeout(timer);
    if (!Number.isFinite(timeoutMs)) return;
    timer = setTimeout(() => {
      isOver = true;
      abort.abort();
    }, timeoutMs);
  };
  if (caller?.aborted) onCaller();
  else caller?.addEventListener('abort', onCaller, { once: true });
  start();
  return {
    signal: abort.signal,
    isOver: () => isOver,
    renew: start,
    end: () => {
      clearTimeout(timer);
      caller?.removeEventListener('abort', onCaller);
    },
  };
};

/** Resolves after the time, or as soon as the signal says so. */
export const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done, { once: true });
  });

/** Doubles with each attempt up to `longestMs`; a half of it is chance, so that many clients do not come back at once. */
export const backOff = (attempt: number, firstMs: number, longestMs: number): number => {
  const whole = Math.min(longestMs, firstMs * 2 ** Math.min(attempt, 16));
  return whole / 2 + (Math.random() * whole) / 2;
};
