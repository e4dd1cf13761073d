/** What a view shows of the daemon: loaded, loaded anew when it changes there, and kept on the screen while that happens. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { SvcError } from '@svc/client';
import { onRefused } from './caller.js';
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

interface State<T> {
  readonly key: string;
  readonly data?: T;
  readonly error?: unknown;
}

/** A view that is not drawn by then does not come. */
const EARLY_MS = 10_000;
interface Early<T> {
  readonly coming: Promise<State<T>>;
  /** Once it came: what is there already is drawn at once. */
  state?: State<T>;
}
const early = new Map<string, Early<unknown>>();
const earlyOf = <T>(key: string): Early<T> | undefined => early.get(key) as Early<T> | undefined; // as loadEarly was called for that key

/**
 * Begins to load what useLoaded will want under that key, of the same type, once: before the page follows changes, which are
 * told from where its panels were listed. It is forgotten when it fails: then useLoaded asks for itself.
 */
export const loadEarly = async <T>(key: string, load: () => Promise<T>): Promise<T> => {
  const loading = load();
  const own: Early<T> = { coming: loading.then((data) => (own.state = { key, data })) };
  early.set(key, own);
  const forget = (): void => {
    if (early.get(key) === own) forgetEarly(key);
  };
  setTimeout(forget, EARLY_MS);
  own.coming.catch(forget);
  return loading;
};

/** Of no use to any view any more. */
export const forgetEarly = (key: string): void => void early.delete(key);

const takeEarly = <T>(key: string): Promise<State<T>> | undefined => {
  const begun = earlyOf<T>(key);
  forgetEarly(key);
  return begun?.coming;
};

/**
 * `key` names what is loaded: another key forgets the data of the one before. `on` are the changes that make it load anew.
 */
export const useLoaded = <T>(key: string, load: (signal: AbortSignal) => Promise<T>, on: readonly ChangeKind[] = []): Loaded<T> => {
  const [state, setState] = useState<State<T>>(() => earlyOf<T>(key)?.state ?? { key });
  const latest = useRef(load);
  latest.current = load;
  const running = useRef<AbortController>(undefined);
  const waiting = useRef<ReturnType<typeof setTimeout>>(undefined);

  const reload = useCallback((): void => {
    running.current?.abort();
    const own = new AbortController();
    const askForKey = onRefused();
    running.current = own;
    (takeEarly<T>(key) ?? latest.current(own.signal).then((data) => ({ key, data })))
      .then(
        (came) => !own.signal.aborted && setState(came),
        (error: unknown) => {
          if (own.signal.aborted) return;
          if (error instanceof SvcError && error.status === 401) askForKey();
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

  const now: Partial<State<T>> = state.key === key ? state : {};
  return { data: now.data, error: now.error, isFirst: now.data === undefined && now.error === undefined, reload };
};
