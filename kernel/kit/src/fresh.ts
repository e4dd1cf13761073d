/** Loads anew what is shown: soon after a change, at intervals while somebody looks, and seldom enough however much changes. */
import { useEffect, useRef } from 'preact/hooks';
import { type ChangeKind, useChanges } from './live.js';

const SOON_MS = 400;
const AT_MOST_EACH_MS = 3_000;
/** Figures of money and tokens change without an event. */
const EACH_MS = 20_000;

/** For what is asked often or costs the daemon much; `useLoaded` alone follows each change at once. */
export const useFresh = (reload: () => void, kinds: readonly ChangeKind[]): void => {
  const latest = useRef(reload);
  latest.current = reload;
  const waiting = useRef<ReturnType<typeof setTimeout>>(undefined);
  const last = useRef(performance.now());
  const soon = (): void => {
    waiting.current ??= setTimeout(
      () => {
        waiting.current = undefined;
        last.current = performance.now();
        latest.current();
      },
      Math.max(SOON_MS, last.current + AT_MOST_EACH_MS - performance.now()),
    );
  };
  useChanges(kinds, soon);
  useEffect(() => {
    const unlessHidden = (): void => {
      if (document.visibilityState === 'visible') soon();
    };
    const timer = setInterval(unlessHidden, EACH_MS);
    document.addEventListener('visibilitychange', unlessHidden);
    return () => {
      clearInterval(timer);
      clearTimeout(waiting.current);
      waiting.current = undefined;
      document.removeEventListener('visibilitychange', unlessHidden);
    };
  }, []);
};
