/**
 * The composition root: boot and stop, in order (kernel.md K3).
 *
 * B1  The socket opens before anything heavy is loaded; until all is up it says so.
 * B2  One bad setting, extension or file degrades its own part. Only an essential extension that fails stops the boot.
 * B3  Stop is the reverse: not ready, no new work, extensions, workers, storage, log.
 */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as api from '@svc/api';
import { ContributionRegistry, EventHub, type GenerationDeps, HookRegistry, Lifecycle, LiveRegistry, ServiceRegistry, StrikeBook, lastEnteredId } from '@svc/core';
import type { TimerClock } from '@svc/platform/clock/clock';
import { systemClock } from '@svc/platform/clock/clock';
import { systemIds } from '@svc/platform/clock/ids';
import { createConfig } from '@svc/platform/config/config';
import { type Home, resolveHome } from '@svc/platform/config/home';
import type { SectionClaims } from '@svc/platform/config/kernel-sections';
import { isLoopbackName } from '@svc/platform/http/access';
import { createHttp } from '@svc/platform/http/http-server';
import { journalMigrations, journalOwner } from '@svc/platform/journal/journal-migrations';
import { createLog, type Log } from '@svc/platform/log/log';
import { createStreams } from '@svc/platform/streams/streams';
import { choicesMigrations, choicesOwner, openChoices } from './choices.js';
import { daemonErrors } from './errors.js';
import { type ContextParts, createContext } from './extension-context.js';
import { type HomeLock, lockHome } from './home-lock.js';
import { kernelOwner, tapProbes } from './kernel-probes.js';
import { createKernelView } from './kernel-view.js';
import { createDoors, type PartFactories, standardFactories } from './platform-parts.js';
import { type InstalledFiles, type Preset, type Release, readRelease } from './release.js';
import { createStrayHandler } from './stray-errors.js';

/** What extensions are judged against. */
export const API_VERSION = '0.1.0';
const STOP_DRAIN_MS = 10_000;
const EMPTY_PRESET: Preset = { extensions: [], essential: [], required_security: [] };

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

interface Wiring {
  readonly hooks: HookRegistry;
  readonly services: ServiceRegistry;
  readonly events: EventHub;
  readonly tools: ContributionRegistry<api.AnyTool>;
  readonly timers: LiveRegistry;
  readonly ready: LiveRegistry;
  readonly strikes: StrikeBook;
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

async function boot(options: Booting, home: Home, log: Log, lock: HomeLock): Promise<Daemon> {
  const { clock, ids, env } = options;
  const factories = { ...standardFactories, ...options.factories };
  const startedAt = clock.iso();
  const release = await readRelease(options.releaseFile, api);
  const installed = [...release.extensions, ...(options.extra ?? [])];
  const claims = claimsOf(installed);
  const config = createConfig({ file: home.configFile, env, log, sections: () => claims, lastGoodFile: join(home.dataDir, 'config-last-good.json') });
  await makeFolders(home);
  await config.load();

  const strays = createStrayHandler(log.logger('kernel'));
  const wiring = createWiring(clock, strays);
  const streams = createStreams({ clock });
  const state = { phase: 'starting' as 'starting' | 'ready' | 'stopping', address: { host: '', port: 0 } };
  const listen = listenAddress(config, home, options.port);
  refuseOpenNetwork(listen.host, hasKey(env, config));
  const preset = presetOf(release, config);
  let lifecycle: Lifecycle | undefined;
  const http = createHttp({
    access: {
      corsOrigins: () => (config.get('api') as { cors_origins: readonly string[] }).cors_origins,
      hasApiKey: () => hasKey(env, config),
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
    log: log.logger('http'),
    ids,
    clock,
    streams,
    checkReplies: options.checkReplies ?? false,
    gate: () => gateOf(state.phase, config.closed(), missingSecurity(lifecycle, preset.preset, config)),
  });
  state.address = await openPort(http, listen);
  const attached = http.attach();

  const storage = await factories.openStorage({ file: join(home.dataDir, 'svc.db'), clock, log: log.logger('storage'), onEvents: (events) => emitAll(wiring.events, events) });
  await storage.migrate(journalOwner, journalMigrations);
  await storage.migrate(choicesOwner, choicesMigrations);
  const journal = factories.createJournal({ db: storage.dbFor(journalOwner), clock, ids, log: log.logger('journal'), instanceId: ids.uuid(), soleWriter: true });
  const choices = await openChoices(storage.dbFor(choicesOwner), clock);
  const doors = createDoors(factories, { home, env, clock, log, config, hooks: wiring.hooks });

  let view: api.KernelView | undefined;
  const needView = (): api.KernelView => {
    if (!view) throw new Error('the kernel is not up yet');
    return view;
  };
  const parts: ContextParts = { home, env, clock, ids, log, config, claims: () => claims, storage, journal, streams, http, ...doors, ...wiring, kernel: needView, stray: strays.report };
  lifecycle = createLifecycle(parts, wiring, installed, { clock, log, choose: choices.set, intents: () => ({ choices: choices.all, ...extensionSettings(config), preset: { name: preset.name, ...preset.preset } }) });
  strays.attach(lifecycle, wiring.strikes);
  const requestStop = onceOnly((reason: string) => options.onShutdown?.(reason));
  view = createKernelView({ ...parts, version: release.version, startedAt, presetName: preset.name, lifecycle, installed, tools: wiring.tools, address: () => state.address, isReady: () => state.phase === 'ready', shutdown: requestStop });
  const own = kernelOwner();
  tapProbes(own, wiring.hooks, parts, needView, () => ({ host: listen.host, hasKey: hasKey(env, config) }));

  await lifecycle.boot();
  await attached;
  const failed = lifecycle.statuses().filter((one) => one.essential && one.state === 'failed');
  const stop = onceOnly(async (reason: string) => stopDaemon(reason, { state, lifecycle, parts, wiring, lock, home }));
  if (failed.length > 0) {
    await stop('an essential extension failed');
    throw daemonErrors.essential_failed(failed.map((one) => `${one.id} (${one.phase ?? 'start'}: ${one.reason})`).join('; '));
  }
  state.phase = 'ready';
  const url = urlOf(state.address);
  await writeFile(join(home.home, 'daemon.json'), JSON.stringify({ pid: process.pid, address: state.address.host, port: state.address.port, url, startedAt, version: release.version }));
  void wiring.hooks.slot('kernel.ready')?.call(undefined);
  return {
    url,
    ...state.address,
    home,
    kernel: view,
    lifecycle,
    services: wiring.services,
    log,
    parts,
    stop,
    greeting: async () => (await needHook(wiring.hooks, 'kernel.greet').call(undefined)).flatMap((row) => row.value ?? []),
    caught: strays.caught,
    lastEntered: lastEnteredId,
    reloadConfig: async () => {
      const { changed } = await config.reload();
      await wiring.hooks.slot('config.changed')?.call({ sections: changed });
      wiring.events.emit('config.changed', { sections: changed });
      await lifecycle.converge();
    },
  };
}

function createWiring(clock: TimerClock, strays: ReturnType<typeof createStrayHandler>): Wiring {
  return {
    hooks: new HookRegistry(api.kernelHooks, { strike: (owner, hook, error) => strays.strike(owner, hook, error), timing: () => undefined }),
    services: new ServiceRegistry(),
    events: new EventHub({ failed: (owner, event, error) => strays.report(owner, `event ${event}`, error), dropped: (owner, event) => strays.report(owner, `event ${event}`, new Error('the listener fell behind and an event was dropped')) }),
    tools: new ContributionRegistry<api.AnyTool>('tool', {
      describe: (tool) => tool.name,
      check: (candidate, others) => {
        const other = others.find((row) => row.value.name === candidate.value.name);
        if (other) throw new Error(`the tool ${candidate.value.name} is already contributed by ${other.owner.id}`);
      },
    }),
    timers: new LiveRegistry('timer'),
    ready: new LiveRegistry('run listener'),
    strikes: new StrikeBook(() => clock.now()),
  };
}

function createLifecycle(parts: ContextParts, wiring: Wiring, installed: readonly InstalledFiles[], rest: Pick<ConstructorParameters<typeof Lifecycle>[0], 'choose' | 'intents'> & { clock: TimerClock; log: Log }): Lifecycle {
  const byId = new Map(installed.map((one) => [one.id, one]));
  const generations: GenerationDeps = {
    // Services last: whoever is called through one finds its routes, tools and timers in place.
    registries: [wiring.hooks.definitions, wiring.hooks.taps, parts.http.routes, parts.http.sockets, wiring.tools, wiring.events.listeners, wiring.services.provided, wiring.timers, wiring.ready],
    createContext: (owner, one) => createContext(parts, owner, byId.get(one.id) as InstalledFiles), // only installed ones are ever started
    migrate: async (one, definition) => {
      if (definition.migrations?.length) await parts.storage.migrate({ id: one.id, tables: one.manifest.tables ?? [] }, definition.migrations, one.contributions.migrations);
    },
  };
  return new Lifecycle(
    {
      ...generations,
      apiVersion: API_VERSION,
      strikes: wiring.strikes,
      choose: rest.choose,
      intents: rest.intents,
      wanted: (one) => one.manifest.when === undefined || Boolean(pointer(parts, one.manifest.when)),
      clock: rest.clock,
      log: rest.log.logger('kernel'),
      changed: (id, state) => wiring.events.emit('extension.changed', { id, state }),
      later: (ms, fn) => rest.clock.schedule(ms, fn),
    },
    installed,
  );
}

/** `/prompt_intelligence/enabled` → the value of that setting; undefined when nobody claims the section. */
function pointer(parts: ContextParts, path: string): unknown {
  const [section, ...rest] = path.slice(1).split('/');
  if (section === undefined || !(section in parts.claims() || `/${section}` in parts.claims())) return undefined;
  let value: unknown = parts.config.get(section in parts.claims() ? section : `/${section}`);
  for (const key of rest) value = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined;
  return value;
}

interface Stopping {
  readonly state: { phase: 'starting' | 'ready' | 'stopping' };
  readonly lifecycle: Lifecycle;
  readonly parts: ContextParts;
  readonly wiring: Wiring;
  readonly lock: HomeLock;
  readonly home: Home;
}

async function stopDaemon(reason: string, { state, lifecycle, parts, wiring, lock, home }: Stopping): Promise<void> {
  state.phase = 'stopping';
  parts.log.logger('kernel').info('stopping', { reason });
  parts.http.stopAccepting();
  await Promise.resolve(wiring.hooks.slot('kernel.stop')?.call({ reason })).catch((cause: unknown) => parts.log.logger('kernel').warn('a tap of kernel.stop failed', { cause }));
  // What waits for an answer gets it while runs come to their next step; then streams are told to reconnect.
  await Promise.all([lifecycle.stopAll('shutdown', STOP_DRAIN_MS), parts.http.close(STOP_DRAIN_MS)]);
  parts.streams.close();
  await parts.execDoor.close();
  await parts.fetchDoor.close();
  await parts.workers.close();
  await parts.journal.close();
  await parts.storage.close();
  await rm(join(home.home, 'daemon.json'), { force: true });
  await parts.log.close();
  await lock.release();
}

function gateOf(phase: 'starting' | 'ready' | 'stopping', closed: readonly string[], missing: readonly string[]): { state: 'starting' | 'ready' | 'stopping' | 'closed'; reason?: string } {
  if (phase !== 'ready') return { state: phase };
  if (closed.length > 0) return { state: 'closed', reason: `the setting ${closed.join(', ')} is not valid.` };
  if (missing.length > 0) return { state: 'closed', reason: `${missing.join(', ')} is not active.` };
  return { state: 'ready' };
}

/** `[security] required` names installed areas without which nothing but public routes may answer; the preset says which by default. */
function missingSecurity(lifecycle: Lifecycle | undefined, preset: Preset, config: { get(section: string): unknown }): readonly string[] {
  const own = (config.get('security') as { required: readonly string[] }).required;
  return (own.length > 0 ? own : preset.required_security).filter((id) => !lifecycle?.isActive(id));
}

function claimsOf(installed: readonly InstalledFiles[]): SectionClaims {
  const claims: Record<string, { schema: unknown; owner: string }> = {};
  for (const one of installed) for (const [section, schema] of Object.entries(one.contributions.config)) claims[section] = { schema, owner: one.id };
  return claims;
}

function presetOf(release: Release, config: { get(section: string): unknown }): { name: string; preset: Preset } {
  const { preset: name } = config.get('extensions') as { preset: string };
  return { name, preset: release.presets[name] ?? EMPTY_PRESET };
}

function extensionSettings(config: { get(section: string): unknown }): { configEnable: readonly string[]; configDisable: readonly string[] } {
  const { enable, disable } = config.get('extensions') as { enable: readonly string[]; disable: readonly string[] };
  return { configEnable: enable, configDisable: disable };
}

function listenAddress(config: { get(section: string): unknown }, home: Home, port: number | undefined): { host: string; port: number } {
  const text = home.listen ?? (config.get('api') as { listen_addr: string }).listen_addr;
  const colon = text.lastIndexOf(':');
  return { host: text.slice(0, colon).replace(/^\[|\]$/g, ''), port: port ?? home.port ?? Number(text.slice(colon + 1)) };
}

function refuseOpenNetwork(host: string, hasApiKey: boolean): void {
  if (!isLoopbackName(host) && !hasApiKey) throw daemonErrors.open_to_network(host);
}

function hasKey(env: Readonly<Record<string, string | undefined>>, config: { get(section: string): unknown }): boolean {
  const users = config.get('/users') as readonly unknown[] | undefined;
  return Boolean(env.SVC_API_KEY) || Boolean(config.get('/api_key')) || Boolean(config.get('/api_key_hash')) || (users?.length ?? 0) > 0;
}

async function openPort(http: { listen(where: { host: string; port: number }): Promise<{ address: string; port: number }> }, where: { host: string; port: number }): Promise<{ host: string; port: number }> {
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

const needHook = <N extends api.HookName>(hooks: HookRegistry, name: N) =>
  // The registry is generic; the name fixes the type.
  hooks.handle(name) as api.HookHandle<api.HookMap[N] extends api.AnyHook ? api.HookMap[N] : never>;

const emitAll = (hub: EventHub, events: ReadonlyArray<{ event: string; data: unknown }>): void => {
  for (const { event, data } of events) hub.emit(event, data);
};

const urlOf = ({ host, port }: { host: string; port: number }): string => `http://${host.includes(':') ? `[${host}]` : host}:${port}`;

function onceOnly<A, R>(fn: (arg: A) => R): (arg: A) => R {
  let result: { value: R } | undefined;
  return (arg) => {
    result ??= { value: fn(arg) };
    return result.value;
  };
}
