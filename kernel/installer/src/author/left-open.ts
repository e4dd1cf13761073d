/** What a piece of work leaves open: only what it began itself, whatever else goes on in this process. */
import { AsyncLocalStorage, createHook } from 'node:async_hooks';
import { setImmediate as turn } from 'node:timers/promises';

/** As Node calls what can keep a process alive, and as people do. */
const OPENED: Readonly<Record<string, string>> = {
  Timeout: 'a timer',
  TCPSERVERWRAP: 'a listening socket',
  TCPWRAP: 'a connection',
  PIPEWRAP: 'a pipe',
  UDPWRAP: 'a socket',
  PROCESSWRAP: 'a process',
  FSEVENTWRAP: 'a watched folder',
  WORKER: 'a worker',
};

export interface Outcome<T> {
  readonly result: T;
  /** Each kind once; empty when all that was opened is closed. */
  readonly leftOpen: readonly string[];
}

export const withLeftOpen = async <T>(work: () => Promise<T>): Promise<Outcome<T>> => {
  const inside = new AsyncLocalStorage<true>();
  const open = new Map<number, { readonly kind: string; readonly resource: object }>();
  const hook = createHook({
    init: (id, type, _trigger, resource) => {
      const kind = OPENED[type];
      if (kind !== undefined && inside.getStore()) open.set(id, { kind, resource });
    },
    destroy: (id) => void open.delete(id),
  }).enable();
  try {
    const result = await inside.run(true, work);
    // What was closed is told of a turn later.
    await turn();
    await turn();
    const kept = [...open.values()].filter(({ resource }) => keepsAlive(resource));
    return { result, leftOpen: [...new Set(kept.map(({ kind }) => kind))] };
  } finally {
    inside.disable();
    hook.disable();
  }
};

const keepsAlive = (resource: object): boolean => !('hasRef' in resource) || typeof resource.hasRef !== 'function' || resource.hasRef() === true;
