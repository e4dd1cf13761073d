/**
 * A context that only writes down what an extension registers.
 *
 * `activate` registers and causes no effect, so every adapter here is inert: it can be kept, read and called, and does
 * nothing. What counts is what arrives in `seen`.
 */
import type { AnyTool, ConfigDecl, Disposable, ExtensionContext, HookDecl, ProjectionDecl, RouteDecl, ServiceDecl, SlashCommand, SocketDecl, TapOptions } from '@svc/api';

export interface Seen {
  readonly routes: RouteDecl[];
  readonly sockets: SocketDecl[];
  readonly tools: AnyTool[];
  readonly slashCommands: SlashCommand[];
  readonly taps: Array<{ readonly hook: HookDecl; readonly options: TapOptions }>;
  readonly hooks: HookDecl[];
  readonly services: ServiceDecl[];
  readonly projections: ProjectionDecl[];
  readonly timers: Array<{ readonly name: string; readonly everyMs?: number; readonly afterMs?: number }>;
}

export interface Recording {
  readonly ctx: ExtensionContext;
  readonly seen: Seen;
}

/** What a section holds when a person wrote nothing: the defaults that stand in its schema. */
export const schemaDefaults = (schema: unknown): unknown => {
  if (!isRecord(schema)) return {};
  if ('default' in schema) return structuredClone(schema.default);
  if (schema.type !== 'object' || !isRecord(schema.properties)) return undefined;
  const filled = Object.entries(schema.properties).map(([key, value]) => [key, schemaDefaults(value)] as const);
  return Object.fromEntries(filled.filter(([, value]) => value !== undefined));
};

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null;

/** Anything at all: a function whose members and results are itself, which no `await` waits for. */
const inert: object = new Proxy(() => inert, {
  get: (_target, key) => (key === 'then' || typeof key === 'symbol' ? undefined : inert),
  apply: () => inert,
});

const disposable: Disposable = Object.freeze({ dispose: () => undefined });

const register = <T>(list: T[]) => ({
  add: (...declarations: T[]): Disposable => {
    list.push(...declarations);
    return disposable;
  },
});

/** Members that are not listed are inert. */
const withMembers = (members: object): object => new Proxy(members, { get: (target, key) => (Reflect.has(target, key) || key === 'then' ? Reflect.get(target, key) : inert) });

const handle = { call: async (value: unknown) => value, atOnce: (value: unknown) => value, isEmpty: () => true };

const recordedHooks = (seen: Seen) => ({
  tap: (hook: HookDecl, _fn: unknown, options: TapOptions = {}) => {
    seen.taps.push({ hook, options });
    return disposable;
  },
  define: (hook: HookDecl) => {
    seen.hooks.push(hook);
    return handle;
  },
  use: () => handle,
});

const recordedServices = (seen: Seen) => ({
  provide: (decl: ServiceDecl) => {
    seen.services.push(decl);
    return disposable;
  },
  require: () => inert,
  optional: () => ({ value: undefined, onChange: () => disposable }),
});

const recordedStreams = (seen: Seen) => {
  const project = (decl: ProjectionDecl): Disposable => {
    seen.projections.push(decl);
    return disposable;
  };
  return withMembers({ project, answer: project });
};

const recordedTimers = (seen: Seen) => ({
  every: (name: string, everyMs: number) => {
    seen.timers.push({ name, everyMs });
    return disposable;
  },
  after: (name: string, afterMs: number) => {
    seen.timers.push({ name, afterMs });
    return disposable;
  },
});

/** A context for one extension and the lists that fill while it activates. */
export const recordingContext = ({ id, version }: { readonly id: string; readonly version: string }): Recording => {
  const seen: Seen = { routes: [], sockets: [], tools: [], slashCommands: [], taps: [], hooks: [], services: [], projections: [], timers: [] };
  const silent = () => undefined;
  const ctx = withMembers({
    id,
    version,
    generation: 0,
    signal: new AbortController().signal,
    log: { debug: silent, info: silent, warn: silent, error: silent },
    config: { get: ({ schema }: ConfigDecl) => schemaDefaults(schema), onChange: () => disposable },
    routes: register(seen.routes),
    sockets: withMembers(register(seen.sockets)),
    tools: register(seen.tools),
    slashCommands: register(seen.slashCommands),
    capabilities: { declared: () => [] },
    hooks: recordedHooks(seen),
    services: recordedServices(seen),
    events: withMembers({ publish: silent, on: () => disposable }),
    streams: recordedStreams(seen),
    journal: withMembers({ onReady: () => disposable }),
    timers: recordedTimers(seen),
    db: withMembers({ table: (name: string) => `${id.replaceAll('-', '_')}__${name}` }),
    env: silent,
    clock: withMembers({ now: () => 0, iso: () => new Date(0).toISOString(), mono: () => 0 }),
    ids: withMembers({ uuid: () => '00000000-0000-4000-8000-000000000000', hex: (count: number) => '00'.repeat(count), bytes: (count: number) => new Uint8Array(count), random: () => 0 }),
    hold: () => ({ release: silent }),
    onDispose: () => disposable,
  });
  // Whatever is not recorded is inert, and so of every shape.
  return { ctx: Object.freeze(ctx) as ExtensionContext, seen };
};
