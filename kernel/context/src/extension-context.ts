/** Builds what one generation sees: a plain frozen object over the platform's parts, limited to its manifest and grants. */
import { type AuditFact, AuditRecorded, type Clock, type Connection, type Disposable, type ExtensionContext, type Ids, type Plain, type TSchema, type WorkerDecl } from '@svc/api';
import { type Contributor, createAreaActors, type InstalledFiles, runAs } from '@svc/core';
import { withoutSecrets } from '@svc/platform/audit/audit-notes';
import { nextCronTime } from '@svc/platform/clock/cron';
import { createServerOrigins } from '@svc/platform/adapters/fetch/model-origins';
import { createTimers } from '@svc/platform/clock/timers';
import { childMembers } from './access/adapters/child-access.js';
import { fetchMembers } from './access/adapters/fetch-access.js';
import { filesMember } from './access/adapters/files-access.js';
import { tcpMember } from './access/adapters/tcp-access.js';
import { webSocketMember } from './access/adapters/web-socket-access.js';
import { contributed } from './access/contributed.js';
import { eventsAccess } from './access/events.js';
import { createGrants } from './access/grants-policy.js';
import { hooksAccess } from './access/hooks.js';
import { journalFacade } from './access/journal.js';
import { kernelMember } from './access/kernel-access.js';
import { servicesAccess } from './access/services.js';
import { settingsAccess } from './access/settings.js';
import { dbAccess } from './access/storage.js';
import { streamsAccess } from './access/streams.js';
import { trashMember } from './access/trash.js';
import { rejectedAfter, whileAlive } from './access/while-alive.js';
import { contextErrors } from './errors.js';
import type { ContextParts, Member } from './parts.js';
import { countedDb } from './quotas/counted-db.js';
import { countedSecrets } from './quotas/counted-secrets.js';
import { countedEvents } from './quotas/publishing.js';

const TIMER_NAME = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;

export function createContext(parts: ContextParts, owner: Contributor, installed: InstalledFiles): ExtensionContext {
  const { id, manifest } = installed;
  const { lifetime } = owner;
  const grants = createGrants(id, installed.manifest);
  const alive = (): void => {
    if (lifetime.state === 'closed') throw contextErrors.extension_stopped(id);
  };
  const secrets = parts.secrets.limited(grants.texts);
  const log = parts.log.logger(id).child({ ext: id, generation: owner.generation });
  const member: Member = { parts, owner, grants, alive, reportUnhandled: (place, error) => parts.reportUnhandled(owner, place, error) };
  const tables = { id, tables: manifest.tables ?? [] };
  // What came with the daemon is not limited.
  const quota = installed.origin && parts.quotas.of(tables);
  const anyEvents = eventsAccess(
    parts.events,
    owner,
    manifest,
    (event, data) => parts.storage.event(id, event, event === AuditRecorded.name ? withoutSecrets(data as AuditFact, parts.log.scrub) : data),
    grants.need,
  );
  const events = quota ? countedEvents(anyEvents, id, parts.clock) : anyEvents;
  const own = contributed(parts, owner, grants);
  const lasting = <T extends object>(one: T): T => whileAlive(one, alive);
  const servers = createServerOrigins();
  const adapters = { ...fetchMembers(member, secrets, servers), ...childMembers(member, secrets) };
  const db = dbAccess(parts.storage.dbFor({ ...tables, isThirdParty: !installed.bundled }), {
    need: grants.need,
    alive,
    actorOf: (actor) => {
      if (owner.build === undefined && !grants.has('actors')) parts.actors.assertHanded(owner, actor, 'ctx.db.as');
      return actor;
    },
  });
  const actors = createAreaActors(id);
  const context: ExtensionContext = {
    id,
    version: installed.version,
    generation: owner.generation,
    signal: lifetime.signal,
    log,
    config: lasting(settingsAccess(parts.config, owner, manifest)),
    routes: lasting(own.routes),
    sockets: lasting({ add: own.sockets, connections: (socketId) => ownConnections(parts, id, socketId) }),
    tools: lasting(own.tools),
    slashCommands: lasting(own.slashCommands),
    capabilities: lasting({ declared: parts.declared }),
    hooks: lasting(hooksAccess(parts.hooks, owner, manifest, grants)),
    services: lasting(servicesAccess(parts.services, owner, manifest, grants)),
    // A write of an event can be made after the end, as those of rows; it is told by whoever commits it.
    events: Object.freeze({ ...lasting(events), event: events.event }),
    journal: Object.freeze(journalFacade({ ...parts, log }, owner, manifest.kinds ?? [])),
    streams: lasting(streamsAccess(parts.streams.as(id), parts.projections, owner, parts.validator)),
    timers: lasting(timersFacade(parts, owner)),
    db: Object.freeze(quota ? countedDb(db, quota.rows) : db),
    purge: async (subject) => {
      grants.need('purge');
      alive();
      return parts.purges.purge(subject);
    },
    trash: trashMember(parts, member),
    ...adapters,
    egress: lasting(adapters.egress),
    tcp: Object.freeze(tcpMember(member, servers)),
    webSocket: webSocketMember(member, servers),
    files: lasting(filesMember(member, installed.assets, quota?.files)),
    secrets: rejectedAfter(quota ? countedSecrets(secrets.secrets, id) : secrets.secrets, alive),
    workers: rejectedAfter({ run: (worker, input, options) => runWorker(parts, installed, worker, input, options?.signal) }, alive),
    schemas: ownFacade(parts.schemas),
    clock: clockFacade(parts.clock),
    ids: idsFacade(parts.ids),
    get actors() {
      if (owner.build === undefined) throw contextErrors.no_actors(id);
      return actors;
    },
    get kernel() {
      alive();
      return kernelMember(parts.kernel, id, grants);
    },
    env: (name) => {
      alive();
      grants.need('env', name);
      return parts.env[name];
    },
    hold: (label) => {
      const leave = lifetime.enter(label);
      return leave ? { release: leave } : null;
    },
    onDispose: (label, fn) => {
      alive();
      return lifetime.add(label, fn);
    },
  };
  return Object.freeze(context);
}

function ownConnections(parts: ContextParts, id: string, socketId: string): readonly Connection[] {
  const row = parts.http.sockets.active().find(({ value }) => value.id === socketId);
  if (row && row.owner.id !== id) throw contextErrors.socket_not_own(id, socketId);
  return parts.http.connections(socketId);
}

function timersFacade(parts: ContextParts, owner: Contributor): ExtensionContext['timers'] {
  const named = (name: string): void => {
    if (!TIMER_NAME.test(name)) throw contextErrors.timer_name(owner.id, name);
  };
  const timers = (label: string) => createTimers({ clock: parts.clock, onError: (error) => parts.reportUnhandled(owner, label, error) });
  const guarded = (label: string, fn: () => void | Promise<void>) => async (): Promise<void> => {
    const leave = owner.lifetime.enter(label);
    if (!leave) return;
    try {
      await runAs(owner, fn);
    } finally {
      leave();
    }
  };
  return {
    every: (name, ms, fn) => {
      named(name);
      return parts.timers.add(owner, { name, label: `${name} every ${ms} ms`, begin: () => timers(`timer ${name}`).every(ms, guarded(`timer ${name}`, fn)) });
    },
    after: (name, ms, fn) => {
      named(name);
      const entry: { own?: Disposable } = {};
      const once = guarded(`timer ${name}`, async () => {
        await entry.own?.dispose();
        await fn();
      });
      entry.own = parts.timers.add(owner, { name, label: `${name} after ${ms} ms`, begin: () => timers(`timer ${name}`).after(ms, once) });
      return entry.own;
    },
    nextAt: nextCronTime,
  };
}

async function runWorker<O extends TSchema>(parts: ContextParts, installed: InstalledFiles, worker: WorkerDecl<TSchema, O>, input: unknown, signal: AbortSignal | undefined): Promise<Plain<O>> {
  const { name } = worker;
  const spec = ownMember(installed.manifest.workers ?? {}, name);
  const file = ownMember(installed.workers, name);
  if (!spec || !file) throw contextErrors.not_declared(installed.id, name, 'workers');
  // Input and output cross a thread as the plain data that the worker declares.
  return (await parts.workers.run(file, 'default', input, { lane: spec.lane, timeoutMs: spec.timeoutMs, ...(signal ? { signal } : {}) })) as Plain<O>;
}

/** A name that objects have anyway, such as `constructor`, is nobody's worker. */
const ownMember = <T>(record: Readonly<Record<string, T>>, name: string): T | undefined => (Object.hasOwn(record, name) ? record[name] : undefined);

/** All share what is behind these; each has its own face, so that nobody puts another function in its place. */
const clockFacade = (clock: Clock): Clock =>
  Object.freeze({ now: () => clock.now(), iso: () => clock.iso(), mono: () => clock.mono(), sleep: (ms: number, signal?: AbortSignal) => clock.sleep(ms, signal) });

const idsFacade = (ids: Ids): Ids => Object.freeze({ uuid: () => ids.uuid(), hex: (count: number) => ids.hex(count), bytes: (count: number) => ids.bytes(count), random: () => ids.random() });

const ownFacade = <T extends object>(shared: T): T => Object.freeze({ ...shared });
