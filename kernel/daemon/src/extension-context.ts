/** Builds what one generation sees: a plain frozen object over the platform's parts, limited to its manifest and grants. */
import { join } from 'node:path';
import type { AnyTool, Disposable, ExtensionContext, Files, FetchInit, KernelView, Plain, TSchema, WorkerDecl } from '@svc/api';
import { type ContractJudge, type ContributionRegistry, type EventHub, type HookRegistry, type LiveRegistry, type Owner, type ServiceRegistry, runAs } from '@svc/core';
import { createTimers } from '@svc/platform/clock/timers';
import { dbGate } from './gate/storage.js';
import { daemonErrors } from './errors.js';
import { eventsGate } from './gate/events.js';
import { hooksGate } from './gate/hooks.js';
import { servicesGate } from './gate/services.js';
import { settingsGate } from './gate/settings.js';
import { streamsGate } from './gate/streams.js';
import { journalFacade } from './journal-facade.js';
import type { Projection } from '@svc/platform/streams/projections';
import type { PlatformParts } from './platform-parts.js';
import type { Purges } from './purge/purges.js';
import type { InstalledFiles } from './release.js';

export interface ContextParts extends PlatformParts {
  readonly hooks: HookRegistry;
  readonly services: ServiceRegistry;
  readonly events: EventHub;
  readonly tools: ContributionRegistry<AnyTool>;
  readonly timers: LiveRegistry;
  readonly ready: LiveRegistry;
  readonly projections: ContributionRegistry<Projection>;
  readonly judge: ContractJudge;
  readonly purges: Purges;
  kernel(): KernelView;
  /** Something threw where nobody waits: a timer, a listener. */
  stray(owner: Owner, place: string, error: unknown): void;
}

export function createContext(parts: ContextParts, owner: Owner, installed: InstalledFiles): ExtensionContext {
  const { id, manifest } = installed;
  const { lifetime } = owner;
  const grants = (installed.manifest.grants ?? []).map((one) => one.grant);
  const need = (grant: string): void => {
    if (!grants.includes(grant)) throw daemonErrors.not_granted(id, grant);
  };
  const alive = (): void => {
    if (lifetime.state === 'closed') throw daemonErrors.extension_stopped(id);
  };
  const secrets = parts.secrets.limited(grants);
  const log = parts.log.logger(id).child({ ext: id, generation: owner.generation });
  const context: ExtensionContext = {
    id,
    version: installed.version,
    generation: owner.generation,
    signal: lifetime.signal,
    log,
    config: settingsGate(parts.config, owner, manifest),
    routes: { add: (...decls) => together(decls.map((decl) => parts.http.routes.add(owner, decl))) },
    sockets: {
      add: (...decls) => together(decls.map((decl) => parts.http.sockets.add(owner, decl))),
      connections: (socketId) => parts.http.connections(socketId),
    },
    tools: { add: (...decls) => together(decls.map((decl) => parts.tools.add(owner, decl))) },
    hooks: hooksGate(parts.hooks, owner, manifest),
    services: servicesGate(parts.services, owner, manifest),
    events: eventsGate(parts.events, owner, manifest, (event, data) => parts.storage.event(id, event, data)),
    journal: journalFacade({ ...parts, log }, owner),
    streams: streamsGate(parts.streams, parts.projections, owner, parts.judge),
    timers: timersFacade(parts, owner),
    purge: async (subject) => {
      need('purge');
      alive();
      return parts.purges.purge(subject);
    },
    db: dbGate(parts.storage.dbFor({ id, tables: installed.manifest.tables ?? [] }), { need, alive }),
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

function filesOf(parts: ContextParts, id: string): Files {
  const { dataDir, workspacesDir } = parts.home;
  return {
    data: parts.openDir(join(dataDir, 'ext', id)),
    cache: parts.openDir(join(dataDir, 'cache', id)),
    root: (name) => parts.openDir(name === 'workspaces' ? workspacesDir : join(dataDir, 'uploads')),
  };
}

async function runWorker<O extends TSchema>(parts: ContextParts, installed: InstalledFiles, worker: WorkerDecl<TSchema, O>, input: unknown, signal: AbortSignal | undefined): Promise<Plain<O>> {
  const spec = installed.manifest.workers?.[worker.name];
  const file = installed.workers[worker.name];
  if (!spec || !file) throw daemonErrors.not_declared(installed.id, worker.name, 'workers');
  // Input and output cross a thread as the plain data that the worker declares.
  return (await parts.workers.run(file, 'default', input, { lane: spec.lane, timeoutMs: spec.timeoutMs, ...(signal ? { signal } : {}) })) as Plain<O>;
}

const together = (handles: readonly Disposable[]): Disposable => ({
  dispose: async () => {
    for (const handle of [...handles].reverse()) await handle.dispose();
  },
});
