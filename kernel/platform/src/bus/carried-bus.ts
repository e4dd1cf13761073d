/**
 * A bus over a carrier between processes: PostgreSQL's LISTEN and NOTIFY, or NATS.
 *
 * C1  What is published within ten milliseconds travels together, and never inside anybody's commit. What each message of
 *     a conversation says (live events, a lane that is free) waits for more: the first after a pause goes at once, then at
 *     most twenty packets a second go for its sake.
 * C2  Each member says hello when it connects and every few seconds. While none has been heard of, nothing is sent.
 * C3  A lost connection is opened again, for as long as it takes. Meanwhile nothing is delivered, and nobody waits.
 * C4  Whoever was cut off, and whoever sees that a message is missing, tells its users to look at the rows (`onGap`).
 * C5  A connection that does not bring back the member's own hello carries nothing: it is opened anew.
 */
import type { Disposable, Logger } from '@svc/api';
import type { Bus, BusMessages, BusState } from './bus.js';
import type { Carrier, CarrierConnection } from './carrier.js';
import { createPacker, createUnpacker, type Packer, type Said, type Unpacker } from './packets.js';

export interface CarriedBusOptions {
  readonly name: string;
  /** Loads the driver; called when the bus connects. */
  readonly carrier: () => Promise<Carrier>;
  /** Gets what a listener threw. */
  failed(error: unknown): void;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** Between two hellos, for tests. */
  readonly helloMs?: number;
}

const GATHER_MS = 10;
const PATIENT_GATHER_MS = 50;
const HELLO_MS = 5_000;
/** A member that missed so many is gone. */
const MISSED_HELLOS = 3;
const FIRST_WAIT_MS = 100;
const LAST_WAIT_MS = 5_000;
/** More is not kept for a carrier that is slow: receivers are told to look at the rows. */
const MAX_WAITING_BYTES = 8_388_608;
/** A larger message is not sent, which receivers see as one that was lost. */
const MAX_MESSAGE_BYTES = 2_097_152;

/** Besides the channels of users: members tell each other that they are there. */
const MEMBERS = 'members';
type MemberSays = { readonly is: 'hello' | 'bye' };

interface State {
  readonly options: CarriedBusOptions;
  readonly helloMs: number;
  readonly listeners: Map<string, Set<{ fn(message: unknown): void }>>;
  readonly gapListeners: Set<{ fn(): void }>;
  /** When each was heard of last. */
  readonly peers: Map<string, number>;
  readonly unpacker: Unpacker;
  readonly closing: AbortController;
  readonly packer: Packer;
  carrier: Carrier | undefined;
  connection: CarrierConnection | undefined;
  /** Ends that connection. */
  end: () => void;
  connectedAt: number;
  /** When there was none for the first time since there was one. */
  lostAt: number;
  problem: string | undefined;
  /** Whether the last hello came back. */
  isEchoed: boolean;
  waiting: Said[];
  waitingBytes: number;
  /** How long after the last packet the least patient of what waits may go. */
  gatherMs: number;
  sending: Promise<void> | undefined;
  sentAt: number;
  timer: NodeJS.Timeout | undefined;
}

export const createCarriedBus = (options: CarriedBusOptions): Bus => {
  const state: State = {
    options,
    helloMs: options.helloMs ?? HELLO_MS,
    listeners: new Map(),
    gapListeners: new Set(),
    peers: new Map(),
    unpacker: createUnpacker(),
    closing: new AbortController(),
    packer: createPacker(options.name),
    carrier: undefined,
    connection: undefined,
    end: () => undefined,
    connectedAt: Number.NEGATIVE_INFINITY,
    lostAt: performance.now(),
    problem: undefined,
    isEchoed: true,
    waiting: [],
    waitingBytes: 0,
    gatherMs: Number.POSITIVE_INFINITY,
    sending: undefined,
    sentAt: Number.NEGATIVE_INFINITY,
    timer: undefined,
  };
  const running = stayConnected(state);
  return {
    name: options.name,
    // Others may have been cut off from the carrier, and work on the database all the same.
    isAlone: () => false,
    publish: (channel, message) => publish(state, channel, message),
    subscribe: (channel, fn) => subscribe(state, channel, fn),
    onGap: (fn) => added(state.gapListeners, { fn }),
    state: () => stateOf(state),
    close: async () => {
      if (state.closing.signal.aborted) return;
      if (state.connection) say(state, { is: 'bye' });
      await flush(state);
      state.closing.abort();
      clearTimeout(state.timer);
      await running;
    },
  };
};

const added = <T>(to: Set<T>, one: T): Disposable => {
  to.add(one);
  return { dispose: () => void to.delete(one) };
};

const stateOf = ({ carrier, connection, lostAt, peers, problem }: State): BusState => ({
  carrier: carrier?.kind ?? 'none',
  isConnected: connection !== undefined,
  peers: [...peers.keys()],
  ...(connection === undefined ? { lostMs: performance.now() - lostAt } : {}),
  ...(problem === undefined ? {} : { problem }),
});

const subscribe = <C extends keyof BusMessages>({ listeners }: State, channel: C, fn: (message: BusMessages[C]) => void): Disposable => {
  const own = listeners.get(channel) ?? new Set();
  listeners.set(channel, own);
  return added(own, { fn: (message) => fn(message as BusMessages[C]) }); // its sender is a svc that published it on this channel
};

/** The text is made at once: what was published does not change afterwards. */
function publish(state: State, channel: string, message: unknown): void {
  if (state.closing.signal.aborted) return;
  const hasReader = state.connection !== undefined && (state.peers.size > 0 || performance.now() - state.connectedAt < state.helloMs);
  if (!hasReader) {
    state.packer.skip();
    return;
  }
  send(state, [channel, JSON.stringify(message)], isPatient(channel, message) ? PATIENT_GATHER_MS : GATHER_MS);
}

const isPatient = (channel: string, message: unknown): boolean =>
  channel === 'events' || (channel === 'journal' && typeof message === 'object' && message !== null && 'is' in message && message.is === 'left');

function send(state: State, said: Said, gatherMs = GATHER_MS): void {
  const bytes = said[1].length;
  if (bytes > MAX_MESSAGE_BYTES || state.waitingBytes + bytes > MAX_WAITING_BYTES) {
    state.packer.skip();
    return;
  }
  state.waiting.push(said);
  state.waitingBytes += bytes;
  const isSooner = gatherMs < state.gatherMs;
  state.gatherMs = Math.min(gatherMs, state.gatherMs);
  if (!state.sending && (isSooner || !state.timer)) arm(state);
}

function arm(state: State): void {
  clearTimeout(state.timer);
  state.timer = setTimeout(() => void flush(state), Math.max(0, state.sentAt + state.gatherMs - performance.now()));
}

const say = (state: State, message: MemberSays): void => send(state, [MEMBERS, JSON.stringify(message)]);

/** Never rejects. One send at a time: what comes meanwhile goes with the next. */
async function flush(state: State): Promise<void> {
  clearTimeout(state.timer);
  state.timer = undefined;
  await state.sending;
  const { connection, packer, waiting } = state;
  state.waiting = [];
  state.waitingBytes = 0;
  state.gatherMs = Number.POSITIVE_INFINITY;
  if (waiting.length === 0) return;
  if (!connection) return packer.skip();
  const packets = packer.pack(waiting, connection.maxBytes);
  state.sentAt = performance.now();
  state.sending = connection.send(packets).catch((cause: unknown) => {
    state.problem = state.carrier?.reasonOf(cause);
    state.end();
  });
  await state.sending;
  state.sending = undefined;
  if (state.waiting.length > 0) arm(state);
}

async function stayConnected(state: State): Promise<void> {
  const { closing, options } = state;
  let waitMs = FIRST_WAIT_MS;
  let isReported = false;
  while (!closing.signal.aborted) {
    try {
      state.carrier ??= await options.carrier();
      await stay(state, state.carrier, () => {
        if (isReported) options.log.info('The connection to the other daemons is back.', { carrier: state.carrier?.kind });
        isReported = false;
        waitMs = FIRST_WAIT_MS;
      });
    } catch (cause) {
      state.problem = state.carrier?.reasonOf(cause) ?? String(cause);
    }
    if (closing.signal.aborted) return;
    if (!isReported) options.log.warn('The connection to the other daemons is lost; svc reads the database until it is back.', { carrier: state.carrier?.kind, reason: state.problem });
    isReported = true;
    await pause(waitMs, closing.signal);
    waitMs = Math.min(waitMs * 2, LAST_WAIT_MS);
  }
}

/** Resolves when the connection is over, rejects when there was none. */
async function stay(state: State, carrier: Carrier, connected: () => void): Promise<void> {
  const over = new AbortController();
  const end = (): void => over.abort();
  const connection = await carrier.connect({
    received: (packet) => receive(state, packet),
    lost: (cause) => {
      state.problem = carrier.reasonOf(cause);
      end();
    },
  });
  state.closing.signal.addEventListener('abort', end, { once: true });
  if (state.closing.signal.aborted) end();
  state.connection = connection;
  state.end = end;
  state.connectedAt = performance.now();
  state.problem = undefined;
  state.isEchoed = true;
  connected();
  tick(state);
  reportGap(state);
  const timer = setInterval(() => tick(state), state.helloMs);
  await new Promise((resolve) => (over.signal.aborted ? resolve(undefined) : over.signal.addEventListener('abort', resolve, { once: true })));
  clearInterval(timer);
  state.closing.signal.removeEventListener('abort', end);
  state.connection = undefined;
  state.lostAt = performance.now();
  await connection.close();
}

function tick(state: State): void {
  const before = performance.now() - MISSED_HELLOS * state.helloMs;
  for (const [peer, at] of state.peers) if (at < before) state.peers.delete(peer);
  if (!state.isEchoed) {
    state.problem = state.carrier?.deafness;
    state.end();
    return;
  }
  state.isEchoed = false;
  say(state, { is: 'hello' });
}

function receive(state: State, packet: string): void {
  const opened = state.unpacker.open(packet);
  if (!opened) return;
  const { by, isAfterGap, messages } = opened;
  if (by === state.options.name) {
    state.isEchoed = true;
    return;
  }
  const isNew = !state.peers.has(by);
  state.peers.set(by, performance.now());
  if (isAfterGap) reportGap(state);
  for (const [channel, json] of messages) if (channel !== MEMBERS) deliver(state, channel, json);
  // Whoever says goodbye is forgotten; whoever is new hears at once that somebody is here.
  if (messages.some(([channel, json]) => channel === MEMBERS && json.includes('"bye"'))) {
    state.peers.delete(by);
    state.unpacker.forget(by);
  } else if (isNew) say(state, { is: 'hello' });
}

function deliver(state: State, channel: string, json: string): void {
  const listeners = state.listeners.get(channel);
  if (!listeners || listeners.size === 0) return;
  let message: unknown;
  try {
    message = JSON.parse(json);
  } catch {
    return; // no member wrote it
  }
  for (const listener of [...listeners]) guarded(state, () => listener.fn(message));
}

function reportGap(state: State): void {
  for (const listener of [...state.gapListeners]) guarded(state, () => listener.fn());
}

function guarded<T>(state: State, fn: () => T): T | undefined {
  try {
    return fn();
  } catch (error) {
    state.options.failed(error);
    return undefined;
  }
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
    signal.addEventListener('abort', done, { once: true });
  });
