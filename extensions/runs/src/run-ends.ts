/** Wakes other areas at the end of runs that they wait for. While none is waited for, a message costs nothing here. */
import type { Actors, Clock, Disposable, Journal, Logger } from '@svc/api';

export interface RunEnds {
  /** Calls `wake` once when the run ends. A run that ends while the daemon is off is found when its area looks next. */
  watch(runId: string, wake: () => Promise<unknown>): void;
}

const MAX_WATCHED = 10_000;

/** `listen` listens to the end of runs. `late`: what the log says where somebody could not be woken, and when they look by themselves. */
export const createRunEnds = (listen: (ended: (fact: { readonly runId: string }) => void) => Disposable, log: Logger, late: string): RunEnds => {
  const watched = new Map<string, () => Promise<unknown>>();
  let listener: Disposable | undefined;
  const wakeFor = ({ runId }: { readonly runId: string }): void => {
    const wake = watched.get(runId);
    if (!wake) return;
    watched.delete(runId);
    if (watched.size === 0) {
      listener?.dispose();
      listener = undefined;
    }
    wake().catch((cause: unknown) => log.warn(late, { run: runId, cause }));
  };
  return {
    watch: (runId, wake) => {
      if (watched.size >= MAX_WATCHED) return;
      watched.set(runId, wake);
      listener ??= listen(wakeFor);
    },
  };
};

const MAX_WOKEN = 1_000;

/** At a start: wakes the runs of a kind that wait, since what ended while the daemon was off woke nobody. */
export const wakeAsleep = async (journal: Pick<Journal, 'list' | 'wake'>, actors: Actors, kind: string, wakeKey: (id: string) => string): Promise<void> => {
  const asleep = await journal.list({ actor: actors.system(`${kind} that wait`), kind, status: ['waiting'], limit: MAX_WOKEN });
  for (const { id, ownerId } of asleep) await journal.wake(actors.of(ownerId), wakeKey(id), {});
};

/** Waits for `ended`, such as the last frame of a run, and so long at most. Rejects when the caller goes away. */
export const untilEnd = async (ended: (signal: AbortSignal) => Promise<unknown>, clock: Pick<Clock, 'sleep'>, limitMs: number, gone: AbortSignal): Promise<void> => {
  const over = new AbortController();
  const signal = AbortSignal.any([gone, over.signal]);
  await Promise.race([ended(signal), clock.sleep(limitMs, signal)]).finally(() => over.abort());
};

/** Another daemon may hold what is waited for: its change is then seen at the next look. */
const LOOK_MS = 2_000;

/** Waits for one of the events that `listen` listens to, or for a while; then look again. A message costs nothing here while nobody waits. Rejects when the caller goes away. */
export const untilChange = async (listen: (wake: () => void) => readonly Disposable[], clock: Pick<Clock, 'sleep'>, gone: AbortSignal): Promise<void> => {
  const over = new AbortController();
  let listeners: readonly Disposable[] = [];
  await new Promise<void>((resolve) => {
    const wake = (): void => resolve();
    listeners = listen(wake);
    clock.sleep(LOOK_MS, AbortSignal.any([gone, over.signal])).then(wake, wake);
  });
  over.abort();
  for (const listener of listeners) listener.dispose();
  gone.throwIfAborted();
};
