/**
 * A context that only writes down what an extension registers.
 *
 * `activate` registers and causes no effect, so every door here is inert: it can be
 * kept, read and called, and does nothing. What counts is what arrives in `seen`.
 */

/** Anything at all: a function whose members and results are itself, which no `await` waits for. */
const inert = new Proxy(() => inert, {
  get: (_target, key) => (key === 'then' || typeof key === 'symbol' ? undefined : inert),
  apply: () => inert,
});

const disposable = Object.freeze({ dispose: () => undefined });
const register = (list) => ({
  add: (...declarations) => {
    list.push(...declarations);
    return disposable;
  },
});
const withMembers = (members) => new Proxy(members, { get: (target, key) => (key in target || key === 'then' ? target[key] : inert) });

/** What a section holds when a person wrote nothing: the defaults that stand in its schema. */
export const schemaDefaults = (schema) => {
  if (schema === undefined) return {};
  if ('default' in schema) return structuredClone(schema.default);
  if (schema.type !== 'object' || !schema.properties) return undefined;
  const filled = Object.entries(schema.properties).map(([key, value]) => [key, schemaDefaults(value)]);
  return Object.fromEntries(filled.filter(([, value]) => value !== undefined));
};

const recordedHooks = (seen) => ({
  tap: (name, _fn, options) => {
    seen.taps.push({ name, stage: options?.stage });
    return disposable;
  },
  define: (name) => {
    seen.defined.push(name);
    return { call: async (value) => value, isEmpty: () => true };
  },
  use: () => ({ call: async (value) => value, isEmpty: () => true }),
});

const recordedServices = (seen) => ({
  provide: (name) => {
    seen.provided.push(name);
    return disposable;
  },
  require: () => inert,
  optional: () => ({ value: undefined, onChange: () => disposable }),
});

const recordedTimers = (seen) => {
  const record = (kind) => (name, ms) => {
    seen.timers.push({ name, [kind]: ms });
    return disposable;
  };
  return { every: record('everyMs'), after: record('afterMs') };
};

/** A context for one extension and the lists that fill while it activates. */
export const recordingContext = ({ id, version, config }) => {
  const seen = { routes: [], sockets: [], tools: [], timers: [], taps: [], defined: [], provided: [] };
  const signal = new AbortController().signal;
  const ctx = {
    id,
    version,
    generation: 0,
    signal,
    log: { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined },
    config: { get: (section) => schemaDefaults(config?.[section] ?? config?.[`/${section}`]), onChange: () => disposable },
    routes: register(seen.routes),
    sockets: register(seen.sockets),
    tools: register(seen.tools),
    hooks: recordedHooks(seen),
    services: recordedServices(seen),
    events: { event: (name, data) => ({ event: name, data }), publish: () => undefined, on: () => disposable },
    journal: withMembers({ onReady: () => disposable }),
    timers: recordedTimers(seen),
    db: withMembers({ table: (name) => `${id.replaceAll('-', '_')}_${name}` }),
    env: () => undefined,
    clock: withMembers({ now: () => 0, iso: () => new Date(0).toISOString(), mono: () => 0 }),
    ids: withMembers({ uuid: () => '00000000-0000-4000-8000-000000000000', hex: (count) => '00'.repeat(count), bytes: (count) => new Uint8Array(count), random: () => 0 }),
    hold: () => ({ release: () => undefined }),
    onDispose: () => disposable,
  };
  return { ctx: Object.freeze(withMembers(ctx)), seen };
};
