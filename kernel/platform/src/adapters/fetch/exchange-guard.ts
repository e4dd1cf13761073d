/** The deadlines of one exchange: ends it and remembers why. No timer outlives `done()`. */
import type { SvcError } from '@svc/api';
import type { TimerClock } from '../../clock/clock.js';
import { fetchErrors } from '../errors.js';

export interface ExchangeGuard {
  /** For what is done before the exchange; most have nothing of the kind, so it is made when it is asked for. */
  readonly signal: AbortSignal;
  /** Told when this guard ends the exchange, also when it did before. One at a time: each redirect is an exchange of its own. */
  onEnd(stop: (why: SvcError) => void): void;
  /** A byte came. */
  touch(): void;
  /** What ended the exchange, if this guard did. */
  verdict(): SvcError | undefined;
  end(why: SvcError): void;
  done(): void;
}

export interface GuardLimits {
  host: string;
  timeoutMs: number | undefined;
  idleTimeoutMs: number | undefined;
  signal: AbortSignal | undefined;
}

export const createExchangeGuard = (clock: TimerClock, { host, timeoutMs, idleTimeoutMs, signal }: GuardLimits): ExchangeGuard => {
  let controller: AbortController | undefined;
  let stop: ((why: SvcError) => void) | undefined;
  const cancels: Array<() => void> = [];
  let verdict: SvcError | undefined;
  let isDone = false;
  let lastByteMs = clock.mono();
  let cancelIdle: (() => void) | undefined;
  const end = (why: SvcError): void => {
    if (isDone || verdict) return;
    verdict = why;
    controller?.abort(why);
    stop?.(why);
  };
  const watchIdle = (idleMs: number): void => {
    // One timer that looks at the last byte when it fires costs less than a new one per chunk.
    const leftMs = lastByteMs + idleMs - clock.mono();
    if (leftMs <= 0) end(fetchErrors.timeout(host, idleMs, 'a pause'));
    else cancelIdle = clock.schedule(leftMs, () => watchIdle(idleMs));
  };
  if (timeoutMs !== undefined) cancels.push(clock.schedule(timeoutMs, () => end(fetchErrors.timeout(host, timeoutMs, 'the whole exchange'))));
  if (idleTimeoutMs !== undefined) watchIdle(idleTimeoutMs);
  if (signal) {
    const onAbort = (): void => end(fetchErrors.cancelled(host).with({ cause: signal.reason }));
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    cancels.push(() => signal.removeEventListener('abort', onAbort));
  }
  return {
    get signal() {
      if (!controller) {
        controller = new AbortController();
        if (verdict) controller.abort(verdict);
      }
      return controller.signal;
    },
    onEnd: (reported) => {
      stop = reported;
      if (verdict) reported(verdict);
    },
    touch: () => {
      lastByteMs = clock.mono();
    },
    verdict: () => verdict,
    end,
    done: () => {
      if (isDone) return;
      isDone = true;
      cancelIdle?.();
      for (const cancel of cancels) cancel();
    },
  };
};
