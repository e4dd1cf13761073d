/** Events: facts after commit. What only wants to know listens here and taps no hook. */
import type { Disposable } from './disposable.js';
import type { Write } from './storage.js';

/** Filled by contracts: `declare module '@svc/api' { interface EventMap { 'memory.added': { id: string } } }`. */
export interface EventMap {
  'extension.changed': { readonly id: string; readonly state: string };
  'config.changed': { readonly sections: readonly string[] };
  /** Keys, people or roles have changed: whoever stays connected is judged again. Said by whoever taps `http.authenticate`. */
  'auth.changed': Readonly<Record<string, never>>;
  /** To a durable listener that fell so far behind that events were removed: these it never gets. */
  'events.gap': { readonly after: number; readonly before: number };
}
export type EventName = keyof EventMap & string;

export interface Events {
  /** A write that joins the commit that causes the fact: heard only if, and after, that commit succeeds. */
  event<N extends EventName>(name: N, data: EventMap[N]): Write;
  /** For facts that no commit causes: heard live, never stored. */
  publish<N extends EventName>(name: N, data: EventMap[N]): void;
  on<N extends EventName>(name: N, fn: (data: EventMap[N]) => void | Promise<void>): Disposable;
}
