/** Who wants to know that work may be claimable. Many signals of one turn are one call. */
import type { Disposable, Logger } from '@svc/api';

export interface ReadySignals {
  on(kind: string, fn: () => void): Disposable;
  fire(kind: string): void;
  /** Tells everybody: after a start, or when what others did cannot be known. */
  fireAll(): void;
  close(): void;
}

export const createReadySignals = (log: Logger): ReadySignals => {
  const listeners = new Map<string, Set<() => void>>();
  const due = new Set<string>();
  const flush = (): void => {
    const kinds = [...due];
    due.clear();
    for (const kind of kinds) for (const fn of listeners.get(kind) ?? []) call(log, kind, fn);
  };
  const fire = (kind: string): void => {
    if (!listeners.has(kind)) return;
    if (due.size === 0) queueMicrotask(flush);
    due.add(kind);
  };
  return {
    on(kind, fn) {
      const own = listeners.get(kind) ?? new Set();
      listeners.set(kind, own.add(fn));
      // What was left by an earlier process or generation waits for somebody.
      fire(kind);
      return {
        dispose() {
          own.delete(fn);
          if (own.size === 0 && listeners.get(kind) === own) listeners.delete(kind);
        },
      };
    },
    fire,
    fireAll: () => [...listeners.keys()].forEach(fire),
    close: () => listeners.clear(),
  };
};

const call = (log: Logger, kind: string, fn: () => void): void => {
  try {
    fn();
  } catch (error) {
    log.error('A listener for claimable work failed.', { kind, error });
  }
};
