/**
 * One end of a channel between two processes: calls with answers, messages without, streams that the other side pulls.
 *
 * C1  Every call ends: with an answer, an error, its caller's signal, its deadline, or the end of the channel.
 * C2  The other side may have only so many calls under way; one more ends the channel (`isolation_flood`). Own calls beyond that wait in line.
 * C3  A stream moves when it is pulled, one item at a time: whoever does not pull is sent nothing.
 * C4  Whoever does not read is answered no more: answers wait until there is room, and count as under way meanwhile.
 * C5  What the other side sends takes at most a share of this side's time; the rest waits in the pipe.
 */
import type { Duplex } from 'node:stream';
import { isSvcError, type SvcError } from '@svc/api';
import { isolationErrors } from '../errors.js';
import { encodeFrame, type Framed, FrameReader } from './framing.js';
import { pack, unpack } from './packed.js';
import { fromWire, toWire } from './wire-error.js';

/** Calls of one side that may be under way at once. */
export const MAX_IN_FLIGHT = 64;
/** Calls that wait for their turn. */
const MAX_LINE = 10_000;
const CLOSED_MS = 40;
const MAX_SOURCES = 1_024;
const MAX_UNSENT_BYTES = 16 * 1024 * 1024;
/** Of each such time, this much may be spent on what the other side sends. */
const SHARE = { everyMs: 100, atMostMs: 30 };
/** So many full shares one after the other are a flood. */
const FULL_SHARES = 100;

export interface Control {
  /** Aborted when the caller cancels, or the channel ends. */
  readonly signal: AbortSignal;
}

export interface PeerOptions {
  readonly stream: Duplex;
  /** Answers a call of the other side. What it throws crosses as an error. */
  serve(to: string, args: readonly unknown[], control: Control): unknown;
  /** Hears what needs no answer. */
  onNotify(to: string, args: readonly unknown[]): void;
  /** The other side broke the rules, or went away; nothing more comes. Once. */
  ended(why: SvcError): void;
  /** Whether the other side is somebody whose time and share are limited. Default true. */
  readonly isBounded?: boolean;
}

export interface CallTerms {
  readonly signal?: AbortSignal | undefined;
  /** What the error calls it, and after how long it is one. */
  readonly deadlineMs?: number | undefined;
  readonly label?: string;
  /** Asked at once, however many calls are under way. */
  readonly isUrgent?: boolean;
}

interface Asked {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly end: () => void;
}

interface Lent {
  readonly iterator: AsyncIterator<unknown>;
}

type Message = readonly [kind: 'call' | 'pull' | 'reply' | 'error' | 'cancel' | 'tell' | 'drop', id: number, ...rest: unknown[]];

export class Peer {
  readonly #options: PeerOptions;
  readonly #reader = new FrameReader();
  readonly #asked = new Map<number, Asked>();
  readonly #served = new Map<number, { readonly abort: AbortController }>();
  readonly #lent = new Map<number, Lent>();
  readonly #line: Array<() => void> = [];
  readonly #waiting: Array<() => void> = [];
  #next = 1;
  #under = 0;
  #serving = 0;
  #pulls = 0;
  #over: SvcError | undefined;
  #share = { since: 0, spentMs: 0, full: 0 };
  #isPaused = false;

  constructor(options: PeerOptions) {
    this.#options = options;
    const { stream } = options;
    stream.on('data', (piece: Buffer) => {
      this.#reader.push(piece);
      this.#read();
    });
    stream.on('drain', () => this.#wake());
    // Whoever watches the process knows better why, a moment later.
    const later = (why: SvcError): unknown => setTimeout(() => this.end(why), CLOSED_MS).unref();
    stream.on('error', (cause) => later(isolationErrors.closed('its channel broke').with({ cause })));
    stream.on('close', () => later(isolationErrors.closed('it closed its channel')));
    stream.on('end', () => later(isolationErrors.closed('it closed its channel')));
  }

  get isOver(): boolean {
    return this.#over !== undefined;
  }

  /** Calls of this side that wait for an answer. */
  get underWay(): number {
    return this.#under;
  }

  call(to: string, args: readonly unknown[], terms: CallTerms = {}): Promise<unknown> {
    return this.#ask((id) => this.#send(['call', id, to], args), terms, terms.isUrgent === true, to);
  }

  /** Never throws: what cannot be sent is nobody's answer. */
  notify(to: string, args: readonly unknown[]): void {
    if (this.#over) return;
    try {
      this.#send(['tell', 0, to], args);
    } catch {
      return;
    }
  }

  /** Ends the channel: calls under way fail with `why`. */
  end(why: SvcError): void {
    if (this.#over) return;
    this.#over = why;
    for (const { abort } of this.#served.values()) abort.abort(why);
    for (const { iterator } of this.#lent.values()) void Promise.resolve(iterator.return?.()).catch(() => undefined);
    this.#lent.clear();
    for (const asked of [...this.#asked.values()]) {
      asked.end();
      asked.reject(why);
    }
    for (const start of this.#line.splice(0)) start();
    this.#wake();
    this.#options.stream.destroy();
    this.#options.ended(why);
  }

  #ask(send: (id: number) => void, { signal, deadlineMs, label }: CallTerms, isFree: boolean, to: string): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const start = (): void => {
        const refusal = this.#refusal(signal, label ?? to);
        if (refusal !== undefined) {
          reject(refusal);
          return;
        }
        const id = this.#next++;
        let timer: NodeJS.Timeout | undefined;
        const end = (): void => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', onAbort);
          this.#asked.delete(id);
          if (isFree) return;
          this.#under -= 1;
          this.#line.shift()?.();
        };
        const giveUp = (error: unknown): void => {
          end();
          this.#post(['cancel', id]);
          reject(error);
        };
        const onAbort = (): void => giveUp(signal ? reasonOf(signal) : undefined);
        this.#asked.set(id, { resolve, reject, end });
        if (!isFree) this.#under += 1;
        signal?.addEventListener('abort', onAbort, { once: true });
        if (deadlineMs !== undefined) timer = setTimeout(() => giveUp(isolationErrors.late(label ?? to, deadlineMs)), deadlineMs);
        try {
          send(id);
        } catch (error) {
          end();
          reject(error);
        }
      };
      if (isFree || this.#under < MAX_IN_FLIGHT) start();
      else this.#waitInQueue(start, reject, signal, deadlineMs, label ?? to);
    });
  }

  /** Whoever waits in line may leave it, and does when its time is over. */
  #waitInQueue(start: () => void, reject: (error: unknown) => void, signal: AbortSignal | undefined, deadlineMs: number | undefined, what: string): void {
    if (this.#line.length >= MAX_LINE) {
      reject(isolationErrors.backed_up(what));
      return;
    }
    let timer: NodeJS.Timeout | undefined;
    const goOn = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      start();
    };
    const leave = (error: unknown): void => {
      const place = this.#line.indexOf(goOn);
      if (place < 0) return;
      this.#line.splice(place, 1);
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      reject(error);
    };
    const onAbort = (): void => leave(signal ? reasonOf(signal) : undefined);
    if (deadlineMs !== undefined) timer = setTimeout(() => leave(isolationErrors.late(what, deadlineMs)), deadlineMs);
    signal?.addEventListener('abort', onAbort, { once: true });
    this.#line.push(goOn);
  }

  /** Why nothing more is asked now. */
  #refusal(signal: AbortSignal | undefined, what: string): unknown {
    if (this.#over) return this.#over;
    if (signal?.aborted) return reasonOf(signal);
    return this.#isFull() ? isolationErrors.backed_up(what) : undefined;
  }

  #isFull(): boolean {
    return this.#options.stream.writableLength > MAX_UNSENT_BYTES;
  }

  #wake(): void {
    for (const go of this.#waiting.splice(0)) go();
  }

  #send(head: Message, args: unknown): void {
    const { value, parts } = pack(args, (source) => this.#lend(source));
    this.#options.stream.write(encodeFrame([...head, value], parts));
  }

  /** Without anything of anybody's in it. */
  #post(message: Message): void {
    if (!this.#over) this.#options.stream.write(encodeFrame(message, []));
  }

  #lend(source: AsyncIterable<unknown>): number {
    if (this.#lent.size >= MAX_SOURCES) throw isolationErrors.flood(`${MAX_SOURCES} streams are open`);
    const number = this.#next++;
    this.#lent.set(number, { iterator: source[Symbol.asyncIterator]() });
    return number;
  }

  /** A stream of the other side, as a loop takes it. */
  #borrow(number: number): AsyncIterable<unknown> {
    let isOver = false;
    const drop = async (): Promise<IteratorResult<unknown>> => {
      if (!isOver) this.#post(['drop', number]);
      isOver = true;
      return { done: true, value: undefined };
    };
    const next = async (): Promise<IteratorResult<unknown>> => {
      if (isOver) return { done: true, value: undefined };
      try {
        const items = await this.#ask((id) => this.#post(['pull', id, number]), {}, true, 'a stream');
        if (Array.isArray(items) && items.length === 1) return { done: false, value: items[0] };
      } catch (error) {
        isOver = true;
        throw error;
      }
      isOver = true;
      return { done: true, value: undefined };
    };
    return { [Symbol.asyncIterator]: () => ({ next, return: drop, throw: drop }) };
  }

  #read(): void {
    if (this.#isPaused) return;
    const isBounded = this.#options.isBounded !== false;
    try {
      for (let framed = this.#nextFrame(isBounded); framed !== undefined; framed = this.#nextFrame(isBounded)) this.#take(framed);
    } catch (error) {
      this.end(isSvcError(error) ? error : isolationErrors.frame_broken(error instanceof Error ? error.message : 'it cannot be read'));
    }
  }

  /** Undefined where nothing whole is there, and where the share of this moment is used up. */
  #nextFrame(isBounded: boolean): Framed | undefined {
    if (this.#over) return undefined;
    const began = performance.now();
    if (isBounded && this.#isShareUsed(began)) return undefined;
    const framed = this.#reader.next();
    this.#share.spentMs += performance.now() - began;
    return framed;
  }

  #isShareUsed(now: number): boolean {
    const share = this.#share;
    if (now - share.since >= SHARE.everyMs) {
      share.full = share.spentMs >= SHARE.atMostMs ? share.full + 1 : 0;
      share.since = now;
      share.spentMs = 0;
      if (share.full >= FULL_SHARES) throw isolationErrors.flood(`it blocked the daemon for ${(FULL_SHARES * SHARE.everyMs) / 1_000} s without a pause`);
    }
    if (share.spentMs < SHARE.atMostMs) return false;
    this.#isPaused = true;
    this.#options.stream.pause();
    setTimeout(
      () => {
        this.#isPaused = false;
        this.#options.stream.resume();
        this.#read();
      },
      SHARE.everyMs - (now - share.since),
    );
    return true;
  }

  #take({ head, parts }: Framed): void {
    const began = performance.now();
    const [kind, id, ...rest] = head as readonly unknown[];
    if (typeof id !== 'number') throw isolationErrors.frame_broken('it has no number');
    const open = (value: unknown): unknown => unpack({ value, parts }, (number) => this.#borrow(number));
    if (kind === 'call') void this.#serve(id, String(rest[0]), argsOf(open(rest[1])));
    else if (kind === 'pull') void this.#pulled(id, Number(rest[0]));
    else if (kind === 'drop') this.#dropped(id);
    else if (kind === 'cancel') this.#served.get(id)?.abort.abort();
    else if (kind === 'tell') this.#options.onNotify(String(rest[0]), argsOf(open(rest[1])));
    else if (kind === 'reply') this.#answered(id, open(rest[0]), false);
    else if (kind === 'error') this.#answered(id, fromWire(open(rest[0])), true);
    else throw isolationErrors.frame_broken('it is of no kind that is known');
    this.#share.spentMs += performance.now() - began;
  }

  #answered(id: number, value: unknown, isError: boolean): void {
    const asked = this.#asked.get(id);
    // Of a call that was abandoned meanwhile.
    if (!asked) return;
    asked.end();
    if (isError) asked.reject(value);
    else asked.resolve(value);
  }

  async #serve(id: number, to: string, args: readonly unknown[]): Promise<void> {
    if (this.#options.isBounded !== false && this.#serving >= MAX_IN_FLIGHT) return this.end(isolationErrors.flood(`more than ${MAX_IN_FLIGHT} calls at the same time`));
    this.#serving += 1;
    await this.#settle(id, (control) => this.#options.serve(to, args, control));
    this.#serving -= 1;
  }

  async #pulled(id: number, number: number): Promise<void> {
    if (this.#options.isBounded !== false && this.#pulls >= MAX_SOURCES) return this.end(isolationErrors.flood(`more than ${MAX_SOURCES} streams are read at the same time`));
    const lent = this.#lent.get(number);
    this.#pulls += 1;
    await this.#settle(id, async () => {
      if (!lent) return [];
      try {
        const { done, value } = await lent.iterator.next();
        if (!done) return [value];
      } catch (error) {
        this.#lent.delete(number);
        throw error;
      }
      this.#lent.delete(number);
      return [];
    });
    this.#pulls -= 1;
  }

  async #settle(id: number, work: (control: Control) => unknown): Promise<void> {
    const abort = new AbortController();
    this.#served.set(id, { abort });
    let answer: Message;
    let value: unknown;
    try {
      value = await work({ signal: abort.signal });
      answer = ['reply', id];
    } catch (error) {
      value = toWire(error);
      answer = ['error', id];
    }
    this.#served.delete(id);
    while (!this.#over && this.#isFull()) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    if (this.#over) return;
    try {
      this.#send(answer, value);
    } catch (error) {
      // Too large, or no plain data: whoever asked is told so.
      const { name, message, code, status } = toWire(error);
      this.#send(['error', id], { name, message, code, status });
    }
  }

  #dropped(number: number): void {
    const lent = this.#lent.get(number);
    this.#lent.delete(number);
    void Promise.resolve(lent?.iterator.return?.()).catch(() => undefined);
  }
}

const argsOf = (value: unknown): readonly unknown[] => {
  if (!Array.isArray(value)) throw isolationErrors.frame_broken('it has no arguments');
  return value;
};

const reasonOf = (signal: AbortSignal): unknown => signal.reason ?? new Error('the call was cancelled');
