/** What a view shows of the daemon: loaded, loaded anew when it changes there, and kept on the screen while that happens. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { SvcError } from '@svc/client';
import { mustLogIn } from './caller.js';
import { type ChangeKind, useChanges } from './live.js';

export interface Loaded<T> {
  /** What came last; it stays while a newer one is asked for, and when that fails. */
  readonly data: T | undefined;
  readonly error: unknown;
  /** Nothing has come yet. */
  readonly isFirst: boolean;
  readonly reload: () => void;
}

/** Many changes at once are one reload; while one is under way the next waits for it, so that what never stops changing is shown all the same. */
const TOGETHER_MS = 150;

/**
 * `key` names what is loaded: another key forgets the data of the one before. `on` are the changes that make it load anew.
 */
export const useLoaded = <T>(key: string, load: (signal: AbortSignal) => Promise<T>, on: readonly ChangeKind[] = []): Loaded<T> => {
  const [state, setState] = useState<{ key: string; data?: T; error?: unknown }>({ key });
  const latest = useRef(load);
  latest.current = load;
  const running = useRef<AbortController>(undefined);
  const waiting = useRef<ReturnType<typeof setTimeout>>(undefined);

  const reload = useCallback((): void => {
    running.current?.abort();
    const own = new AbortController();
    running.current = own;
    latest
      .current(own.signal)
      .then(
        (data) => !own.signal.aborted && setState({ key, data }),
        (error: unknown) => {
          if (own.signal.aborted) return;
          if (error instanceof SvcError && error.status === 401) mustLogIn.value = true;
          setState((before) => (before.key === key ? { ...before, error } : { key, error }));
        },
      )
      .finally(() => {
        if (running.current === own) running.current = undefined;
      });
  }, [key]);

  useEffect(() => {
    reload();
    return () => {
      running.current?.abort();
      clearTimeout(waiting.current);
      waiting.current = undefined;
    };
  }, [reload]);
  const soon = (): void => {
    waiting.current ??= setTimeout(() => {
      waiting.current = undefined;
      if (running.current) soon();
      else reload();
    }, TOGETHER_MS);
  };
  useChanges(on, soon);

  const now: { data?: T; error?: unknown } = state.key === key ? state : {};
  return { data: now.data, error: now.error, isFirst: now.data === undefined && now.error === undefined, reload };
};
