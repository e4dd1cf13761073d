/** The end of a call that its caller set: by a signal, or after a time. */
import { type CallControl, type CallOptions, type ServiceDecl, SvcError } from '@svc/api';

/** For calls that nobody cancels: one for all of them. */
export const NEVER: CallControl = Object.freeze({ signal: new AbortController().signal });

export interface EndingCall extends CallControl {
  /** The answer, or the reason why the caller waits no longer. */
  race<T>(answer: Promise<T>): Promise<T>;
  /** The time was up before the end. */
  isLate(): boolean;
  end(): void;
}

export const deadlineOf = (options: CallOptions, decl: ServiceDecl, method: string): EndingCall => {
  const { deadlineMs, signal } = options;
  if (deadlineMs === undefined) return { signal: signal ?? NEVER.signal, race: (answer) => answer, isLate: () => false, end: () => undefined };
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(tooLate(decl, method, deadlineMs)), deadlineMs);
  const end = (): void => clearTimeout(timer);
  return {
    signal: signal ? AbortSignal.any([signal, late.signal]) : late.signal,
    race: (answer) =>
      new Promise((resolve, reject) => {
        const giveUp = (): void => reject(late.signal.reason);
        if (late.signal.aborted) giveUp();
        late.signal.addEventListener('abort', giveUp, { once: true });
        answer.finally(() => late.signal.removeEventListener('abort', giveUp)).then(resolve, reject);
      }),
    isLate: () => late.signal.aborted,
    end,
  };
};

const tooLate = (decl: ServiceDecl, method: string, ms: number): SvcError => new SvcError('service_deadline', `${decl.name}.${method} did not answer within ${ms} ms.`, { status: 504, retry: true });
