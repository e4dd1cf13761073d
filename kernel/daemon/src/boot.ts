/**
 * The composition root: boot and stop, in order (kernel.md K3).
 *
 * B1  The socket opens before anything heavy is loaded; until all is up it says so.
 * B2  One bad setting, extension or file degrades its own part. Only an essential extension that fails stops the boot.
 * B3  Stop is the reverse (shutdown.ts).
 * B4  Durable work begins when all that should be on was started once: what it asks for is there. A boot that is refused begins none.
 */
import { join } from 'node:path';
import * as api from '@svc/api';
import * as internal from '@svc/api/internal';
import { createInstalledStore, declaredCapabilities, type InstalledStore, type Lifecycle, type Contributor, lastEnteredId } from '@svc/core';
import type { TimerClock } from '@svc/platform/clock/clock';
import type { Bus } from '@svc/platform/bus/bus';
import { systemClock } from '@svc/platform/clock/clock';
import { systemIds } from '@svc/platform/clock/ids';
import { type Config, createConfig } from '@svc/platform/config/config';
import { databaseFileOf, type Home, resolveHome } from '@svc/platform/config/home';
import { ownerKeyFile } from '@svc/platform/config/file/owner-key-file';
import { exposedPaths } from '@svc/platform/config/privacy';
import { type SectionClaims, settingsOf } from '@svc/platform/config/kernel-sections';
import { atomicWrite } from '@svc/platform/adapters/files/atomic-write';
import { createHttp, type Http } from '@svc/platform/http/http-server';
import { limitsOf } from '@svc/platform/http/limits';
import { journalMigrations, journalOwner } from '@svc/platform/journal/rows/journal-migrations';
import { createLog, type Log } from '@svc/platform/log/log';
import { createProjections } from '@svc/platform/streams/projections';
import { createStreams } from '@svc/platform/streams/streams';
import { isSoleWriter, knownActors, onceOnly, takeUrl } from './boot-parts.js';
import type { BootOptions, Daemon } from './boot-contract.js';
import { watchChoices } from './choices/choice-watch.js';
import { createStoredChoices } from './choices/stored-choices.js';
import { type Choices, kernelMigrations, kernelTables, openChoices } from './choices/choices.js';
import { applierOf, type Settings, setLogLevel } from './settings/apply-settings.js';
import { statementTime } from './statement-time.js';
import { watchConfig } from './settings/config-watch.js';
import { createSettingsView } from './settings/settings-view.js';
import { canSwitch } from './choices/consequences.js';
import { claimsOf, extensionSettings, isDatabaseKept, admissionOf, listenAddress, missingSecurity, presetOf, requiredSecurity } from './settings/daemon-settings.js';
import { createDurableRelay, type DurableRelay } from './relay/durable-relay.js';
import { daemonErrors } from './errors.js';
import type { ContextParts } from './extension-context.js';
import { type Address, openPort, urlOf } from './process/address.js';
import { type HomeLock, lockHome, makeDataFolder } from './process/home-lock.js';
import { startHousekeeping } from './housekeeping.js';
import { kernelContributor, tapProbes } from './kernel-probes.js';
import { createKernelView } from './kernel-view.js';
import { type KeyWatch, networkGuard, refuseOpenNetwork, startRefusal, watchKeys } from './settings/open-network.js';
import { succeed } from './process/predecessor.js';
import { createAdapters, type PartFactories, type PlatformParts, standardFactories } from './platform-parts.js';
import { type OwnerKey, openOwnerKey } from './owner-key/owner-key.js';
import { createPurgeRegistry } from './purge/purge-registry.js';
import { createPurges } from './purge/purges.js';
import { createRelayLease } from './relay/relay-lease.js';
import { type InstalledFiles, type Preset, type Release, readRelease, releaseWatcher } from './process/release.js';
import { STOP_DRAIN_MS, stopDaemon } from './shutdown.js';
import type { InstallationParts } from './third-party/installation.js';
import { createQuotas } from './quotas/quotas.js';
import { openThirdParties } from './third-party/open-third-party.js';
import type { ThirdParties } from './third-party/third-party.js';
import { createOffRoutes } from './off-routes.js';
import { watchTrust } from './third-party/trust-watch.js';
import { createUnhandledHandler, type UnhandledHandler } from './process/unhandled-errors.js';
import { API_VERSION, createLifecycle, createWiring, type Wiring } from './wiring.js';

export type { BootOptions, Daemon };

export async function bootDaemon(options: BootOptions): Promise<Daemon> {
  const clock = options.clock ?? systemClock();
  const home = resolveHome(options.env);
  const lock = await lockHome(home.home);
  const log = createLog({ dir: home.logDir, level: 'info', clock, terminal: options.foreground && (options.logTerminal ?? true), env: options.env });
  try {
    return await boot({ ...options, clock, ids: options.ids ?? systemIds(), isClockGiven: options.clock !== undefined }, home, log, lock);
  } catch (error) {
    await log.close();
    await lock.release();
    throw error;
  }
}

type Booting = BootOptions & {
  readonly clock: TimerClock;
  readonly ids: api.Ids;
  /** A test moves the time: then the database's own would not fit. */
  readonly isClockGiven: boolean;
};

/** What stands before the port is open. */
interface Ground {
  readonly options: Booting;
  readonly factories: PartFactories;
  readonly home: Home;
  readonly log: Log;
  readonly lock: HomeLock;
  readonly startedAt: string;
  readonly release: Release;
  readonly installed: InstalledStore<InstalledFiles>;
  readonly thirdParties: ThirdParties;
  readonly installation: InstallationParts;
  readonly config: Config;
  readonly keys: KeyWatch;
  readonly ownerKey: OwnerKey;
  readonly claims: () => SectionClaims;
  readonly preset: { readonly name: string; readonly preset: Preset };
  readonly listen: { readonly host: string; readonly port: number };
  /** Of the server; undefined for the file in the data folder. */
  readonly databaseUrl: string | undefined;
  /** The file that would name one could not be read. */
  readonly isDatabaseGuessed: boolean;
  readonly unhandled: UnhandledHandler;
  readonly bus: Bus;
  readonly wiring: Wiring;
  readonly relay: DurableRelay;
  readonly life: { now: Life; parts: Footing | undefined };
}

/** How far the daemon is; what there is by then stands beside it. */
type Life = { readonly phase: 'starting'; readonly address: Address | undefined } | { readonly phase: 'ready' | 'stopping'; readonly address: Address; readonly lifecycle: Lifecycle };

/** What the kernel stands on before it is one: every part but the view of the whole. */
type Footing = Omit<ContextParts, 'kernel' | 'declared'>;

/** All of it, up. */
interface Kernel {
  readonly address: Address;
  readonly parts: ContextParts;
  readonly choices: Choices;
  readonly lifecycle: Lifecycle;
  readonly view: api.KernelView;
  readonly settings: Settings;
  /** The kernel as an owner of what it opens itself. */
  readonly own: Contributor;
}

async function boot(options: Booting, home: Home, log: Log, lock: HomeLock): Promise<Daemon> {
  const ground = await layGround(options, home, log, lock);
  const streams = createStreams({ clock: options.clock, bus: ground.bus });
  const http = createFacade(ground, streams);
  const address = await openPort(http, ground.listen);
  ground.life.now = { phase: 'starting', address };
  const attached = http.attach();
  try {
    const { footing, choices } = await openParts(ground, http, streams);
    const kernel = startKernel(ground, footing, choices, address);
    for (const [id, why] of await ground.installation.trials.settle()) kernel.lifecycle.note(id, why);
    const stop = onceOnly(async (reason: string) => {
      ground.life.now = { phase: 'stopping', address, lifecycle: kernel.lifecycle };
      await stopDaemon(reason, { ...kernel, lock, drainMs: options.stopDrainMs ?? STOP_DRAIN_MS });
    });
    const giveUp = (): void => void kernel.lifecycle.giveUpAll();
    options.asked?.addEventListener('abort', giveUp, { once: true });
    if (options.asked?.aborted) giveUp();
    await kernel.lifecycle.boot();
    options.asked?.removeEventListener('abort', giveUp);
    await attached;
    await refuseFailedEssentials(kernel.lifecycle, stop);
    ground.wiring.ready.open();
    await becomeReady(ground, kernel);
    return daemonOf(ground, kernel, stop);
  } catch (error) {
    http.stopAccepting();
    await http.close(0);
    throw error;
  }
}

async function layGround(options: Booting, home: Home, log: Log, lock: HomeLock): Promise<Ground> {
  const { clock, env } = options;
  const release = await readRelease(options.releaseFile, api, options.code);
  const installed = createInstalledStore([...release.extensions, ...(options.extra ?? [])]);
  const claims = claimsOf(installed);
  const life: Ground['life'] = { now: { phase: 'starting', address: undefined }, parts: undefined };
  const ownerKey = await openOwnerKey({ file: ownerKeyFile(home.home), ids: options.ids, log: log.logger('kernel'), redact: log.redact });
  const guard = networkGuard(env, claims, home, () => life.now.address?.host);
  const config = createConfig({
    file: home.configFile,
    env,
    log,
    sections: claims,
    lastGoodFile: join(home.dataDir, 'config-last-good.json'),
    guard,
    refusesStart: startRefusal(env, claims, home),
    revisionKey: options.ids.hex(32),
    ownerKeyHash: ownerKey.hash,
  });
  await makeDataFolder(home);
  await config.load();
  setLogLevel(log, config);
  const listen = listenAddress(config, home, options.port);
  const databaseUrl = takeUrl(config, log);
  const isDatabaseGuessed = databaseUrl === undefined && config.closed().includes('storage');
  const keys = watchKeys(env, claims, config);
  ownerKey.attach({ hasKey: keys.hasKey, apply: config.applyOwnerKey });
  refuseOpenNetwork(listen.host, keys.hasKey());
  const unhandled = createUnhandledHandler(log.logger('kernel'));
  const factories = { ...standardFactories, ...options.factories };
  const bus = factories.joinBus(options.ids.uuid(), (cause) => log.logger('bus').error('a message of another process could not be taken', { cause }), databaseUrl === undefined);
  const wiring: Wiring = createWiring(clock, unhandled, bus, installed, (id, event) => relay.isDurable(id, event), options.checkReplies ?? false);
  if (options.checkReplies) await wiring.validator.load();
  const { thirdParties, installation } = await openThirdParties({
    ...{ clock, config, home, installed, log, ownerKey, unhandled, wiring },
    releaseFile: options.releaseFile,
    given: options.thirdParties ?? [],
    isUp: () => life.now.phase === 'ready',
    lifecycle: () => (life.now.phase === 'starting' ? undefined : life.now.lifecycle),
    parts: () => life.parts,
  });
  const relay = createDurableRelay({ installed, hub: wiring.events, clock, log: log.logger('events') });
  return {
    options,
    factories,
    bus,
    home,
    log,
    lock,
    startedAt: clock.iso(),
    release,
    installed,
    thirdParties,
    installation,
    claims,
    config,
    keys,
    ownerKey,
    preset: presetOf(release, config),
    listen,
    databaseUrl,
    isDatabaseGuessed,
    unhandled,
    wiring,
    relay,
    life,
  };
}

function createFacade(ground: Ground, streams: PlatformParts['streams']): Http {
  const { config, keys, listen, options, wiring } = ground;
  return createHttp({
    access: {
      corsOrigins: () => settingsOf(config, 'api').cors_origins,
      hasApiKey: keys.hasKey,
      listenHost: () => listen.host,
      trustedProxies: () => (config.get('/trusted_proxies') as readonly string[] | undefined) ?? [],
    },
    hooks: {
      admit: wiring.hooks.handle(api.HttpAdmit),
      authenticate: knownActors(wiring),
      authorize: wiring.hooks.handle(api.HttpAuthorize),
      upgrade: wiring.hooks.handle(api.SocketUpgrade),
    },
    log: ground.log.logger('http'),
    ids: options.ids,
    clock: options.clock,
    streams,
    projections: createProjections((name) => wiring.projections.active().find(({ value }) => internal.declaredAs(value.decl) === name)?.value),
    limits: () => limitsOf(settingsOf(config, 'api')),
    checkReplies: options.checkReplies ?? false,
    offExtension: createOffRoutes(ground.installed, (id) => ground.life.now.phase !== 'starting' && ground.life.now.lifecycle.isActive(id)),
    admission: () => admissionNow(ground),
  });
}

async function openParts(ground: Ground, http: Http, streams: PlatformParts['streams']): Promise<{ footing: Footing; choices: Choices }> {
  const { bus, config, factories, home, log, relay, wiring } = ground;
  const { clock, env, ids } = ground.options;
  const storage = await factories.openStorage({
    file: databaseFileOf(home.dataDir),
    url: ground.databaseUrl,
    clock,
    now: ground.options.isClockGiven ? clock.now : undefined,
    log: log.logger('storage'),
    ...statementTime({ config, clock, log, lifecycle: () => (ground.life.now.phase === 'starting' ? undefined : ground.life.now.lifecycle) }),
    storeEvent: relay.isStored,
    onEvents: (events) => {
      for (const { event, data } of events) wiring.events.deliver(event, data);
      if (events.some(({ event }) => relay.isStored(event))) relay.poke();
    },
  });
  bus.subscribe('events', ({ event, data }) => {
    wiring.events.emit(event, data);
    // It may be one that is kept for durable listeners.
    relay.poke();
  });
  await storage.migrate(journalOwner, journalMigrations);
  await storage.migrate(kernelTables, kernelMigrations);
  const soleWriter = isSoleWriter(storage);
  const predecessor = soleWriter ? undefined : await succeed(home.dataDir, bus.name);
  const journal = factories.createJournal({
    db: storage.dbFor(journalOwner),
    clock,
    ids,
    log: log.logger('journal'),
    bus,
    instanceId: bus.name,
    nowSql: storage.nowSql,
    soleWriter,
    predecessor,
  });
  http.keepAnswers(journal.once);
  const own = storage.dbFor(kernelTables);
  const choices = await openChoices(own, clock);
  await relay.open(own, createRelayLease({ db: own, nowSql: storage.nowSql, holder: bus.name, predecessor, soleWriter }));
  const purges = createPurges({
    registry: createPurgeRegistry(own, clock, ids),
    installed: ground.installed,
    tables: wiring.tables,
    hooks: wiring.hooks,
    dbOf: (id, tables) => storage.dbFor({ id, tables, isPlatform: true }),
    clock,
    log: log.logger('kernel'),
    apiVersion: API_VERSION,
  });
  const adapters = createAdapters(factories, { home, env, clock, log, config, hooks: wiring.hooks, ownerKey: ground.ownerKey, ownPort: () => ground.life.now.address?.port });
  const quotas = createQuotas({ clock, config, folders: (id) => ['ext', 'cache'].map((folder) => adapters.openDir(join(home.dataDir, folder, id))), rowBytes: storage.rowBytes });
  return {
    choices,
    footing: {
      home,
      env,
      clock,
      ids,
      log,
      config,
      claims: ground.claims,
      bus,
      storage,
      journal,
      streams,
      http,
      ownerKey: ground.ownerKey,
      ...adapters,
      ...wiring,
      purges,
      quotas,
      reportUnhandled: ground.unhandled.report,
    },
  };
}

function startKernel(ground: Ground, footing: Footing, choices: Choices, address: Address): Kernel {
  const { config, installed, life, log, options, preset, relay, wiring } = ground;
  life.parts = footing;
  const newest = releaseWatcher(options.releaseFile, api, options.code);
  // An area asks for the view when it runs, and none runs before the kernel is whole.
  const parts: ContextParts = { ...footing, declared: declaredCapabilities(installed), kernel: () => view };
  const storedChoices = createStoredChoices({
    dataDir: parts.home.dataDir,
    choices,
    clock: options.clock,
    log: log.logger('kernel'),
    reported: (id) => ground.bus.publish('choices', { extension: id }),
  });
  const lifecycle = createLifecycle(parts, wiring, installed, {
    clock: options.clock,
    log,
    settled: relay.poke,
    choose: storedChoices.set,
    attempt: async (id) => storedChoices.attempt(id),
    latest: async (id) => (await ground.installation.linked(id)) ?? newest(id),
    trials: ground.installation.trials,
    processOf: ground.thirdParties.processOf,
    storedBy: footing.quotas.stored,
    forgiven: ground.thirdParties.forgive,
    // A new build may bring settings of its own.
    adopted: async () => void (await config.reload()),
    intents: () => ({ choices: storedChoices.all(), ...extensionSettings(config), preset: { name: preset.name, ...preset.preset } }),
  });
  ground.unhandled.attach(lifecycle, wiring.strikes, wiring.hooks);
  const settings = applierOf({
    ...parts,
    lifecycle,
    deliver: (sections) => wiring.events.emit('config.changed', { sections }),
    started: { listen: ground.listen, databaseUrl: ground.databaseUrl, port: options.port },
  });
  const view: api.KernelView = createKernelView({
    ...parts,
    version: ground.release.version,
    startedAt: ground.startedAt,
    presetName: preset.name,
    lifecycle,
    installed,
    tools: wiring.tools,
    slashCommands: wiring.slashCommands,
    requiredSecurity: () => requiredSecurity(preset.preset, config),
    address: () => address,
    isReady: () => life.now.phase === 'ready',
    shutdown: onceOnly((reason: string) => options.onShutdown?.(reason)),
    installation: ground.installation,
    settings: createSettingsView({
      ...parts,
      file: parts.home.configFile,
      settings,
      failed: (error) => log.logger('config').error('the settings were saved and could not be brought into force', { error }),
    }),
  });
  const own = kernelContributor();
  for (const id of storedChoices.cutOff()) {
    log.logger('kernel').error('the daemon ended while an extension was being switched on; it is left off', { extension: id });
    lifecycle.leaveOff(id, `the daemon ended while it was being switched on, so it is off. svc ext enable ${id} tries again`);
  }
  const switched = storedChoices.watch(lifecycle);
  own.lifetime.add('watch of what is switched off by file', () => switched.dispose());
  own.lifetime.add('purges', () => parts.purges.close());
  tapProbes(
    own,
    wiring.hooks,
    parts,
    () => view,
    () => ({ host: ground.listen.host, port: address.port, hasKey: ground.keys.hasKey() }),
  );
  return { address, parts, choices, lifecycle, view, settings, own };
}

async function refuseFailedEssentials(lifecycle: Lifecycle, stop: (reason: string) => Promise<void>): Promise<void> {
  const failed = lifecycle.statuses().filter((one) => one.essential && one.state === 'failed');
  if (failed.length === 0) return;
  await stop('an essential extension failed');
  throw daemonErrors.essential_failed(failed.map((one) => `${one.id} (${one.phase ?? 'start'}: ${one.reason})`).join('; '));
}

async function becomeReady(ground: Ground, { address, parts, lifecycle, choices, settings, own }: Kernel): Promise<void> {
  const { home, life, log, release, relay, startedAt } = ground;
  const sweeping = startHousekeeping({ ...parts, relay }, log.logger('kernel'));
  own.lifetime.add('sweep of old runs', () => sweeping.dispose());
  const saved = await watchConfig({ file: home.configFile, clock: parts.clock, log: log.logger('config'), reload: async () => void (await settings.apply('config.toml was saved')) });
  own.lifetime.add('watch of config.toml', () => saved.dispose());
  own.lifetime.add('relay of durable events', () => relay.close());
  // Who is connected was validated by the keys and roles of then.
  ground.wiring.events.on(own, api.AuthChanged, async () => {
    // In the next turn: by then every area that hears it has given up what it knew.
    await new Promise((resolve) => setImmediate(resolve));
    await parts.http.recheckCallers();
  });
  ground.wiring.events.listeners.swap(undefined, own);
  const watch = watchChoices({ clock: parts.clock, log: log.logger('kernel'), bus: ground.bus, choices, lifecycle, isAskable: () => isAskable(ground, lifecycle) });
  own.lifetime.add('watch of choices', () => watch.dispose());
  const trust = watchTrust({ clock: parts.clock, installation: ground.installation, log: log.logger('installer') });
  own.lifetime.add('watch of trust.toml', () => trust.dispose());
  relay.poke();
  const kernelLog = log.logger('kernel');
  // Their runs wait for the end of their own; nobody waits for the rest.
  const survivors = parts.execAdapter.endSurvivors().catch((cause: unknown) => kernelLog.warn('children of an earlier life could not be looked for', { cause }));
  own.lifetime.add('end of children of an earlier life', async () => void (await survivors));
  const { host, port } = address;
  // Whole or not at all: commands read it while it is written.
  await atomicWrite(join(home.home, 'daemon.json'), JSON.stringify({ pid: process.pid, address: host, port, url: urlOf(address), startedAt, version: release.version }));
  life.now = { phase: 'ready', address, lifecycle };
  void parts.hooks.handle(api.KernelReady).call(undefined);
  // Nobody's first answer waits for this.
  for (const { what, path } of await exposedPaths(home)) kernelLog.warn(`${what}.`, { path, fix: 'svc doctor --fix' });
}

const admissionNow = ({ config, databaseUrl, isDatabaseGuessed, preset, life: { now } }: Ground) =>
  now.phase === 'ready' ? admissionOf(config.closed(), missingSecurity(now.lifecycle, preset.preset, config), isDatabaseGuessed && !isDatabaseKept(config, databaseUrl)) : { state: now.phase };

/** Whether areas can be switched over the API as usual. */
const isAskable = (ground: Ground, lifecycle: Lifecycle): boolean => admissionNow(ground).state !== 'closed' && ground.installed.all().some((one) => canSwitch(one) && lifecycle.isActive(one.id));

const daemonOf = (ground: Ground, { address, parts, lifecycle, settings, view }: Kernel, stop: (reason: string) => Promise<void>): Daemon => ({
  url: urlOf(address),
  ...address,
  home: ground.home,
  kernel: view,
  lifecycle,
  services: ground.wiring.services,
  log: ground.log,
  installed: ground.installed,
  parts,
  stop,
  greeting: async () => (await ground.wiring.hooks.handle(api.KernelGreet).call(undefined)).flatMap((row) => row.value ?? []),
  caught: ground.unhandled.caught,
  lastEntered: lastEnteredId,
  reloadConfig: async (why) => void (await settings.apply(why ?? 'asked for')),
});
