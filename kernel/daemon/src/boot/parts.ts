/** Step 3: what contexts are built from. The database, the journal, the adapters, and what third parties brought. */
import { hostname } from 'node:os';
import { join } from 'node:path';
import * as api from '@svc/api';
import { type ContextParts, createQuotas } from '@svc/context';
import { createAudit } from '@svc/platform/audit/audit-notes';
import { countFacts } from '@svc/platform/audit/stored-facts';
import { type Choices, openChoices } from '@svc/platform/choices/choices';
import { settingsOf } from '@svc/platform/config/kernel-sections';
import { databaseFileOf } from '@svc/platform/config/home';
import type { Http } from '@svc/platform/http/http-server';
import { journalMigrations, journalOwner } from '@svc/platform/journal/rows/journal-migrations';
import { succeed } from '@svc/platform/process/predecessor';
import { createMembers, type Self } from '@svc/platform/members/members';
import { createRelayLease } from '@svc/platform/relay/relay-lease';
import { kernelMigrations, kernelTables } from '@svc/platform/storage/kernel-tables';
import { statementTime } from '@svc/platform/storage/statement-time';
import type { Storage } from '@svc/platform/storage/storage';
import type { StreamsAdmin, Topics } from '@svc/platform/streams/streams';
import { type OpenThirdParties, openThirdParties } from '@svc/third-party';
import { type Address, urlOf } from './address.js';
import { openErasing } from './erasing.js';
import type { Ground } from './ground.js';
import { createAdapters } from './part-factories.js';

/** Every part but the view of the whole, which needs them all. */
export type Footing = Omit<ContextParts, 'kernel' | 'declared'>;

export interface OpenParts extends OpenThirdParties {
  readonly footing: Footing;
  readonly choices: Choices;
}

export async function openParts(ground: Ground, http: Http, streams: Topics & StreamsAdmin, address: Address): Promise<OpenParts> {
  const { bus, config, durable, factories, home, installed, log, ownerKey, progress, relay, wiring } = ground;
  const { clock, env, ids } = ground.options;
  const storage = await openStorage(ground);
  bus.subscribe('events', ({ event, data }) => {
    wiring.events.emit(event, data);
    if (durable.isStored(event)) relay.poke();
  });
  bus.onGap(relay.poke);
  await storage.migrate(journalOwner, journalMigrations);
  await storage.migrate(kernelTables, kernelMigrations);
  // The lock of the home keeps every other daemon from its file. A server knows nothing of homes: others may be alive on it.
  const soleWriter = storage.dialect === 'sqlite';
  const predecessor = soleWriter ? undefined : await succeed(home.dataDir, bus.name);
  const leaseMs = settingsOf(config, 'cluster').lease_secs * 1_000;
  const journal = factories.createJournal({
    db: storage.dbFor(journalOwner),
    clock,
    ids,
    log: log.logger('journal'),
    bus,
    instanceId: bus.name,
    nowSql: storage.nowSql,
    soleWriter,
    // Nobody else could take what a sole writer holds, so it renews less often.
    ...(soleWriter ? {} : { leaseMs }),
    predecessor,
    patienceMs: () => settingsOf(config, 'journal').save_patience_secs * 1_000,
  });
  http.keepAnswers(journal.once);
  const own = storage.dbFor(kernelTables);
  const audit = createAudit({
    ...{ config, claims: ground.claims, clock, ids, log: log.logger('audit') },
    isStored: durable.isStored,
    commit: async (fact) => void (await own.commit([storage.event('kernel', api.AuditRecorded.name, fact)])),
    count: () => countFacts(own),
  });
  http.keepAudit(audit);
  const choices = await openChoices(own, clock);
  const adapters = createAdapters(factories, { home, env, clock, log, config, hooks: wiring.hooks, ownerKey, ownPort: () => address.port });
  const thirdParties = await openThirdParties({
    ...{ clock, config, home, installed, log, ownerKey, storage },
    actors: wiring.actors,
    hooks: wiring.hooks,
    unhandled: wiring.unhandled,
    execAdapter: adapters.execAdapter,
    secrets: adapters.secrets,
    releaseFile: ground.options.releaseFile,
    given: ground.options.thirdParties ?? [],
    isUp: () => progress.phase() === 'ready',
    lifecycle: progress.lifecycleWhenUp,
  });
  await relay.open(own, createRelayLease({ db: own, nowSql: storage.nowSql, holder: bus.name, leaseMs, predecessor, soleWriter }));
  const erasing = openErasing(ground, { own, storage, journal });
  const quotas = createQuotas({ clock, config, folders: (id) => ['ext', 'cache'].map((folder) => adapters.openDir(join(home.dataDir, folder, id))), rowBytes: storage.rowBytes });
  const members = createMembers({ db: own, nowSql: storage.nowSql, self: () => selfOf(ground, address), predecessor, isAlone: soleWriter, log: log.logger('members') });
  const footing: Footing = {
    ...{ home, env, clock, ids, log, config, bus, storage, journal, members, streams, http, ownerKey, ...erasing, quotas, audit },
    ...adapters,
    ...wiring,
    claims: ground.claims,
    reportUnhandled: wiring.unhandled.report,
  };
  return { ...thirdParties, choices, footing };
}

const selfOf = ({ bus, config, release, startedAt }: Ground, { host, port }: Address): Self => {
  const { address, name } = settingsOf(config, 'cluster');
  return { id: bus.name, name: name ?? hostname(), host: hostname(), pid: process.pid, version: release.version, startedAt, address: address ?? urlOf({ host, port }) };
};

const openStorage = ({ config, databaseUrl, durable, factories, home, log, options, progress, relay, wiring }: Ground): Promise<Storage> =>
  factories.openStorage({
    file: databaseFileOf(home.dataDir),
    url: databaseUrl,
    isRestored: options.isRestored,
    clock: options.clock,
    now: options.isClockGiven ? options.clock.now : undefined,
    log: log.logger('storage'),
    ...statementTime({ config, clock: options.clock, log, lifecycle: progress.lifecycleWhenUp }),
    storeEvent: durable.isStored,
    onEvents: (events) => {
      for (const { event, data } of events) wiring.events.deliver(event, data);
      if (events.some(({ event }) => durable.isStored(event))) relay.poke();
    },
  });
