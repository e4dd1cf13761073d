/**
 * All MCP servers of this daemon.
 *
 * S1  Servers of the table are for every daemon on the database, each of which connects them itself; those of config.toml cannot be changed here.
 * S2  After the daemon is ready they are connected, four at a time; a server that fails is tried again later, and none holds up another.
 * S3  What the table says counts: what another daemon added, changed or removed is taken over within ten seconds.
 * S4  A removed server leaves no process, no tool and no secret.
 */
import { type Clock, type ConfigHandle, createTurns, isSvcError, type Logger, type Secrets, type Turns } from '@svc/api';
import { createLiveServer, type LiveDeps, type LiveServer } from './client/live-server.js';
import type { ServerTool } from './client/server-tools.js';
import { McpServersSetting } from './config.js';
import { mcpErrors } from './errors.js';
import { envSecret, type GivenValues, headerSecret, readEntry, secretsOf, type ServerEntry, type ServerSpec, VALUE_SECRET } from './server-spec.js';
import type { SignIns } from './sign-in/sign-ins.js';
import { basicOf, clientSecret } from './sign-in/tokens.js';
import { MAX_SERVERS, type ServerStore } from './store.js';
import type { ToolOffer } from './tools.js';

const AT_ONCE = 4;
const SYNC_MS = 10_000;
const LOOK_MS = 60_000;

export interface Servers {
  list(): readonly LiveServer[];
  /** By name, else by template. */
  find(nameOrTemplate: string): LiveServer | undefined;
  isInConfig(name: string): boolean;
  /** What is wrong with entries of config.toml. */
  faults(): readonly string[];
  /** Values that config.toml itself has. */
  given(name: string): GivenValues | undefined;
  /** Throws `mcp_exists`, `mcp_too_many`, `mcp_bad_spec`. */
  add(entry: ServerEntry): Promise<LiveServer>;
  /** Throws `mcp_in_config`. */
  replace(server: LiveServer, entry: ServerEntry): Promise<LiveServer>;
  remove(server: LiveServer): Promise<void>;
  /** Takes over what the table and the settings say. Resolves with what is new, and is being connected. */
  sync(): Promise<readonly LiveServer[]>;
  start(): Promise<void>;
  /** Connects what is due, and asks the others for a sign of life. */
  tick(): Promise<void>;
  stop(): Promise<void>;
}

export interface ServersDeps {
  readonly store: ServerStore;
  readonly secrets: Secrets;
  readonly config: Pick<ConfigHandle, 'get'>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly home: string;
  readonly live: Omit<LiveDeps, 'changed'>;
  readonly signIns: Pick<SignIns, 'load' | 'forget'>;
  readonly offer: () => ToolOffer;
  /** Told to pages. */
  announce(name: string, state: string): void;
}

interface Held {
  readonly server: LiveServer;
  readonly revision: number;
  readonly isInConfig: boolean;
  /** As JSON: what is stored already. */
  tools: string;
  status: string;
}

interface All extends ServersDeps {
  readonly held: Map<string, Held>;
  given: Map<string, GivenValues>;
  configFaults: string[];
  readonly inTurn: Turns;
  readonly waiting: LiveServer[];
  connecting: number;
  isStarted: boolean;
  isStopped: boolean;
  lastSync: number;
  lastLook: number;
}

export const createServers = (deps: ServersDeps): Servers => {
  const all: All = { ...deps, held: new Map(), given: new Map(), configFaults: [], inTurn: createTurns(), waiting: [], connecting: 0, isStarted: false, isStopped: false, lastSync: 0, lastLook: 0 };
  const find: Servers['find'] = (name) => all.held.get(name)?.server ?? [...all.held.values()].find(({ server }) => server.spec.template_id === name)?.server;
  return {
    list: () => [...all.held.values()].map(({ server }) => server).sort((a, b) => (a.spec.name < b.spec.name ? -1 : 1)),
    find,
    isInConfig: (name) => all.held.get(name)?.isInConfig ?? false,
    faults: () => all.configFaults,
    given: (name) => all.given.get(name),
    add: (entry) => all.inTurn('servers', () => add(all, entry)),
    replace: (server, entry) => all.inTurn('servers', () => replace(all, server, entry)),
    remove: (server) => all.inTurn('servers', () => remove(all, server)),
    sync: () => synced(all),
    start: async () => {
      all.isStarted = true;
      for (const { server } of all.held.values()) all.waiting.push(server);
      await synced(all);
    },
    tick: () => tick(all),
    stop: async () => {
      all.isStopped = true;
      await Promise.all([...all.held.values()].map(({ server }) => server.stop()));
    },
  };
};

const hold = (all: All, spec: ServerSpec, tools: readonly ServerTool[], revision: number, isInConfig: boolean): LiveServer => {
  const server = createLiveServer({ ...all.live, changed: (one) => changed(all, one) }, spec, tools);
  all.held.set(spec.name, { server, revision, isInConfig, tools: JSON.stringify(tools), status: server.state().status });
  return server;
};

const changed = async (all: All, server: LiveServer): Promise<void> => {
  const held = all.held.get(server.spec.name);
  if (held?.server !== server || all.isStopped) return;
  const { status, tools } = server.state();
  if (held.status !== status) {
    held.status = status;
    all.announce(server.spec.name, status);
  }
  const text = JSON.stringify(tools);
  if (text === held.tools) return;
  held.tools = text;
  try {
    await offer(all);
    if (!held.isInConfig) await all.store.setTools(server.spec.name, tools);
  } catch (error) {
    if (!all.isStopped) all.log.error('the tools of an MCP server could not be offered or stored', { server: server.spec.name, cause: error });
  }
};

const offer = (all: All): Promise<void> =>
  all
    .offer()
    .set(
      [...all.held.values()]
        .map(({ server: { spec, state } }) => ({ name: spec.name, timeoutSecs: spec.timeout_secs, tools: spec.enabled ? state().tools : [] }))
        .sort((a, b) => (a.name < b.name ? -1 : 1)),
    );

const add = async (all: All, entry: ServerEntry): Promise<LiveServer> => {
  const { spec, given } = readEntry(entry);
  if (all.held.has(spec.name)) throw mcpErrors.exists(spec.name);
  if (all.held.size >= MAX_SERVERS) throw mcpErrors.too_many(MAX_SERVERS);
  await putValues(all, spec, given);
  try {
    await all.store.add(spec);
  } catch (error) {
    // Another daemon came first; its values are its own, under the same names.
    if (isSvcError(error) && error.code === 'storage_conflict') throw mcpErrors.exists(spec.name);
    throw error;
  }
  return hold(all, spec, [], 1, false);
};

const putValues = async ({ secrets, home }: All, { name, oauth }: ServerSpec, { env, headers }: GivenValues): Promise<void> => {
  // Nobody expands it later.
  for (const [key, value] of Object.entries(env)) await secrets.put(envSecret(name, key), value.replace(/^~(?=\/|$)/, home));
  for (const [key, value] of Object.entries(headers)) await secrets.put(headerSecret(name, key), value);
  const secret = env[oauth?.client_secret_env ?? ''];
  if (oauth?.client_id !== undefined && secret !== undefined) await secrets.put(clientSecret(name, oauth.client_id, 'basic'), basicOf(oauth.client_id, secret));
};

const refuseConfig = (all: All, { spec: { name } }: LiveServer): void => {
  if (all.held.get(name)?.isInConfig) throw mcpErrors.in_config(name);
};

const replace = async (all: All, server: LiveServer, entry: ServerEntry): Promise<LiveServer> => {
  refuseConfig(all, server);
  const held = all.held.get(server.spec.name);
  const { spec, given } = readEntry(entry);
  const revision = held?.revision ?? 1;
  await putValues(all, spec, given);
  await all.store.replace(spec, revision);
  await dropUnused(all, spec);
  await server.stop();
  const next = hold(all, spec, server.state().tools, revision + 1, false);
  await offer(all);
  return next;
};

/** Values that no name of the spec uses any more. */
const dropUnused = async ({ secrets }: All, { name, env, headers }: ServerSpec): Promise<void> => {
  const used = new Set([...env.map((one) => envSecret(name, one)), ...headers.map((one) => headerSecret(name, one))]);
  for (const stored of await valuesOf(secrets, name)) if (!used.has(stored)) await secrets.delete(stored);
};

/** The server `a` and one named `a.header` have prefixes in common. */
const valuesOf = async (secrets: Secrets, name: string): Promise<string[]> => (await secrets.list(secretsOf(name))).filter((stored) => VALUE_SECRET.test(stored.slice(secretsOf(name).length)));

const remove = async (all: All, server: LiveServer): Promise<void> => {
  refuseConfig(all, server);
  const { name } = server.spec;
  await all.store.remove(name);
  all.held.delete(name);
  await Promise.all([server.stop(), offer(all)]);
  for (const stored of await valuesOf(all.secrets, name)) await all.secrets.delete(stored);
  await all.signIns.forget(name);
};

/** Connecting is nobody's turn: it may take minutes. */
const synced = async (all: All): Promise<readonly LiveServer[]> => {
  const fresh = await all.inTurn('servers', () => sync(all));
  all.waiting.push(...fresh);
  if (all.isStarted) void connectWaiting(all);
  return fresh;
};

const sync = async (all: All): Promise<readonly LiveServer[]> => {
  all.lastSync = all.clock.mono();
  const wanted = new Map<string, Omit<Held, 'server' | 'tools' | 'status'> & { readonly spec: ServerSpec; readonly tools: readonly ServerTool[] }>();
  for (const { spec, tools, revision } of await all.store.all()) wanted.set(spec.name, { spec, tools, revision, isInConfig: false });
  const { given, faults, specs } = fromConfig(all);
  all.given = given;
  all.configFaults = faults;
  for (const spec of specs) wanted.set(spec.name, { spec, tools: all.held.get(spec.name)?.server.state().tools ?? [], revision: 0, isInConfig: true });
  const fresh: LiveServer[] = [];
  for (const [name, { server }] of all.held) {
    if (wanted.has(name)) continue;
    all.held.delete(name);
    await server.stop();
  }
  for (const [name, { spec, tools, revision, isInConfig }] of wanted) {
    const held = all.held.get(name);
    if (held && held.isInConfig === isInConfig && (isInConfig ? JSON.stringify(held.server.spec) === JSON.stringify(spec) : held.revision >= revision)) continue;
    await held?.server.stop();
    fresh.push(hold(all, spec, tools, revision, isInConfig));
  }
  await offer(all);
  // Somebody signed in at another daemon.
  if ([...all.held.values()].some(({ server }) => server.spec.transport.type !== 'stdio'))
    for (const name of await all.signIns.load()) {
      const server = all.held.get(name)?.server;
      if (server && server.state().status === 'setup' && !fresh.includes(server)) fresh.push(server);
    }
  return fresh;
};

const fromConfig = ({ config }: All): { readonly given: Map<string, GivenValues>; readonly faults: string[]; readonly specs: ServerSpec[] } => {
  const given = new Map<string, GivenValues>();
  const faults: string[] = [];
  const specs: ServerSpec[] = [];
  for (const entry of config.get(McpServersSetting)) {
    try {
      const read = readEntry(entry);
      if (given.has(read.spec.name)) throw mcpErrors.exists(read.spec.name);
      given.set(read.spec.name, read.given);
      specs.push(read.spec);
    } catch (error) {
      if (!isSvcError(error)) throw error;
      faults.push(`[[mcp_servers]] ${entry.name}: ${error.message}`);
    }
  }
  return { given, faults, specs };
};

const connectWaiting = async (all: All): Promise<void> => {
  if (all.connecting >= AT_ONCE) return;
  all.connecting++;
  try {
    for (let one = all.waiting.shift(); one && !all.isStopped; one = all.waiting.shift()) {
      if (all.waiting.length > 0) void connectWaiting(all);
      // One that was added or asked meanwhile may be in use.
      if (one.state().status !== 'connected') await one.connect();
    }
  } finally {
    all.connecting--;
  }
};

const tick = async (all: All): Promise<void> => {
  if (!all.isStarted || all.isStopped) return;
  const now = all.clock.now();
  const due = [...all.held.values()].map(({ server }) => server).filter((server) => (server.state().nextAttemptAt ?? Number.POSITIVE_INFINITY) <= now);
  if (all.clock.mono() - all.lastSync >= SYNC_MS) void synced(all).catch((error: unknown) => all.log.warn('the MCP servers could not be read', { cause: error }));
  if (all.clock.mono() - all.lastLook >= LOOK_MS) {
    all.lastLook = all.clock.mono();
    for (const { server } of all.held.values()) void server.look();
  }
  // Nobody waits for them: one that hangs must not keep the others.
  for (const server of due) void server.connect();
};
