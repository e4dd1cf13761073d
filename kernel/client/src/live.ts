/**
 * Hears what changes at the daemon, for as long as it is wanted. In browsers, and in Node with a WebSocket of the package `ws`.
 *
 * L1  After the first `live` nothing is missed unsaid: each change comes, or a later one of the same thing, or `onGap` is called.
 * L2  A connection that broke, went silent or slept is replaced, ever more slowly while nobody answers; at once when the
 *     browser is online, wakes or is looked at again.
 * L3  Whoever is not let in is told `refused`, and is not tried again before `retry`.
 * L4  The key stands in no address: it goes as a subprotocol, and without one the browser sends its cookie.
 */
import type { SocketClass, SocketLike } from './chat.js';
import { type Client, type ClientOptions, createClient } from './client.js';
import { SvcError } from './errors.js';
import { backOff } from './waiting.js';
import { onWake } from './waking.js';

/** `connecting`: somebody is asked. `offline`: nobody answered, and it is tried again in a while. `refused`: the key or session is not valid, or no longer. */
export type LiveState = 'connecting' | 'live' | 'offline' | 'refused';

/** It says what to read again. A newer daemon may name things that this client does not know: pass over them. */
export interface LiveChange {
  readonly what: 'agent' | 'session' | 'run' | 'files' | 'extension' | 'config' | 'models' | 'provider' | 'vault' | 'auth' | (string & Record<never, never>);
  /** Of the thing itself; left out where several changed. */
  readonly id?: string;
  readonly agent_id?: string;
  readonly session_id?: string;
  /** Of a run its status, of an extension its state, else `spawned`, `begun`, `changed`, `killed`, `deleted`. */
  readonly state?: string;
}

export interface LiveClock {
  now(): number;
  /** Calls once after `ms`; the returned function calls it off. */
  after(ms: number, fn: () => void): () => void;
}

export interface LiveOptions extends Pick<ClientOptions, 'baseUrl' | 'key'> {
  /** Instead of one that is made of `baseUrl` and `key`. */
  readonly client?: Client;
  /** Where what you show was read: `after` of `listPanels`, as it was before you read the rest. What changed since is told, or `onGap` is called. */
  readonly after?: string | undefined;
  onChange(change: LiveChange): void;
  /** What was missed is not known any more: read anew what you show. */
  onGap?(): void;
  /** Read what you show when it is `live` for the first time: what changes from then on is told. */
  onState?(state: LiveState): void;
  /** Where there is no global one: Node 20. */
  readonly WebSocket?: SocketClass;
  readonly clock?: LiveClock;
}

export interface Live {
  readonly state: LiveState;
  /** Connects at once, also where it was refused: after a login, say. */
  retry(): void;
  /** Nothing is called any more. */
  close(): void;
}

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;
/** Who stayed connected so long begins with short waits again. */
const STEADY_MS = 10_000;
const POLL_MS = 5_000;
/** The daemon says something every 15 seconds. */
const SILENT_MS = 40_000;
/** Longer than it is ever silent: a page that wakes does not ask first whether it is there. */
const SLEPT_MS = 20_000;
/** Who has not greeted by then is not there. */
const GREETING_MS = 15_000;
const ANSWER_MS = 5_000;
const NORMAL = 1_000;
/** The key is no longer valid; the role no longer allows it. */
const REFUSED: readonly number[] = [4_401, 4_403];

const systemClock: LiveClock = {
  now: () => Date.now(),
  after: (ms, fn) => {
    const timer = setTimeout(fn, ms);
    return () => clearTimeout(timer);
  },
};

export const followChanges = (options: LiveOptions): Live => {
  const Socket = options.WebSocket ?? ('WebSocket' in globalThis ? (globalThis.WebSocket as SocketClass) : undefined);
  if (!Socket) throw new TypeError('There is no global WebSocket here. Pass one to followChanges, such as the one from the package ws.');
  const line = new Line(options, Socket);
  return {
    get state() {
      return line.state ?? 'connecting';
    },
    retry: () => line.retry(),
    close: () => line.close(),
  };
};

class Line {
  state: LiveState | undefined;
  readonly #options: LiveOptions;
  readonly #client: Client;
  readonly #Socket: SocketClass;
  readonly #clock: LiveClock;
  readonly #leavePage: () => void;
  readonly #abort = new AbortController();
  #socket: SocketLike | undefined;
  /** What an earlier attempt still waits for is nobody's. */
  #attempt = 0;
  #failures = 0;
  #place: { readonly epoch: string; readonly seq: number } | undefined;
  #liveSince: number | undefined;
  /** The greeting began elsewhere than asked for: the `gap` behind it is known. */
  #hasSaidGap = false;
  #receivedAt = 0;
  /** Nothing has come since somebody was asked whether they are there. */
  #isAsked = false;
  /** What is waited for: the next attempt, or the next look whether anybody is still there. */
  #cancel: () => void = () => undefined;

  constructor(options: LiveOptions, Socket: SocketClass) {
    this.#options = options;
    this.#client = options.client ?? createClient(options);
    this.#Socket = Socket;
    this.#clock = options.clock ?? systemClock;
    this.#place = placeOf(options.after);
    this.#leavePage = onWake(() => this.#wake());
    void this.#connect();
  }

  retry(): void {
    if (this.#abort.signal.aborted) return;
    this.#failures = 0;
    this.#leave();
    void this.#connect();
  }

  close(): void {
    this.#abort.abort();
    this.#leavePage();
    this.#leave();
  }

  async #connect(): Promise<void> {
    const attempt = ++this.#attempt;
    this.#say('connecting');
    try {
      const key = await this.#client.key();
      if (attempt !== this.#attempt) return;
      this.#open(key);
    } catch {
      // No key could be had, or the address is none for a socket: an HTTP call says why.
      if (attempt === this.#attempt) await this.#ask();
    }
  }

  #open(key: string | undefined): void {
    const after = this.#place ? `?after=${this.#place.epoch}.${this.#place.seq}` : '';
    const socket = new this.#Socket(`${this.#client.baseUrl.replace(/^http/, 'ws')}/api/live${after}`, key === undefined ? [] : [`bearer.${key}`]);
    this.#socket = socket;
    this.#receivedAt = this.#clock.now();
    socket.onmessage = ({ data }: { data: unknown }) => this.#received(String(data));
    socket.onclose = ({ code }: { code: number }) => this.#lost(code);
    // What it says stands in the close that follows.
    socket.onerror = () => undefined;
    this.#look();
  }

  #received(text: string): void {
    const frame = frameOf(text);
    if (frame) this.#take(frame);
    else this.#drop();
  }

  #take({ type, seq, epoch, ...rest }: LiveFrame): void {
    this.#receivedAt = this.#clock.now();
    this.#isAsked = false;
    const before = this.#place;
    const at = type === 'hello' ? epoch : before?.epoch;
    // Before anybody is told: whatever they do, it is not told again.
    if (at !== undefined && seq !== undefined) this.#place = { epoch: at, seq };
    if (type === 'hello') {
      this.#liveSince ??= this.#clock.now();
      this.#say('live');
      // The frame that says so may be lost with the connection, and the next one would go on from here.
      this.#hasSaidGap = before !== undefined && (before.epoch !== epoch || before.seq !== seq);
      if (this.#hasSaidGap) this.#options.onGap?.();
    } else if (type === 'gap') {
      if (!this.#hasSaidGap) this.#options.onGap?.();
      this.#hasSaidGap = false;
    } else if (type === 'change' && isChange(rest)) this.#options.onChange(rest);
  }

  #lost(code: number): void {
    const wasLive = this.#liveSince !== undefined;
    if (wasLive && this.#clock.now() - (this.#liveSince ?? 0) >= STEADY_MS) this.#failures = 0;
    this.#leave();
    if (REFUSED.includes(code)) this.#say('refused');
    else if (wasLive) this.#wait();
    else void this.#ask();
  }

  /** A browser does not say why a socket did not open: an HTTP call to the same daemon does. */
  async #ask(): Promise<void> {
    const attempt = this.#attempt;
    const why = await this.#client.call('listAgents', { limit: 1 }, { retries: 0, timeoutMs: ANSWER_MS, signal: this.#abort.signal }).catch((error: unknown) => error);
    if (attempt !== this.#attempt) return;
    if (why instanceof SvcError && (why.status === 401 || why.status === 403)) this.#say('refused');
    else this.#wait();
  }

  #wait(): void {
    this.#cancel = this.#clock.after(backOff(this.#failures++, FIRST_WAIT_MS, LONGEST_WAIT_MS), () => void this.#connect());
    this.#say('offline');
  }

  /** By the time of day, which goes on while a computer sleeps. */
  #look(): void {
    this.#cancel = this.#clock.after(POLL_MS, () => {
      if (this.#clock.now() - this.#receivedAt >= (this.#liveSince === undefined ? GREETING_MS : SILENT_MS)) this.#drop();
      else this.#look();
    });
  }

  /** The network is another one, or somebody looks at the page again. */
  #wake(): void {
    // What was asked over the network of before is not waited for.
    const silentMs = this.#clock.now() - this.#receivedAt;
    const isLate = this.#socket !== undefined && silentMs >= (this.state === 'connecting' ? ANSWER_MS : SLEPT_MS);
    if (this.state === 'offline' || (isLate && this.state !== 'refused')) this.retry();
    else if (this.state === 'live' && this.#socket) this.#askWhetherThere(this.#socket);
  }

  #askWhetherThere(socket: SocketLike): void {
    this.#isAsked = true;
    socket.send('{"type":"ping"}');
    this.#cancel();
    this.#cancel = this.#clock.after(ANSWER_MS, () => {
      if (this.#isAsked) this.#drop();
      else this.#look();
    });
  }

  /** Whoever is gone does not answer a closing either: it is not waited for. */
  #drop(): void {
    this.#lost(0);
  }

  #leave(): void {
    this.#attempt += 1;
    this.#cancel();
    this.#liveSince = undefined;
    const socket = this.#socket;
    if (!socket) return;
    this.#socket = undefined;
    socket.onmessage = null;
    socket.onclose = null;
    socket.close(NORMAL);
  }

  #say(state: LiveState): void {
    if (this.state === state) return;
    this.state = state;
    this.#options.onState?.(state);
  }
}

/** Undefined where it is none. */
const placeOf = (text = ''): { epoch: string; seq: number } | undefined => {
  const [, epoch, seq] = /^([0-9a-f]{16})\.(\d{1,15})$/.exec(text) ?? [];
  return epoch === undefined || seq === undefined ? undefined : { epoch, seq: Number(seq) };
};

interface LiveFrame {
  readonly type: string;
  readonly seq?: number;
  readonly epoch?: string;
}

const frameOf = (text: string): LiveFrame | undefined => {
  try {
    const frame: unknown = JSON.parse(text);
    return typeof frame === 'object' && frame !== null && 'type' in frame && typeof frame.type === 'string' ? (frame as LiveFrame) : undefined;
  } catch {
    return undefined; // somebody else speaks there
  }
};

const isChange = (rest: object): rest is LiveChange => 'what' in rest && typeof rest.what === 'string';
