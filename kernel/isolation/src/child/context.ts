/** The context as code in a process of its own sees it: the same members, of which some ask the daemon and some are refused by name. */
import { randomBytes, randomUUID } from 'node:crypto';
import type { Clock, ConfigDecl, EventDecl, ExtensionContext, HookDecl, Ids, Logger, OptionalHandle, Service, ServiceDecl, Timers } from '@svc/api';
import { declaredAs } from '@svc/api/internal';
import type { Peer } from '../channel/peer.js';
import { isolationErrors } from '../errors.js';
import type { Init } from '../protocol.js';
import { childDb, childEgress, childFetch, childFiles, childSecrets, sealed } from './adapters.js';
import type { Registrations } from './registrations.js';

export interface ContextInputs {
  readonly peer: Peer;
  readonly init: Init;
  readonly registrations: Registrations;
  readonly signal: AbortSignal;
  /** Changed by what the daemon tells. */
  readonly shared: Shared;
  /** Run at the end, newest first. */
  readonly disposers: Array<{ readonly label: string; readonly fn: () => void | Promise<void> }>;
}

/** What the daemon keeps up to date here. */
export class Shared {
  readonly config: Map<string, unknown>;
  readonly services: Set<string>;
  capabilities: Init['capabilities'];
  readonly #onConfig = new Map<string, Set<() => void>>();
  readonly #onService = new Map<string, Set<() => void>>();

  constructor(init: Init) {
    this.config = new Map(Object.entries(init.config));
    this.services = new Set(init.services);
    this.capabilities = init.capabilities;
  }

  setConfig(section: string, value: unknown): void {
    this.config.set(section, deepFrozen(value));
    for (const fn of this.#onConfig.get(section) ?? []) fn();
  }

  setService(name: string, isThere: boolean): void {
    if (isThere) this.services.add(name);
    else this.services.delete(name);
    for (const fn of this.#onService.get(name) ?? []) fn();
  }

  onConfig(section: string, fn: () => void): () => void {
    return listen(this.#onConfig, section, fn);
  }

  onService(name: string, fn: () => void): () => void {
    return listen(this.#onService, name, fn);
  }
}

const listen = (all: Map<string, Set<() => void>>, name: string, fn: () => void): (() => void) => {
  const own = all.get(name) ?? new Set();
  all.set(name, own.add(fn));
  return () => void own.delete(fn);
};

const deepFrozen = (value: unknown): unknown => {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFrozen(inner);
  }
  return value;
};

export const childContext = ({ peer, init, registrations, signal, shared, disposers }: ContextInputs): ExtensionContext => {
  const { id, version, generation } = init;
  for (const [section, value] of shared.config) shared.config.set(section, deepFrozen(value));
  const context = {
    id,
    version,
    generation,
    signal,
    log: childLog(peer),
    config: {
      get: ({ section }: ConfigDecl) => {
        if (!shared.config.has(section)) throw notDeclared(id, section, 'config');
        return shared.config.get(section);
      },
      onChange: ({ section }: ConfigDecl, fn: () => void) => ({ dispose: shared.onConfig(section, fn) }),
    },
    routes: { add: (...routes: Parameters<Registrations['addRoutes']>[0]) => registrations.addRoutes(routes) },
    tools: { add: (...tools: Parameters<Registrations['addTools']>[0]) => registrations.addTools(tools) },
    slashCommands: { add: (...commands: Parameters<Registrations['addSlashCommands']>[0]) => registrations.addSlashCommands(commands) },
    sockets: refusedMember('sockets'),
    capabilities: { declared: () => shared.capabilities },
    hooks: childHooks(peer, registrations),
    services: childServices(peer, registrations, shared),
    events: {
      event: ({ name, version: of }: EventDecl, data: unknown) => sealed(id, `event ${name}`, { make: 'event', event: { name, version: of }, data }),
      publish: ({ name, version: of }: EventDecl, data: unknown) => peer.notify('event.publish', [{ name, version: of }, data]),
      on: (event: EventDecl, fn: (data: never) => unknown) => registrations.addListener(event, fn),
    },
    journal: refusedMember('journal'),
    streams: refusedMember('streams'),
    timers: childTimers(peer, registrations, signal),
    db: childDb(peer, id),
    purge: refused('purge'),
    trash: childTrash(peer),
    fetch: childFetch(peer),
    egress: childEgress(peer),
    exec: refused('exec'),
    spawn: refused('spawn'),
    pty: refusedMember('pty'),
    sandbox: refused('sandbox'),
    tcp: refusedMember('tcp'),
    webSocket: refused('webSocket'),
    endSurvivors: refused('endSurvivors'),
    files: childFiles(peer, init.folders),
    secrets: childSecrets(peer),
    env: (name: string) => {
      if (!Object.hasOwn(init.env, name)) peer.notify('env', [name]);
      return init.env[name];
    },
    workers: refusedMember('workers'),
    schemas: {
      check: (...args: unknown[]) => peer.call('schemas.check', args),
      places: (...args: unknown[]) => peer.call('schemas.places', args),
    },
    clock: clock(),
    ids: ids(),
    get actors(): never {
      throw isolationErrors.unavailable('actors');
    },
    get kernel(): never {
      throw isolationErrors.unavailable('kernel');
    },
    hold: (label: string) => {
      const number = holdNumber++;
      peer.notify('hold', [number, label]);
      return { release: () => peer.notify('release', [number]) };
    },
    onDispose: (label: string, fn: () => void | Promise<void>) => {
      const entry = { label, fn };
      disposers.push(entry);
      return { dispose: () => void disposers.splice(disposers.indexOf(entry), 1) };
    },
  };
  // Each member has the shape of its namesake; what crosses is validated by the daemon, not by these types.
  return Object.freeze(context) as unknown as ExtensionContext;
};

let holdNumber = 1;

const refused = (name: string) => (): Promise<never> => Promise.reject(isolationErrors.unavailable(name));

/** What is in the bin is asked; what moves rows is for built-in extensions. */
const childTrash = (peer: Peer): object => {
  const trash = refusedMember('trash');
  return new Proxy(trash, { get: (target, key) => (key === 'holds' ? (...args: unknown[]) => peer.call('trash.holds', args) : Reflect.get(target, key)) });
};

/** May be kept and looked at; whatever is asked of it is refused. */
const refusedMember = (name: string): object =>
  new Proxy(Object.freeze({}), {
    get: (_target, key) => {
      if (typeof key === 'symbol' || key === 'then' || key === 'toJSON') return undefined;
      return () => {
        throw isolationErrors.unavailable(`${name}.${key}`);
      };
    },
  });

const notDeclared = (id: string, name: string, field: string): Error => new Error(`${id} reads the setting "${name}", which "${field}" of its extension.json does not name`);

export const childLog = (peer: Peer, fields: Readonly<Record<string, unknown>> = {}): Logger => {
  const at = (level: string) => (message: string, more?: Record<string, unknown>) => peer.notify('log', [level, String(message), { ...fields, ...more }]);
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
};

const childHooks = (peer: Peer, registrations: Registrations): object => ({
  tap: (hook: HookDecl, fn: (...args: never[]) => unknown) => registrations.addTap(hook, fn),
  define: () => {
    throw isolationErrors.unavailable('hooks.define');
  },
  use: ({ name, version, kind }: HookDecl) => ({ call: (...args: unknown[]) => peer.call('hook', [{ name, version, kind }, args]), isEmpty: () => false }),
});

const childServices = (peer: Peer, registrations: Registrations, shared: Shared): object => {
  const require = <D extends ServiceDecl>(decl: D): Service<D> => {
    const counts = Object.entries(decl.methods).map(([name, spec]) => [name, { count: spec.args.length, isStream: 'frame' in spec }]);
    peer.notify('service.use', [{ name: decl.name, version: decl.version }, Object.fromEntries(counts)]);
    const methods = Object.entries(decl.methods).map(([name, spec]) => {
      const ask = (args: readonly unknown[]): Promise<unknown> => {
        const given = args.slice(0, spec.args.length);
        const { signal, deadlineMs } = (args[spec.args.length] ?? {}) as { signal?: AbortSignal; deadlineMs?: number };
        return peer.call('service', [{ name: decl.name, version: decl.version }, name, given], { signal, deadlineMs, label: `${decl.name}.${name}` });
      };
      return [name, 'frame' in spec ? (...args: unknown[]) => framesOf(() => ask(args)) : (...args: unknown[]) => ask(args)];
    });
    // Made from the declaration, which the type derives from.
    return Object.freeze(Object.fromEntries(methods)) as Service<D>;
  };
  return {
    provide: (decl: ServiceDecl, impl: object) => registrations.addService(decl, impl),
    require,
    optional: <D extends ServiceDecl>(decl: D): OptionalHandle<Service<D>> => {
      const name = declaredAs(decl);
      const service = require(decl);
      const value = (): Service<D> | undefined => (shared.services.has(name) ? service : undefined);
      return {
        get value() {
          return value();
        },
        onChange: (fn) => ({ dispose: shared.onService(name, () => fn(value())) }),
      };
    },
  };
};

async function* framesOf(open: () => Promise<unknown>): AsyncGenerator<unknown> {
  // The daemon answers a streaming method with a stream.
  yield* (await open()) as AsyncIterable<unknown>;
}

const childTimers = (peer: Peer, registrations: Registrations, signal: AbortSignal): Timers => {
  const waiting = new Set<string>();
  const reportUnhandled = (error: unknown): void => peer.notify('stray', ['a timer', error instanceof Error ? error.message : String(error)]);
  /** Of one that begins later: the daemon knows nothing of it, but that this process is not at rest meanwhile. */
  const own = (name: string, ms: number, fn: () => unknown, isRepeated: boolean) => {
    if (waiting.has(name)) throw new Error(`a timer called ${name} waits already`);
    waiting.add(name);
    const number = holdNumber++;
    peer.notify('busy', [number]);
    const end = (): void => {
      clearTimeout(timer);
      waiting.delete(name);
      peer.notify('idle', [number]);
      signal.removeEventListener('abort', end);
    };
    const tick = async (): Promise<void> => {
      try {
        if (!isRepeated) end();
        await fn();
      } catch (error) {
        reportUnhandled(error);
      }
      if (isRepeated && waiting.has(name)) timer = setTimeout(() => void tick(), ms);
    };
    let timer = setTimeout(() => void tick(), ms);
    signal.addEventListener('abort', end, { once: true });
    return { dispose: end };
  };
  return {
    every: (name, everyMs, fn) => (registrations.isOpen ? registrations.addTimer({ name, everyMs, fn }) : own(name, everyMs, fn, true)),
    after: (name, afterMs, fn) => (registrations.isOpen ? registrations.addTimer({ name, afterMs, fn }) : own(name, afterMs, fn, false)),
    // The daemon knows the calendar.
    nextAt: (...args) => peer.call('timers.nextAt', args) as Promise<number>,
  };
};

const clock = (): Clock => ({
  now: () => Date.now(),
  iso: () => new Date().toISOString(),
  mono: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      }, ms);
      const onAbort = (): void => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', onAbort, { once: true });
    }),
});

const ids = (): Ids => ({
  uuid: () => randomUUID(),
  hex: (bytes) => randomBytes(bytes).toString('hex'),
  bytes: (count) => new Uint8Array(randomBytes(count)),
  random: () => randomBytes(4).readUInt32BE(0) / 2 ** 32,
});
