/**
 * One MCP server, from its first start to its last stop.
 *
 * L1  One process or connection at a time. A stop waits until it is gone.
 * L2  What ends without being asked to is connected again, later and later; a person may do it at once.
 * L3  An error says how the program ended and what it wrote last, never only that the connection closed.
 * L4  A call ends by its answer, its time, the caller's signal, or the end of the server; what is late for one call ends no other.
 * L5  Once in a minute a server with the older handshake is asked for a sign of life: any answer is one. One that is deaf is begun anew.
 */
import type { CallToolResult, Client, RequestOptions, Tool, Transport } from '@modelcontextprotocol/client';
import { type ChildEnd, type Clock, isSvcError, type Logger, type Schemas } from '@svc/api';
import { mcpErrors } from '../errors.js';
import type { ServerSpec } from '../server-spec.js';
import { createCallCounts, type CallCounts } from './call-counts.js';
import { createLineBuffer, type LineBuffer } from './line-buffer.js';
import { hasResources, withResources } from './server-resources.js';
import { type FoundTools, type ServerTool, usableTools } from './server-tools.js';

const CONNECT_MS = 120_000;
/** A server that does not know the question may not answer it, and one that is still starting answers late. */
const PROBE_MS = 10_000;
const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 300_000;
/** How often progress may start the time of a call anew. */
const MAX_RENEWALS = 10;
const LAST_LINES = 5;
const MAX_PAGES = 50;
const PING_MS = 15_000;

export type Status = 'connecting' | 'connected' | 'setup' | 'error' | 'disabled';

export interface ServerState {
  readonly status: Status;
  readonly error: string | null;
  readonly tools: readonly ServerTool[];
  readonly warnings: readonly string[];
  readonly connectedSince: string | null;
  readonly lastOk: string | null;
  readonly lastError: string | null;
  readonly failures: number;
  readonly attempts: number;
  /** Milliseconds since the epoch; null where nothing is tried. */
  readonly nextAttemptAt: number | null;
  readonly protocol: string | null;
  readonly instructions: string | null;
  /** The server answered that somebody has to sign in. */
  readonly needsAuth: string | null;
}

export interface LiveDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly schemas: Pick<Schemas, 'check'>;
  readonly version: string;
  /** Names of values that are missing. */
  missing(spec: ServerSpec): Promise<readonly string[]>;
  transport(spec: ServerSpec, events: TransportEvents): Promise<Transport>;
  /** Its state or its tools are others now. */
  changed(server: LiveServer): Promise<void>;
}

export interface TransportEvents {
  readonly stderr: LineBuffer;
  ended(end: ChildEnd): void;
  refused(challenge: string): void;
}

export interface CallOptions {
  readonly signal: AbortSignal;
}

export type Question<T> = (client: Client, options: RequestOptions) => Promise<T>;

export interface LiveServer {
  readonly spec: ServerSpec;
  readonly counts: CallCounts;
  state(): ServerState;
  stderr(): readonly string[];
  /** Resolves when it is connected, or has failed; never rejects. */
  connect(): Promise<void>;
  call(tool: string, args: Readonly<Record<string, unknown>>, options: CallOptions): Promise<CallToolResult>;
  /** Anything else; connects it like a call, and fails like one. */
  ask<T>(question: Question<T>, options: CallOptions): Promise<T>;
  /** Asks a connected server for a sign of life. */
  look(): Promise<void>;
  stop(): Promise<void>;
}

interface Live extends TransportEvents {
  readonly spec: ServerSpec;
  readonly deps: LiveDeps;
  state: ServerState;
  client: Client | undefined;
  transport: Transport | undefined;
  connecting: Promise<void> | undefined;
  lastEnd: ChildEnd | undefined;
  isStopped: boolean;
  /** Its program ends when it is asked which revision it speaks: from then on it is begun with the older handshake. */
  isOlder: boolean;
  /** Which connection this is: what an earlier one says counts no more. */
  turn: number;
}

export const createLiveServer = (deps: LiveDeps, spec: ServerSpec, known: readonly ServerTool[]): LiveServer => {
  const stderr = createLineBuffer();
  const live: Live = {
    spec,
    deps,
    stderr,
    state: { ...NOTHING, tools: known, status: spec.enabled ? 'connecting' : 'disabled' },
    client: undefined,
    transport: undefined,
    connecting: undefined,
    lastEnd: undefined,
    isStopped: false,
    isOlder: false,
    turn: 0,
    ended: (end) => {
      live.lastEnd = end;
    },
    refused: (challenge) => {
      live.state = { ...live.state, needsAuth: challenge };
    },
  };
  const counts = createCallCounts(() => deps.clock.now());
  const server: LiveServer = {
    spec,
    counts,
    state: () => live.state,
    stderr: stderr.lines,
    connect: () => (live.connecting ??= connect(live, server).finally(() => (live.connecting = undefined))),
    call: (tool, args, options) => counted(counts, call(live, server, tool, args, options)),
    ask: (question, options) => counted(counts, ask(live, server, question, options)),
    look: () => look(live),
    stop: async () => {
      live.isStopped = true;
      await close(live);
      await live.connecting;
    },
  };
  return server;
};

const counted = async <T>(counts: CallCounts, asked: Promise<T>): Promise<T> => {
  let isError = true;
  try {
    const answer = await asked;
    isError = (answer as { readonly isError?: unknown } | undefined)?.isError === true;
    return answer;
  } finally {
    counts.add(isError);
  }
};

const NOTHING: Omit<ServerState, 'tools' | 'status'> = {
  error: null,
  warnings: [],
  connectedSince: null,
  lastOk: null,
  lastError: null,
  failures: 0,
  attempts: 0,
  nextAttemptAt: null,
  protocol: null,
  instructions: null,
  needsAuth: null,
};

/** Resolves when what it has now is offered. */
const set = (live: Live, server: LiveServer, change: Partial<ServerState>): Promise<void> => {
  live.state = { ...live.state, ...change };
  return live.deps.changed(server);
};

const close = async (live: Live): Promise<void> => {
  live.turn++;
  const { client, transport } = live;
  live.client = undefined;
  live.transport = undefined;
  await client?.close().catch(() => undefined);
  // A client that never finished to connect does not own its transport.
  await transport?.close().catch(() => undefined);
};

const connect = async (live: Live, server: LiveServer): Promise<void> => {
  const { deps, spec } = live;
  if (live.isStopped) return;
  if (!spec.enabled) return set(live, server, { status: 'disabled', nextAttemptAt: null });
  await close(live);
  const turn = live.turn;
  const missing = await deps.missing(spec);
  if (missing.length > 0)
    return set(live, server, { status: 'setup', error: `It needs ${missing.join(', ')}. Set ${missing.length === 1 ? 'it' : 'them'} in the page, or with svc mcp add.`, nextAttemptAt: null });
  live.lastEnd = undefined;
  void set(live, server, { status: 'connecting', error: null, attempts: live.state.attempts + 1, nextAttemptAt: null, needsAuth: null });
  try {
    const found = await established(live, server, turn);
    if (live.isStopped || live.turn !== turn) return await close(live);
    await set(live, server, { ...found, status: 'connected', error: null, failures: 0, attempts: 0, connectedSince: deps.clock.iso(), lastOk: deps.clock.iso() });
    deps.log.info('an MCP server is connected', { server: spec.name, tools: found.tools.length, protocol: found.protocol });
  } catch (error) {
    if (live.isStopped) return close(live);
    if (live.turn !== turn) return;
    // The exit of a program comes a moment after its pipe closes.
    await deps.clock.sleep(50).catch(() => undefined);
    live.isOlder = spec.transport.type === 'stdio' && (error as { readonly code?: unknown } | undefined)?.code === 'ERA_NEGOTIATION_FAILED';
    failed(live, server, error);
    await close(live);
  }
};

type Found = FoundTools & Pick<ServerState, 'protocol' | 'instructions'>;

const established = async (live: Live, server: LiveServer, turn: number): Promise<Found> => {
  const { deps, spec } = live;
  const transport = await deps.transport(spec, live);
  live.transport = transport;
  const sdk = await import('@modelcontextprotocol/client');
  const client = new sdk.Client(
    { name: 'svc', version: deps.version },
    {
      capabilities: {},
      // What a tool answers goes to a model as text: nobody relies on its form.
      jsonSchemaValidator: { getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }) },
      versionNegotiation: { mode: live.isOlder ? 'legacy' : 'auto', probe: { timeoutMs: PROBE_MS } },
      listChanged: {
        tools: { autoRefresh: false, onChanged: () => void toolsChanged(live, server, turn) },
        resources: { autoRefresh: false, onChanged: () => void toolsChanged(live, server, turn) },
      },
    },
  );
  await client.connect(transport, { timeout: CONNECT_MS });
  live.client = client;
  client.onclose = () => gone(live, server, turn);
  client.onerror = (error) => deps.log.info('an MCP server sent something unexpected', { server: spec.name, why: error.message.slice(0, 300) });
  return { ...(await foundIn(client, deps)), protocol: client.getNegotiatedProtocolVersion() ?? null, instructions: client.getInstructions()?.slice(0, 4_000) ?? null };
};

const foundIn = async (client: Client, { schemas }: LiveDeps): Promise<FoundTools> => {
  const { tools, warnings } = await usableTools(schemas, client.getServerCapabilities()?.tools ? await allTools(client) : []);
  return { tools: withResources(tools, await hasResources(client)), warnings };
};

const allTools = async (client: Client): Promise<Tool[]> => {
  const all: Tool[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const answer = await client.listTools(cursor === undefined ? {} : { cursor }, { timeout: CONNECT_MS });
    all.push(...answer.tools);
    cursor = answer.nextCursor;
    if (cursor === undefined) break;
  }
  return all;
};

const toolsChanged = async (live: Live, server: LiveServer, turn: number): Promise<void> => {
  const { client, deps, spec } = live;
  if (!client || live.turn !== turn) return;
  try {
    const found = await foundIn(client, deps);
    if (live.turn === turn) await set(live, server, { ...found, lastOk: deps.clock.iso() });
  } catch (error) {
    deps.log.warn('the tools of an MCP server changed and could not be read', { server: spec.name, cause: error });
  }
};

const gone = (live: Live, server: LiveServer, turn: number): void => {
  if (live.turn !== turn || live.isStopped || live.state.status !== 'connected') return;
  live.client = undefined;
  // The exit of a program comes a moment after its pipe closes.
  void live.deps.clock.sleep(50).then(
    () => void (live.turn === turn && !live.isStopped && failed(live, server, undefined)),
    () => undefined,
  );
};

const failed = (live: Live, server: LiveServer, error: unknown): void => {
  const { clock, log } = live.deps;
  const why = reasonOf(live, error);
  const failures = live.state.failures + 1;
  log.warn('an MCP server is not connected', { server: live.spec.name, why, failures });
  const needsPerson = isForPerson(live);
  void set(live, server, {
    status: needsPerson ? 'setup' : 'error',
    error: why,
    failures,
    lastError: `${clock.iso()} ${why}`,
    connectedSince: null,
    nextAttemptAt: needsPerson ? null : clock.now() + Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(failures - 1, 10)),
  });
};

const refusalOf = ({ name, headers }: ServerSpec, challenge: string): string => {
  if (headers.includes('authorization')) return 'It refuses the Authorization header (401). Set another one.';
  const scope = /insufficient_scope/.test(challenge) ? /scope="([^"]{1,300})"/.exec(challenge)?.[1] : undefined;
  return scope === undefined ? `It asks for a sign-in (401). Sign in with: svc mcp login ${name}` : `It asks for more rights (${scope}). Sign in again with: svc mcp login ${name}`;
};

/** Trying again changes nothing before somebody signs in. */
const isForPerson = ({ spec, state }: Live): boolean => state.needsAuth !== null && !spec.headers.includes('authorization');

const reasonOf = (live: Live, error: unknown): string => {
  const { lastEnd, spec, stderr, state } = live;
  const last = stderr.lines().slice(-LAST_LINES).join('\n');
  const said = last === '' ? '' : ` It wrote last:\n${last}`;
  if (state.needsAuth !== null) return refusalOf(spec, state.needsAuth);
  if (lastEnd) {
    const how = lastEnd.signal !== null ? `was ended by ${lastEnd.signal}` : `ended with exit code ${lastEnd.exitCode}`;
    return `Its program ${how}.${said}`;
  }
  const message =
    error === undefined ? 'The connection closed.' : isSvcError(error) ? `${error.message}${error.hint === undefined ? '' : ` ${error.hint}`}` : error instanceof Error ? error.message : String(error);
  return `${message}${spec.transport.type === 'stdio' ? said : ''}`.slice(0, 4_000);
};

const call = async (live: Live, server: LiveServer, tool: string, args: Readonly<Record<string, unknown>>, options: CallOptions): Promise<CallToolResult> =>
  (await ask(live, server, (client, request) => client.callTool({ name: tool, arguments: { ...args } }, request), options)) as CallToolResult;

const ask = async <T>(live: Live, server: LiveServer, question: Question<T>, { signal }: CallOptions): Promise<T> => {
  const { spec, deps } = live;
  if (!live.client) {
    if (live.state.status === 'setup' || live.state.status === 'disabled') throw mcpErrors.unavailable(spec.name, live.state.error ?? 'it is switched off');
    await Promise.race([server.connect(), aborted(signal)]);
  }
  const { client, turn } = live;
  if (!client) throw mcpErrors.unavailable(spec.name, live.state.error ?? 'it is starting');
  const timeout = spec.timeout_secs * 1_000;
  try {
    const result = await question(client, { signal, timeout, resetTimeoutOnProgress: true, maxTotalTimeout: timeout * (MAX_RENEWALS + 1), onprogress: () => undefined });
    live.state = { ...live.state, lastOk: deps.clock.iso() };
    return result;
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (live.turn !== turn || live.client !== client) {
      await deps.clock.sleep(60).catch(() => undefined);
      throw mcpErrors.unavailable(spec.name, `it ended during this call. ${live.state.error ?? ''}`.trim());
    }
    if (isForPerson(live)) {
      failed(live, server, error);
      await close(live);
      throw mcpErrors.unavailable(spec.name, live.state.error ?? '');
    }
    if (isSvcError(error)) throw error;
    if (isTimeout(error)) throw mcpErrors.too_slow(spec.name, spec.timeout_secs);
    throw mcpErrors.call_failed(spec.name, (error instanceof Error ? error.message : String(error)).slice(0, 2_000)).with({ cause: error });
  }
};

const isTimeout = (error: unknown): boolean => error instanceof Error && /timed? ?out|timeout/i.test(`${(error as { code?: unknown }).code} ${error.message}`);

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });

const look = async (live: Live): Promise<void> => {
  const { client, deps, turn } = live;
  if (!client || live.state.status !== 'connected' || client.getProtocolEra() === 'modern') return;
  try {
    await client.ping({ timeout: PING_MS });
    live.state = { ...live.state, lastOk: deps.clock.iso() };
  } catch (error) {
    // It is deaf: what waits for it fails, and it is begun anew. One that says that it knows no ping has heard it.
    if (live.turn === turn && isTimeout(error)) await live.transport?.close().catch(() => undefined);
  }
};
