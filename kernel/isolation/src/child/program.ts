/**
 * The process of one extension: it says hello, is told what it is, loads the bundle and answers what the daemon asks.
 *
 * The channel is the file descriptor 3. Nothing else leads out of here.
 */
import { Socket } from 'node:net';
import * as api from '@svc/api';
import type { ExtensionContext, ExtensionDefinition, Req, SlashCall, StopReason, ToolCall } from '@svc/api';
import { type Control, Peer } from '../channel/peer.js';
import { isolationErrors } from '../errors.js';
import { type Init, STOP_REASONS, type Registered, type WireRequest, type WireWrite } from '../protocol.js';
import { childContext, childLog, Shared } from './context.js';
import { sealed } from './adapters.js';
import { harden } from './harden.js';
import { loadBundle } from './load-bundle.js';
import { Registrations } from './registrations.js';

const CHANNEL_FD = 3;
const DISPOSE_BUDGET_MS = 2_000;

interface Running {
  readonly init: Init;
  readonly definition: ExtensionDefinition;
  readonly context: ExtensionContext;
  readonly registrations: Registrations;
  readonly shared: Shared;
  readonly abort: AbortController;
  readonly disposers: Array<{ readonly label: string; readonly fn: () => void | Promise<void> }>;
}

// Kept before they are taken away from everybody else.
const exit = (Reflect.get(process, 'reallyExit') as (code: number) => never).bind(process);
const onProcess = process.on.bind(process);

let running: Running | undefined;

const peer = new Peer({
  stream: new Socket({ fd: CHANNEL_FD, readable: true, writable: true }),
  isBounded: false,
  serve: (to, args, control) => answer(to, args, control),
  onNotify: (to, args) => receive(to, args),
  ended: () => exit(0),
});

const reportUnhandled = (error: unknown): void => peer.notify('stray', ['an unhandled error', error instanceof Error ? (error.stack ?? error.message) : String(error)]);
onProcess('uncaughtException', reportUnhandled);
onProcess('unhandledRejection', reportUnhandled);

harden();

function answer(to: string, args: readonly unknown[], control: Control): unknown {
  // The daemon is whoever wrote these; their shapes are those of the protocol.
  if (to === 'ping') return 'pong';
  if (to === 'init') return activate(args[0] as Init);
  if (!running) throw isolationErrors.unknown_target(to);
  if (to === 'start') return running.definition.start?.(running.context);
  if (to === 'stop') return stop(running, args[0]);
  return handle(running, to, args, control);
}

function handle({ registrations }: Running, to: string, args: readonly unknown[], control: Control): unknown {
  const [first, second, third] = args;
  if (to === 'route') return registrations.route((first as WireRequest).route, requestOf(first as WireRequest, control));
  if (to === 'tool') return registrations.tool(String(first), second as never, { ...(third as ToolCall), signal: control.signal, log: childLog(peer, { call: (third as ToolCall).callId }) });
  if (to === 'slash') return registrations.slash(String(first), { ...(second as SlashCall), signal: control.signal });
  if (to === 'tap') return registrations.tap(String(first), Number(second), third as readonly unknown[], control);
  if (to === 'service') return registrations.service(String(first), String(second), third as readonly unknown[], control);
  if (to === 'event') return registrations.listener(String(first), second as never);
  if (to === 'timer') return registrations.timer(String(first));
  throw isolationErrors.unknown_target(to);
}

function receive(to: string, args: readonly unknown[]): void {
  if (!running) return;
  const { shared } = running;
  if (to === 'config') shared.setConfig(String(args[0]), args[1]);
  if (to === 'service') shared.setService(String(args[0]), args[1] === true);
  if (to === 'capabilities') shared.capabilities = args[0] as Init['capabilities'];
}

async function activate(init: Init): Promise<Registered> {
  const abort = new AbortController();
  const shared = new Shared(init);
  const registrations = new Registrations();
  const disposers: Running['disposers'] = [];
  const definition = loadBundle(init.bundle, api, init.sha256);
  const context = childContext({ peer, init, registrations, signal: abort.signal, shared, disposers });
  await definition.activate(context);
  registrations.close();
  running = { init, definition, context, registrations, shared, abort, disposers };
  return registrations.describe(definition.start !== undefined);
}

/** As in the process of the daemon: stop, then what was to be disposed of, newest first. */
async function stop({ abort, definition, disposers }: Running, why: unknown): Promise<void> {
  await definition.stop?.(STOP_REASONS.find((reason) => reason === why) ?? ('shutdown' satisfies StopReason));
  abort.abort();
  for (const { label, fn } of [...disposers].reverse()) {
    const late = new Promise<never>((_, reject) => setTimeout(() => reject(new Error(`${label} did not end within ${DISPOSE_BUDGET_MS} ms`)), DISPOSE_BUDGET_MS));
    await Promise.race([fn(), late]).catch(reportUnhandled);
  }
}

function requestOf({ route: _route, stream, ...facts }: WireRequest, { signal }: Control): Req<never, never, never> {
  const req: Req = {
    ...facts,
    stream: stream ?? nothing(),
    bytes: new Uint8Array(),
    signal,
    log: childLog(peer, { request: facts.id }),
    receipt: (reply, about) => [sealed('receipt', facts.id, { make: 'receipt', request: facts.id, answer: reply, ...(about ? { about } : {}) } satisfies WireWrite)],
  };
  // What params, query and body hold the daemon has validated by the schemas of the route.
  return req as Req<never, never, never>;
}

async function* nothing(): AsyncGenerator<Uint8Array> {
  // A request whose body is no stream has none.
}
