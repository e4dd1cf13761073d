/**
 * An extension whose code is in another process, as the lifecycle of this one knows it: a definition like any other, whose
 * handlers ask the process. It is mounted from contributions.json; the process starts with the first call.
 *
 * R1  Nothing is registered that contributions.json does not say, and the process is held to it when it starts.
 * R2  What the process answers is data; what it may ask goes through the context of its own extension.
 */
import {
  type AnyTool,
  type ExtensionContext,
  type ExtensionDefinition,
  isTable,
  NotReady,
  type Req,
  type RouteDecl,
  type ServiceDecl,
  type SlashAnswer,
  type SlashCall,
  type SlashCommand,
  type SlashCommandFacts,
  type ToolCall,
  type ToolOutput,
  Type,
} from '@svc/api';
import { declaredAs, type Manifest } from '@svc/api/internal';
import type { AllContributions } from '@svc/installer/contributions';
import { holdsBytes, isAsyncIterable } from '../channel/packed.js';
import {
  numbered,
  declaredCapabilities,
  declaredConfig,
  declaredEvents,
  declaredMigrations,
  declaredRoutes,
  declaredServices,
  declaredSlashCommands,
  declaredTables,
  declaredTaps,
  declaredTools,
} from './declared.js';
import { isolationErrors } from '../errors.js';
import type { Init, Registered, WireRequest } from '../protocol.js';
import { Supervisor, type SupervisorDeps } from '../supervisor/supervisor.js';
import { HandedActors } from './actors.js';
import { DaemonAdapters } from './daemon-adapters.js';
import { replyOf, withoutCredentials } from './replies.js';

export interface RemoteExtension {
  readonly id: string;
  readonly version: string;
  readonly manifest: Manifest;
  readonly contributions: AllContributions;
  /** Absolute path of the bundle, in the folder that the process may read. */
  readonly bundle: string;
  /** Of the bundle as it was installed; undefined for a folder in development. */
  readonly sha256?: string;
}

export interface RemoteHost extends Omit<SupervisorDeps, 'ctx' | 'connect'> {
  /** Whether the kernel made this object an actor for whom others may act. */
  isActor(value: object): boolean;
  /** True where a person waits for the outcome: the process is started and looked at before its extension counts as active. */
  isTried(): boolean;
}

const ROUTE_DEADLINE_MS = 120_000;
const EVENT_DEADLINE_MS = 60_000;
const TIMER_DEADLINE_MS = 600_000;
const START_DEADLINE_MS = 15_000;
const TOOL_DEADLINE_MS = 120_000;
const SLASH_DEADLINE_MS = 10_000;

export const remoteDefinition = (extension: RemoteExtension, host: RemoteHost): ExtensionDefinition => {
  const { contributions } = extension;
  let supervisor: Supervisor | undefined;
  return {
    tables: declaredTables(contributions),
    capabilities: declaredCapabilities(contributions),
    migrations: declaredMigrations(contributions),
    config: declaredConfig(contributions),
    activate: (ctx) => {
      supervisor = mount(extension, host, ctx);
    },
    start: async () => {
      if (supervisor && (host.isTried() || isKept(extension))) await supervisor.ensure();
    },
    stop: async (why) => supervisor?.stop(why),
  };
};

/** A hook gives its taps half a second or two: no process starts within that for sure, so one that taps is there from the start and does not rest. */
const isKept = ({ contributions, manifest }: RemoteExtension): boolean => manifest.activation === 'onStartup' || contributions.taps.length > 0;

const mount = (extension: RemoteExtension, host: RemoteHost, ctx: ExtensionContext): Supervisor => {
  const { contributions, manifest } = extension;
  const requests = new Map<string, Req>();
  const actors = new HandedActors(host.isActor);
  const events = declaredEvents(contributions);
  const services = servicesOf(ctx, manifest);
  const supervisor = new Supervisor({
    ...host,
    limits: isKept(extension) ? { ...host.limits, restMs: Number.POSITIVE_INFINITY } : host.limits,
    ctx,
    connect: (busy) => new DaemonAdapters({ ctx, actors, requests, events, busy, reportUnhandled: (place, message) => host.reportUnhandled(place, new Error(message)) }),
    begin: async (call) => {
      const init = initOf(extension, ctx, services.there());
      const { hasStart } = compare(contributions, await call('init', [init]));
      if (hasStart) await call('start', [], START_DEADLINE_MS).catch(asNotReady);
    },
  });
  const ask = (to: string, args: readonly unknown[], terms: { signal?: AbortSignal; deadlineMs?: number; label: string }): Promise<unknown> => {
    return actors.during(args, async () => actors.known(await supervisor.call(to, args, terms)));
  };
  ctx.routes.add(...declaredRoutes(contributions).map((route) => remoteRoute(route, requests, ask)));
  ctx.tools.add(...declaredTools(contributions).map((tool) => remoteTool(tool, ask)));
  ctx.slashCommands.add(...declaredSlashCommands(contributions).map((command) => remoteSlashCommand(command, ask)));
  for (const { hook, nth, ...options } of declaredTaps(contributions)) {
    // The kind of the hook decides what stands before the control, which is always last.
    const tap = (...args: unknown[]): Promise<unknown> =>
      ask('tap', [declaredAs(hook), nth, args.slice(0, -1)], { signal: (args.at(-1) as { signal: AbortSignal }).signal, label: `${extension.id} at ${hook.name}` });
    ctx.hooks.tap(hook, tap as never, options);
  }
  const provided = new Set(Object.entries(manifest.provides ?? {}).flatMap(([name, versions]) => [versions].flat().map((version) => `${name}@${version}`)));
  for (const service of declaredServices(contributions)) if (provided.has(`${service.name}@${service.version}`)) ctx.services.provide(service, remoteService(service, ask) as never);
  for (const name of manifest.events?.listens ?? []) {
    ctx.events.on({ declares: 'event', name, version: '1.0.0', data: Type.Unknown() }, async (data) => {
      await ask('event', [name, data], { deadlineMs: EVENT_DEADLINE_MS, label: `${extension.id} at the event ${name}` });
    });
  }
  for (const { name, everyMs, afterMs } of contributions.timers) {
    const tick = async (): Promise<void> => void (await ask('timer', [name], { deadlineMs: TIMER_DEADLINE_MS, label: `the timer ${name} of ${extension.id}` }));
    if (everyMs !== undefined) ctx.timers.every(name, everyMs, tick);
    else if (afterMs !== undefined) ctx.timers.after(name, afterMs, tick);
  }
  for (const config of declaredConfig(contributions)) ctx.config.onChange(config, () => supervisor.notify('config', [config.section, ctx.config.get(config)]));
  services.onChange((name, isThere) => supervisor.notify('service', [name, isThere]));
  return supervisor;
};

type Ask = (to: string, args: readonly unknown[], terms: { signal?: AbortSignal; deadlineMs?: number; label: string }) => Promise<unknown>;

const remoteRoute = (route: Omit<RouteDecl, 'handler'>, requests: Map<string, Req>, ask: Ask): RouteDecl => ({
  ...route,
  handler: async (given) => {
    const req: Req = given;
    const { id, method, path, params, query, body, headers, actor, ip, network, isSecure, page, stream, signal } = req;
    const name = `${route.method} ${route.path}`;
    const wire: WireRequest = { route: name, id, method, path, params, query, body, headers: withoutCredentials(headers), actor, ip, network, isSecure, page, ...(route.streamBody ? { stream } : {}) };
    requests.set(id, req);
    try {
      return replyOf(await ask('route', [wire], { signal, deadlineMs: ROUTE_DEADLINE_MS, label: name }));
    } finally {
      requests.delete(id);
    }
  },
});

const remoteTool = (tool: Omit<AnyTool, 'run'>, ask: Ask): AnyTool => ({
  ...tool,
  run: async (args, call: ToolCall) => {
    const { signal, log: _log, ...facts } = call;
    const output = await ask('tool', [tool.name, args, facts], { signal, deadlineMs: tool.timeoutMs ?? TOOL_DEADLINE_MS, label: `the tool ${tool.name}` });
    if (holdsBytes(output)) throw isolationErrors.not_plain('bytes in the output of a tool');
    // What a tool answers is validated by whoever called it.
    return output as ToolOutput | string;
  },
});

const remoteSlashCommand = (command: SlashCommandFacts, ask: Ask): SlashCommand => ({
  ...command,
  run: async (call: SlashCall) => {
    const { signal, ...facts } = call;
    // What a command answers is validated by whoever called it.
    return (await ask('slash', [command.name, facts], { signal, deadlineMs: SLASH_DEADLINE_MS, label: `the command /${command.name}` })) as SlashAnswer;
  },
});

const remoteService = (service: ServiceDecl, ask: Ask): object => {
  const name = `${service.name}@${service.version}`;
  const methods = Object.entries(service.methods).map(([method, spec]) => {
    const call = (given: readonly unknown[]): Promise<unknown> =>
      ask('service', [name, method, given.slice(0, spec.args.length)], { signal: (given.at(-1) as { signal: AbortSignal }).signal, label: `${service.name}.${method}` });
    return [method, 'frame' in spec ? (...given: unknown[]) => framesOf(() => call(given)) : (...given: unknown[]) => call(given)];
  });
  return Object.fromEntries(methods);
};

async function* framesOf(open: () => Promise<unknown>): AsyncGenerator<unknown> {
  const frames = await open();
  if (!isAsyncIterable(frames)) throw isolationErrors.not_plain('no stream where one was expected');
  yield* frames;
}

const initOf = ({ id, version, manifest, bundle, contributions, sha256 }: RemoteExtension, ctx: ExtensionContext, services: readonly string[]): Init => ({
  id,
  version,
  generation: ctx.generation,
  bundle,
  ...(sha256 === undefined ? {} : { sha256 }),
  config: Object.fromEntries(declaredConfig(contributions).map((config) => [config.section, ctx.config.get(config)])),
  capabilities: ctx.capabilities.declared(),
  env: Object.fromEntries(
    (manifest.grants ?? []).flatMap(({ grant }) => {
      const value = grant.startsWith('env:') ? ctx.env(grant.slice('env:'.length)) : undefined;
      return value === undefined ? [] : [[grant.slice('env:'.length), value]];
    }),
  ),
  services,
  folders: { data: ctx.files.data.path, cache: ctx.files.cache.path },
});

/** The services that it may use, and news of which of them somebody provides. */
const servicesOf = (ctx: ExtensionContext, manifest: Manifest) => {
  const handles = Object.entries({ ...manifest.requires, ...manifest.optional }).map(([name, range]) => {
    // Only watched: what is called is asked for by the version that the process was built against.
    const decl: ServiceDecl = { declares: 'service', name, version: `${/\d+/.exec(range)?.[0] ?? '1'}.0.0-watched`, methods: {} };
    return { name: declaredAs({ name, version: decl.version }), handle: ctx.services.optional(decl) };
  });
  return {
    there: () => handles.flatMap(({ name, handle }) => (handle.value ? [name] : [])),
    onChange: (fn: (name: string, isThere: boolean) => void) => {
      for (const { name, handle } of handles) handle.onChange((value) => fn(name, value !== undefined));
    },
  };
};

/** R1. What it adds beyond is seen by nobody, and what it lacks would be answered by nobody. */
const compare = (contributions: AllContributions, registered: unknown): { readonly hasStart: boolean } => {
  const { routes, tools, slashCommands, timers, taps, hasStart } = (typeof registered === 'object' && registered !== null ? registered : {}) as Partial<Record<keyof Registered, unknown>>;
  const lists: ReadonlyArray<readonly [what: string, declared: readonly string[], added: unknown]> = [
    ['the route', contributions.routes.map(({ method, path }) => `${String(method)} ${String(path)}`), routes],
    ['the tool', contributions.tools.map(({ name }) => String(name)), tools],
    ['the slash command', declaredSlashCommands(contributions).map(({ name }) => name), slashCommands],
    ['the timer', contributions.timers.map(({ name }) => name), Array.isArray(timers) ? timers.map((timer: unknown) => (isTable(timer) ? timer.name : undefined)) : undefined],
    [
      'a tap of',
      declaredTaps(contributions).map(({ hook, nth }) => tapName(declaredAs(hook), nth)),
      Array.isArray(taps) ? numbered<unknown>(taps, asText).map(({ nth, of }) => tapName(asText(of), nth)) : undefined,
    ],
  ];
  for (const [what, declared, added] of lists) {
    if (!Array.isArray(added)) throw isolationErrors.frame_broken('it does not say what was added');
    // What the process says may be long: each name is looked at once.
    const [expected, found] = [new Set(declared), new Set<unknown>(added)];
    const extra = added.find((name) => !expected.has(name));
    if (extra !== undefined) throw isolationErrors.undeclared(`${what} ${String(extra).slice(0, 200)}`);
    const missing = declared.find((name) => !found.has(name));
    if (missing !== undefined) throw isolationErrors.missing(`${what} ${missing}`);
  }
  return { hasStart: hasStart === true };
};

const asText = (given: unknown): string => (typeof given === 'string' ? given : '');

const tapName = (hook: string, nth: number): string => `${hook} (${nth + 1})`;

/** It asks to be tried again later: that is no failure. */
const asNotReady = (error: unknown): never => {
  throw error instanceof Error && error.name === 'NotReady' ? new NotReady(error.message) : error;
};
