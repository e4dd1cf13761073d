/** Builds what one generation sees: a plain frozen object over the platform's parts, limited to its manifest and grants. */
import { join } from 'node:path';
import type { AnyTool, ConfigHandle, Connection, Db, Disposable, ExtensionContext, Files, FetchInit, KernelView } from '@svc/api';
import { type ContributionRegistry, type EventHub, type HookRegistry, type LiveRegistry, type Owner, type ServiceRegistry, runAs } from '@svc/core';
import { createTimers } from '@svc/platform/clock/timers';
import { daemonErrors } from './errors.js';
import { journalFacade } from './journal-facade.js';
import type { PlatformParts } from './platform-parts.js';
import type { InstalledFiles } from './release.js';

export interface ContextParts extends PlatformParts {
  readonly hooks: HookRegistry;
  readonly services: ServiceRegistry;
  readonly events: EventHub;
  readonly tools: ContributionRegistry<AnyTool>;
  readonly timers: LiveRegistry;
  readonly ready: LiveRegistry;
  kernel(): KernelView;
  /** Something threw where nobody waits: a timer, a listener. */
  stray(owner: Owner, place: string, error: unknown): void;
}

export function createContext(parts: ContextParts, owner: Owner, installed: InstalledFiles): ExtensionContext {
  const { id } = installed;
  const { lifetime } = owner;
  const grants = (installed.manifest.grants ?? []).map((one) => one.grant);
  const need = (grant: string): void => {
    if (!grants.includes(grant)) throw daemonErrors.not_granted(id, grant);
  };
  const alive = (): void => {
    if (lifetime.state === 'closed') throw daemonErrors.extension_stopped(id);
  };
  const secrets = parts.secrets.limited(grants);
  const context: ExtensionContext = {
    id,
    version: installed.version,
    generation: owner.generation,
    signal: lifetime.signal,
    log: parts.log.logger(id).child({ ext: id, generation: owner.generation }),
    config: configHandle(parts, owner),
    routes: { add: (...decls) => together(decls.map((decl) => parts.http.routes.add(owner, decl))) },
    sockets: {
      add: (...decls) => together(decls.map((decl) => parts.http.sockets.add(owner, decl))),
      connections: (socketId) => ownConnections(parts, id, socketId),
    },
    tools: { add: (...decls) => together(decls.map((decl) => parts.tools.add(owner, decl))) },
    hooks: parts.hooks.facade(owner),
    services: parts.services.facade(owner),
    events: parts.events.facade(owner),
    journal: journalFacade(parts.journal, owner, parts.ready, installed.manifest.kinds ?? []),
    streams: parts.streams.as(id),
    timers: timersFacade(parts, owner),
    db: dbFacade(parts.storage.dbFor({ id, tables: installed.manifest.tables ?? [], carriesOthers: installed.bundled }), alive),
    fetch: (url: string, init: FetchInit) => {
      alive();
      return parts.fetchDoor.fetch(url, init, secrets.resolve);
    },
    exec: (command, args, options) => {
      alive();
      return parts.execDoor.exec(command, args, options);
    },
    endSurvivors: (key) => parts.execDoor.endSurvivors(key),
    files: filesOf(parts, id),
    secrets: secrets.secrets,
    workers: {
      run: (worker, input, options) => {
        alive();
        return runWorker(parts, installed, worker, input, options?.signal);
      },
    },
    clock: parts.clock,
    ids: parts.ids,
    get kernel() {
      need('kernel');
      return parts.kernel();
    },
    env: (name) => {
      need(`env:${name}`);
      return parts.env[name];
    },
    hold: (label) => {
      const leave = lifetime.enter(label);
      return leave ? { release: leave } : null;
    },
    onDispose: (label, fn) => lifetime.add(label, fn),
  };
  return Object.freeze(context);
}

function configHandle(parts: ContextParts, owner: Owner): ConfigHandle {
  // A claimed top-level key is called by its name alone: `get('api_key')`.
  const nameOf = (section: string): string => (parts.claims()[`/${section}`] ? `/${section}` : section);
  const handle = {
    get: (section: string): unknown => parts.config.get(nameOf(section)),
    onChange: (section: string, fn: () => void): Disposable => {
      const listening = parts.config.onChange(nameOf(section), () => runAs(owner, undefined, fn));
      return owner.lifetime.add(`watch of [${section}]`, () => listening.dispose());
    },
  };
  // ConfigMap's types belong to the areas; the platform validated the value against their schema.
  return handle as ConfigHandle;
}

function ownConnections(parts: ContextParts, id: string, socketId: string): readonly Connection[] {
  const row = parts.http.sockets.active().find(({ value }) => value.id === socketId);
  if (row && row.owner.id !== id) throw daemonErrors.socket_not_own(id, socketId);
  return parts.http.connections(socketId);
}

function timersFacade(parts: ContextParts, owner: Owner): ExtensionContext['timers'] {
  const timers = (label: string) => createTimers({ clock: parts.clock, onError: (error) => parts.stray(owner, label, error) });
  const guarded = (label: string, fn: () => void | Promise<void>) => async (): Promise<void> => {
    const leave = owner.lifetime.enter(label);
    if (!leave) return;
    try {
      await runAs(owner, undefined, fn);
    } finally {
      leave();
    }
  };
  return {
    every: (ms, fn) => parts.timers.add(owner, { label: `every ${ms} ms`, begin: () => timers(`timer every ${ms} ms`).every(ms, guarded(`timer every ${ms} ms`, fn)) }),
    after: (ms, fn) => {
      const entry: { own?: Disposable } = {};
      const once = guarded(`timer after ${ms} ms`, async () => {
        await entry.own?.dispose();
        await fn();
      });
      entry.own = parts.timers.add(owner, { label: `after ${ms} ms`, begin: () => timers(`timer after ${ms} ms`).after(ms, once) });
      return entry.own;
    },
  };
}

const dbFacade = (db: Db, alive: () => void): Db => ({
  table: (name) => db.table(name),
  read: (sql, args) => {
    alive();
    return db.read(sql, args);
  },
  readOne: (sql, args) => {
    alive();
    return db.readOne(sql, args);
  },
  commit: (writes) => {
    alive();
    return db.commit(writes);
  },
});

function filesOf(parts: ContextParts, id: string): Files {
  const { dataDir, workspacesDir } = parts.home;
  return {
    data: parts.openDir(join(dataDir, 'ext', id)),
    cache: parts.openDir(join(dataDir, 'cache', id)),
    root: (name) => parts.openDir(name === 'workspaces' ? workspacesDir : join(dataDir, 'uploads')),
  };
}

async function runWorker<T>(parts: ContextParts, installed: InstalledFiles, worker: string, input: unknown, signal: AbortSignal | undefined): Promise<T> {
  const spec = installed.manifest.workers?.[worker];
  const file = installed.workers[worker];
  if (!spec || !file) throw daemonErrors.not_granted(installed.id, `worker ${worker}`);
  // The worker function's own type is what the caller names; input and output cross a thread as plain data.
  return (await parts.workers.run(file, 'default', input, { lane: spec.lane, timeoutMs: spec.timeoutMs, ...(signal ? { signal } : {}) })) as T;
}

const together = (handles: readonly Disposable[]): Disposable => ({
  dispose: async () => {
    for (const handle of [...handles].reverse()) await handle.dispose();
  },
});
