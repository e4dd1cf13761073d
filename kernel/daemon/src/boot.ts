/**
 * The composition root: boot and stop, in order (kernel.md K3).
 *
 * B1  The socket opens before anything heavy is loaded; until all is up it says so.
 * B2  One bad setting, extension or file degrades its own part. Only an essential extension that fails stops the boot.
 * B3  Stop is the reverse (shutdown.ts).
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as api from '@svc/api';
import { type Lifecycle, type Owner, type ServiceRegistry, lastEnteredId } from '@svc/core';
import type { TimerClock } from '@svc/platform/clock/clock';
import { systemClock } from '@svc/platform/clock/clock';
import { systemIds } from '@svc/platform/clock/ids';
import { type Config, createConfig } from '@svc/platform/config/config';
import { type Home, resolveHome } from '@svc/platform/config/home';
import type { SectionClaims } from '@svc/platform/config/kernel-sections';
import { createHttp, type Http } from '@svc/platform/http/http-server';
import { journalMigrations, journalOwner } from '@svc/platform/journal/journal-migrations';
import { createLog, type Log } from '@svc/platform/log/log';
import { createStreams } from '@svc/platform/streams/streams';
import { watchChoices } from './choice-watch.js';
import { type Choices, kernelMigrations, kernelTables, openChoices } from './choices.js';
import { canSwitch } from './consequences.js';
import { claimsOf, extensionSettings, gateOf, hasKey, listenAddress, missingSecurity, presetOf, refuseOpenNetwork, requiredSecurity } from './daemon-settings.js';
import { createDurableRelay, type DurableRelay } from './durable-relay.js';
import { daemonErrors } from './errors.js';
import type { ContextParts } from './extension-context.js';
import { type HomeLock, lockHome } from './home-lock.js';
import { startHousekeeping } from './housekeeping.js';
import { kernelOwner, tapProbes } from './kernel-probes.js';
import { createKernelView } from './kernel-view.js';
import { createDoors, type PartFactories, type PlatformParts, standardFactories } from './platform-parts.js';
import { type InstalledFiles, type Preset, type Release, readRelease } from './release.js';
import { stopDaemon } from './shutdown.js';
import { createStrayHandler, type StrayHandler } from './stray-errors.js';
import { createLifecycle, createWiring, needHook, type Wiring } from './wiring.js';

export interface BootOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** dist/release.json of the build that runs. */
  readonly releaseFile: string;
  /** Lines on the terminal as well as in the file. */
  readonly foreground: boolean;
  readonly logTerminal?: boolean;
  readonly clock?: TimerClock;
  readonly ids?: api.Ids;
  /** Extensions beside the release's. */
  readonly extra?: readonly InstalledFiles[];
  readonly factories?: Partial<PartFactories>;
  /** Hold replies to their schemas. */
  readonly checkReplies?: boolean;
  /** Port 0 lets the system choose. */
  readonly port?: number;
  /** Called once when somebody asked the daemon to stop. */
  readonly onShutdown?: (reason: string) => void;
}

export interface Daemon {
  readonly url: string;
  readonly host: string;
  readonly port: number;
  readonly home: Home;
  readonly kernel: api.KernelView;
  readonly lifecycle: Lifecycle;
  readonly services: ServiceRegistry;
  readonly log: Log;
  readonly installed: readonly InstalledFiles[];
  readonly parts: ContextParts;
  /** Lines that areas have for whoever starts the daemon. */
  greeting(): Promise<api.GreetingLine[]>;
  /** Takes an error that nobody caught; false when no extension's code was running. */
  caught(error: unknown): boolean;
  /** The extension whose code was entered last. */
  lastEntered(): string | undefined;
  reloadConfig(): Promise<void>;
  stop(reason: string): Promise<void>;
}

export async function bootDaemon(options: BootOptions): Promise<Daemon> {
  const clock = options.clock ?? systemClock();
  const home = resolveHome(options.env);
  const lock = await lockHome(home.home);
  const log = createLog({ dir: home.logDir, level: 'info', clock, terminal: options.foreground && (options.logTerminal ?? true), env: options.env });
  try {
    return await boot({ ...options, clock, ids: options.ids ?? systemIds() }, home, log, lock);
  } catch (error) {
    await log.close();
    await lock.release();
    throw error;
  }
}

type Booting = BootOptions & { readonly clock: TimerClock; readonly ids: api.Ids };

/** What stands before the port is open. */
interface Ground {
  readonly options: Booting;
  readonly factories: PartFactories;
  readonly home: Home;
  readonly log: Log;
  readonly lock: HomeLock;
  readonly startedAt: string;
  readonly release: Release;
  readonly installed: readonly InstalledFiles[];
  readonly claims: SectionClaims;
  readonly config: Config;
  readonly preset: { readonly name: string; readonly preset: Preset };
  readonly listen: { readonly host: string; readonly port: number };
  readonly strays: StrayHandler;
  readonly wiring: Wiring;
  readonly relay: DurableRelay;
  readonly state: { phase: 'starting' | 'ready' | 'stopping'; address: { host: string; port: number }; lifecycle: Lifecycle | undefined; view: api.KernelView | undefined };
}

async function boot(options: Booting, home: Home, log: Log, lock: HomeLock): Promise<Daemon> {
  const ground = await layGround(options, home, log, lock);
  const streams = createStreams({ clock: options.clock });
  const http = createFace(ground, streams);
  ground.state.address = await openPort(http, ground.listen);
  const attached = http.attach();
  try {
    const { parts, choices } = await openParts(ground, http, streams);
    const own = startKernel(ground, parts, choices);
    const { lifecycle, view } = ground.state;
    if (!lifecycle || !view) throw new Error('the kernel did not come up');
    const stop = onceOnly(async (reason: string) => stopDaemon(reason, { state: ground.state, lifecycle, parts, lock, own }));
    await lifecycle.boot();
    await attached;
    await refuseFailedEssentials(lifecycle, stop);
    await becomeReady(ground, parts, choices, own);
    return daemonOf(ground, parts, lifecycle, view, stop);
  } catch (error) {
    http.stopAccepting();
    await http.close(0);
    throw error;
  }
}

async function layGround(options: Booting, home: Home, log: Log, lock: HomeLock): Promise<Ground> {
  const { clock, env } = options;
  const release = await readRelease(options.releaseFile, api);
  const installed = [...release.extensions, ...(options.extra ?? [])];
  const claims = claimsOf(installed);
  const config = createConfig({ file: home.configFile, env, log, sections: () => claims, lastGoodFile: join(home.dataDir, 'config-last-good.json') });
  await makeFolders(home);
  await config.load();
  const listen = listenAddress(config, home, options.port);
  refuseOpenNetwork(listen.host, hasKey(env, config));
  const strays = createStrayHandler(log.logger('kernel'));
  const wiring: Wiring = createWiring(clock, strays, (id, event) => relay.isDurable(id, event));
  const relay = createDurableRelay({ installed, hub: wiring.events, clock, log: log.logger('events') });
  const state: Ground['state'] = { phase: 'starting', address: { host: '', port: 0 }, lifecycle: undefined, view: undefined };
  return {
    options,
    factories: { ...standardFactories, ...options.factories },
    home,
    log,
    lock,
    startedAt: clock.iso(),
    release,
    installed,
    claims,
    config,
    preset: presetOf(release, config),
    listen,
    strays,
    wiring,
    relay,
    state,
  };
}

function createFace(ground: Ground, streams: PlatformParts['streams']): Http {
  const { config, listen, options, wiring } = ground;
  return createHttp({
    access: {
      corsOrigins: () => (config.get('api') as { cors_origins: readonly string[] }).cors_origins,
      hasApiKey: () => hasKey(options.env, config),
      listenHost: () => listen.host,
      trustedProxies: () => (config.get('/trusted_proxies') as readonly string[] | undefined) ?? [],
    },
    hooks: {
      declare: needHook(wiring.hooks, 'route.declare'),
      admit: needHook(wiring.hooks, 'http.admit'),
      authenticate: needHook(wiring.hooks, 'http.authenticate'),
      authorize: needHook(wiring.hooks, 'http.authorize'),
      upgrade: needHook(wiring.hooks, 'socket.upgrade'),
    },
    log: ground.log.logger('http'),
    ids: options.ids,
    clock: options.clock,
    streams,
    checkReplies: options.checkReplies ?? false,
    gate: () => gateNow(ground),
  });
}

async function openParts(ground: Ground, http: Http, streams: PlatformParts['streams']): Promise<{ parts: ContextParts; choices: Choices }> {
  const { config, factories, home, log, relay, state, wiring } = ground;
  const { clock, env, ids } = ground.options;
  const storage = await factories.openStorage({
    file: join(home.dataDir, 'svc.db'),
    clock,
    log: log.logger('storage'),
    storeEvent: relay.isStored,
    onEvents: (events) => {
      for (const { event, data } of events) wiring.events.emit(event, data);
      relay.poke();
    },
  });
  await storage.migrate(journalOwner, journalMigrations);
  await storage.migrate(kernelTables, kernelMigrations);
  const journal = factories.createJournal({ db: storage.dbFor(journalOwner), clock, ids, log: log.logger('journal'), instanceId: ids.uuid(), soleWriter: true });
  const own = storage.dbFor(kernelTables);
  const choices = await openChoices(own, clock);
  await relay.open(own);
  const doors = createDoors(factories, { home, env, clock, log, config, hooks: wiring.hooks });
  const kernel = (): api.KernelView => {
    if (!state.view) throw new Error('the kernel is not up yet');
    return state.view;
  };
  return { choices, parts: { home, env, clock, ids, log, config, claims: () => ground.claims, storage, journal, streams, http, ...doors, ...wiring, kernel, stray: ground.strays.report } };
}

/** Fills `state.lifecycle` and `state.view`; gives the kernel as an owner of what it opens itself. */
function startKernel(ground: Ground, parts: ContextParts, choices: Choices): Owner {
  const { config, installed, log, options, preset, relay, state, wiring } = ground;
  const lifecycle = createLifecycle(parts, wiring, installed, {
    clock: options.clock,
    log,
    settled: relay.poke,
    choose: choices.set,
    intents: () => ({ choices: choices.all, ...extensionSettings(config), preset: { name: preset.name, ...preset.preset } }),
  });
  ground.strays.attach(lifecycle, wiring.strikes, wiring.hooks);
  const view = createKernelView({
    ...parts,
    version: ground.release.version,
    startedAt: ground.startedAt,
    presetName: preset.name,
    lifecycle,
    installed,
    tools: wiring.tools,
    requiredSecurity: () => requiredSecurity(preset.preset, config),
    address: () => state.address,
    isReady: () => state.phase === 'ready',
    shutdown: onceOnly((reason: string) => options.onShutdown?.(reason)),
  });
  state.lifecycle = lifecycle;
  state.view = view;
  const own = kernelOwner();
  tapProbes(
    own,
    wiring.hooks,
    parts,
    () => view,
    () => ({ host: ground.listen.host, hasKey: hasKey(options.env, config) }),
  );
  return own;
}

async function refuseFailedEssentials(lifecycle: Lifecycle, stop: (reason: string) => Promise<void>): Promise<void> {
  const failed = lifecycle.statuses().filter((one) => one.essential && one.state === 'failed');
  if (failed.length === 0) return;
  await stop('an essential extension failed');
  throw daemonErrors.essential_failed(failed.map((one) => `${one.id} (${one.phase ?? 'start'}: ${one.reason})`).join('; '));
}

async function becomeReady(ground: Ground, parts: ContextParts, choices: Choices, own: Owner): Promise<void> {
  const { home, log, release, relay, startedAt, state } = ground;
  const { lifecycle } = state;
  const sweeping = startHousekeeping(parts, log.logger('kernel'));
  own.lifetime.add('sweep of old runs', () => sweeping.dispose());
  own.lifetime.add('relay of durable events', () => relay.close());
  // Who is connected was judged by the keys and roles of then.
  ground.wiring.events.facade(own).on('auth.changed', () => parts.http.judgeCallers());
  ground.wiring.events.listeners.swap(undefined, own);
  if (lifecycle) {
    const watch = watchChoices({ clock: parts.clock, log: log.logger('kernel'), choices, lifecycle, isAskable: () => isAskable(ground, lifecycle) });
    own.lifetime.add('watch of choices', () => watch.dispose());
  }
  relay.poke();
  state.phase = 'ready';
  const { host, port } = state.address;
  await writeFile(join(home.home, 'daemon.json'), JSON.stringify({ pid: process.pid, address: host, port, url: urlOf(state.address), startedAt, version: release.version }));
  void parts.hooks.slot('kernel.ready')?.call(undefined);
}

const gateNow = ({ config, preset, state }: Ground) => gateOf(state.phase, config.closed(), missingSecurity(state.lifecycle, preset.preset, config));

/** Whether areas can be switched over the API as usual. */
const isAskable = (ground: Ground, lifecycle: Lifecycle): boolean => gateNow(ground).state !== 'closed' && ground.installed.some((one) => canSwitch(one) && lifecycle.isActive(one.id));

const daemonOf = (ground: Ground, parts: ContextParts, lifecycle: Lifecycle, kernel: api.KernelView, stop: (reason: string) => Promise<void>): Daemon => ({
  url: urlOf(ground.state.address),
  ...ground.state.address,
  home: ground.home,
  kernel,
  lifecycle,
  services: ground.wiring.services,
  log: ground.log,
  installed: ground.installed,
  parts,
  stop,
  greeting: async () => (await needHook(ground.wiring.hooks, 'kernel.greet').call(undefined)).flatMap((row) => row.value ?? []),
  caught: ground.strays.caught,
  lastEntered: lastEnteredId,
  reloadConfig: async () => {
    const { changed } = await ground.config.reload();
    await ground.wiring.hooks.slot('config.changed')?.call({ sections: changed });
    ground.wiring.events.emit('config.changed', { sections: changed });
    await lifecycle.converge();
  },
});

async function openPort(
  http: { listen(where: { host: string; port: number }): Promise<{ address: string; port: number }> },
  where: { host: string; port: number },
): Promise<{ host: string; port: number }> {
  try {
    const bound = await http.listen(where);
    return { host: bound.address, port: bound.port };
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'unknown';
    throw (code === 'EADDRINUSE' ? daemonErrors.port_in_use(where.host, where.port) : daemonErrors.port_refused(where.host, where.port, code)).with({ cause });
  }
}

async function makeFolders(home: Home): Promise<void> {
  await mkdir(home.dataDir, { recursive: true, mode: 0o700 }).catch((cause: NodeJS.ErrnoException) => {
    throw daemonErrors.home_unwritable(home.home, cause.code ?? 'unknown').with({ cause });
  });
}

const urlOf = ({ host, port }: { host: string; port: number }): string => `http://${host.includes(':') ? `[${host}]` : host}:${port}`;

function onceOnly<A, R>(fn: (arg: A) => R): (arg: A) => R {
  let result: { value: R } | undefined;
  return (arg) => {
    result ??= { value: fn(arg) };
    return result.value;
  };
}
