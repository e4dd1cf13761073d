/**
 * Keeps the process of one generation: starts it when it is first asked, watches it, and starts it again when it ended.
 *
 * S1  Before its first call there is no process; after a time of rest there is none again.
 * S2  When it ends by itself, hangs, or takes more than it may, what was asked of it fails with 503 at once; what is asked
 *     later fails until its wait is over (1 s, 2 s … 60 s). The fifth time in ten minutes is the last.
 * S3  A stop asks it to stop, and ends it when it does not.
 */
import type { ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import { type ExtensionContext, isSvcError, type StopReason, type SvcError } from '@svc/api';
import { type CallTerms, type Control, Peer } from '../channel/peer.js';
import { isolationErrors } from '../errors.js';
import type { CrashRegistry } from './crash-registry.js';
import { type Isolation, launch, type Launched } from './launch.js';
import { type Usage, usageOf } from './usage.js';

export interface SupervisorDeps {
  readonly id: string;
  readonly isolation: Isolation;
  /** Absolute path of the program that a process runs. */
  readonly program: string;
  readonly folder: string;
  readonly limits: ProcessLimits;
  readonly crashes: CrashRegistry;
  readonly ctx: Pick<ExtensionContext, 'log'>;
  /** What has to be so before a process starts; a rejection keeps it from starting. */
  beforeLaunch?(): Promise<void>;
  /** The daemon's side of the questions that a process asks; made for each process. */
  connect(busy: (number: number, isBusy: boolean) => void): {
    serve(to: string, args: readonly unknown[], control: Control): Promise<unknown>;
    onNotify(to: string, args: readonly unknown[]): void;
    close(): void;
  };
  /** Something threw in the process where nobody waits for it. */
  reportUnhandled(place: string, error: Error): void;
  /** It ended by itself; `isTooMany`: it should be switched off. */
  crashed(why: string, isTooMany: boolean): void;
  /** It works again. */
  recovered(): void;
  /** Notes a process so that the next start ends it where this daemon was killed; before any code of the extension runs. */
  record?(pid: number): Promise<() => Promise<void>>;
  /** Told of each process: its pid and what it uses, and undefined when it has gone. */
  running?(now: { readonly pid: number; readonly usage: Usage | undefined } | undefined): void;
}

export interface ProcessLimits {
  readonly memoryMb: number;
  /** Without a call for so long it is ended. */
  readonly restMs: number;
}

export interface WholeDeps extends SupervisorDeps {
  /** Tells a process that was started what it is; rejects where it is not what it should be. */
  begin(call: (to: string, args: readonly unknown[], deadlineMs?: number) => Promise<unknown>): Promise<void>;
}

const ACTIVATE_DEADLINE_MS = 10_000;
const STOP_DEADLINE_MS = 5_000;
const KILL_AFTER_MS = 500;
/** How often a process is looked at, and for how long it may say nothing. */
const POLL_MS = 1_000;
const SILENT_MS = 4_000;
/** A whole core for so long, without a pause, is more than an extension may take. */
const BUSY_LOOKS = 60;
const BUSY_SHARE = 0.9;
/** Reasons not to rest that are kept apart. */
const MAX_BUSY = 10_000;
const HEAP_SHARE = 0.75;
const MB = 1024 * 1024;
/** How long one that was not ready is left alone. */
const NOT_READY_MS = 1_000;
const MAX_LINE = 2_000;
const MAX_LINES_PER_SECOND = 50;

interface Live {
  readonly launched: Launched;
  readonly peer: Peer;
  readonly ready: Promise<void>;
  readonly adapters: ReturnType<SupervisorDeps['connect']>;
  readonly busy: Set<number>;
  lastUsed: number;
  isStopping: boolean;
  hasBegun: boolean;
  look: NodeJS.Timeout;
  cpu: { ms: number; looks: number };
  usage: Usage | undefined;
}

export class Supervisor {
  readonly #deps: WholeDeps;
  #live: Live | undefined;
  #starting: Promise<Live> | undefined;
  #waitUntil = 0;
  #reason: string | undefined;
  #isOver = false;
  #again: NodeJS.Timeout | undefined;

  constructor(deps: WholeDeps) {
    this.#deps = deps;
  }

  /** Starts the process where there is none, and resolves when it is ready. */
  async ensure(): Promise<void> {
    await this.#need();
  }

  async call(to: string, args: readonly unknown[], terms: CallTerms): Promise<unknown> {
    const live = this.#live?.hasBegun ? this.#live : await this.#need();
    live.lastUsed = performance.now();
    try {
      return await live.peer.call(to, args, terms);
    } finally {
      live.lastUsed = performance.now();
    }
  }

  /** Only to a process that is there. */
  notify(to: string, args: readonly unknown[]): void {
    if (this.#live?.hasBegun) this.#live.peer.notify(to, args);
  }

  async stop(why: StopReason): Promise<void> {
    this.#isOver = true;
    clearTimeout(this.#again);
    const live = this.#live ?? (await this.#starting?.catch(() => undefined));
    if (live) await this.#end(live, why);
  }

  #need(): Promise<Live> {
    const { id } = this.#deps;
    if (this.#isOver) return Promise.reject(isolationErrors.down(id, 'it was stopped'));
    if (this.#live) return this.#live.ready.then(() => this.#live ?? this.#need());
    const waitMs = this.#waitUntil - performance.now();
    if (waitMs > 0) return Promise.reject(isolationErrors.down(id, this.#reason ?? 'it ended').with({ headers: { 'retry-after': String(Math.ceil(waitMs / 1_000)) } }));
    this.#starting ??= this.#start().finally(() => {
      this.#starting = undefined;
    });
    return this.#starting;
  }

  async #start(): Promise<Live> {
    const { folder, isolation, limits, program } = this.#deps;
    await this.#deps.beforeLaunch?.();
    const launched = await launch({ isolation, program, folder, heapMb: Math.floor(limits.memoryMb * HEAP_SHARE) });
    const forget = await this.#recorded(launched);
    launched.process.once('exit', () => void forget());
    const busy = new Set<number>();
    const adapters = this.#deps.connect((number, isBusy) => void (isBusy ? busy.size < MAX_BUSY && busy.add(number) : busy.delete(number)));
    const peer = new Peer({
      stream: launched.channel,
      serve: (to, args, control) => adapters.serve(to, args, control),
      onNotify: (to, args) => adapters.onNotify(to, args),
      ended: (why) => this.#lost(live, why),
    });
    const begun = this.#deps.begin((to, args, deadlineMs = ACTIVATE_DEADLINE_MS) => peer.call(to, args, { deadlineMs, label: `${to} of ${this.#deps.id}` }));
    const live: Live = {
      launched,
      peer,
      adapters,
      busy,
      ready: begun,
      lastUsed: performance.now(),
      isStopping: false,
      hasBegun: false,
      look: setInterval(() => void this.#look(live), POLL_MS),
      cpu: { ms: 0, looks: 0 },
      usage: undefined,
    };
    live.look.unref();
    this.#live = live;
    this.#deps.running?.({ pid: launched.pid, usage: undefined });
    this.#receive(launched.process, live);
    try {
      await begun;
    } catch (error) {
      live.isStopping = true;
      this.#kill(live);
      if (error instanceof Error && error.name === 'NotReady') {
        // No failure, and no reason to start a process with every call.
        this.#waitUntil = performance.now() + NOT_READY_MS;
        this.#reason = error.message;
        throw error;
      }
      this.#crash(messageOf(error));
      throw error;
    }
    live.hasBegun = true;
    this.#reason = undefined;
    this.#deps.recovered();
    return live;
  }

  /** One that cannot be recorded does not run. */
  async #recorded({ pid, process: child }: Launched): Promise<() => Promise<void>> {
    try {
      const forget = (await this.#deps.record?.(pid)) ?? (async () => undefined);
      if (child.exitCode !== null || child.signalCode !== null) await forget();
      return forget;
    } catch (error) {
      child.kill('SIGKILL');
      throw error;
    }
  }

  #receive(child: ChildProcess, live: Live): void {
    for (const [stream, level] of [
      [child.stdout, 'info'],
      [child.stderr, 'warn'],
    ] as const) {
      if (stream) readLines(stream, (line) => this.#deps.ctx.log[level](line));
    }
    child.once('exit', (code, signal) => this.#lost(live, isolationErrors.closed(signal ? `it was ended by ${signal}` : `it ended with code ${code ?? 'unknown'}`)));
  }

  /** It went away, or was cut off: whoever waits for it is told. */
  #lost(live: Live, why: SvcError): void {
    clearInterval(live.look);
    live.peer.end(why);
    live.adapters.close();
    if (this.#live !== live) return;
    this.#live = undefined;
    this.#deps.running?.(undefined);
    if (live.isStopping) return;
    live.isStopping = true;
    live.launched.process.kill('SIGKILL');
    // One that never began is told by whoever began it.
    if (live.hasBegun) this.#crash(why.message);
  }

  #crash(why: string): void {
    const { crashes, ctx, id } = this.#deps;
    const { waitMs, isTooMany } = crashes.crashed(id);
    this.#waitUntil = performance.now() + waitMs;
    this.#reason = why;
    ctx.log.error('the process of the extension ended', { why, again_in_ms: isTooMany ? undefined : waitMs });
    if (isTooMany) this.#isOver = true;
    else this.#again = setTimeout(() => void this.#need().catch(() => undefined), waitMs).unref();
    this.#deps.crashed(why, isTooMany);
  }

  async #look(live: Live): Promise<void> {
    const { limits } = this.#deps;
    if (live.isStopping) return;
    const isAtRest = live.hasBegun && live.peer.underWay === 0 && live.busy.size === 0;
    if (isAtRest && performance.now() - live.lastUsed > limits.restMs) return this.#end(live, 'shutdown');
    // While it begins it has a deadline of its own for its answers, and none for its memory.
    await Promise.all([live.hasBegun ? this.#listen(live) : undefined, usageOf(live.launched.pid).then((usage) => usage && this.#weigh(live, usage))]);
  }

  /** Asked past all calls that are under way: whoever answers none of those may live all the same. */
  async #listen(live: Live): Promise<void> {
    try {
      await live.peer.call('ping', [], { deadlineMs: SILENT_MS, isUrgent: true });
    } catch (error) {
      if (isSvcError(error) && error.code === 'isolation_late') this.#cut(live, isolationErrors.down(this.#deps.id, `it gave no sign of life for ${SILENT_MS / 1_000} s`));
    }
  }

  #weigh(live: Live, usage: Usage): void {
    const { id, limits } = this.#deps;
    if (live.isStopping) return;
    const share = live.usage === undefined ? 0 : (usage.cpuMs - live.usage.cpuMs) / POLL_MS;
    live.usage = usage;
    this.#deps.running?.({ pid: live.launched.pid, usage });
    live.cpu.looks = share >= BUSY_SHARE ? live.cpu.looks + 1 : 0;
    if (usage.rssBytes > limits.memoryMb * MB) this.#cut(live, isolationErrors.down(id, `it used ${Math.round(usage.rssBytes / MB)} MB of memory, and ${limits.memoryMb} MB is the most`));
    else if (live.cpu.looks >= BUSY_LOOKS) this.#cut(live, isolationErrors.down(id, `it used a whole processor for ${(BUSY_LOOKS * POLL_MS) / 1_000} s`));
  }

  #cut(live: Live, why: SvcError): void {
    if (live.isStopping) return;
    live.launched.process.kill('SIGKILL');
    this.#lost(live, why);
  }

  async #end(live: Live, why: StopReason): Promise<void> {
    if (live.isStopping) return;
    live.isStopping = true;
    if (this.#live === live) this.#live = undefined;
    try {
      await live.peer.call('stop', [why], { deadlineMs: STOP_DEADLINE_MS });
    } catch (error) {
      this.#deps.ctx.log.warn('the process of the extension did not stop when requested', { cause: error });
    }
    this.#kill(live);
  }

  #kill(live: Live): void {
    const { process: child } = live.launched;
    clearInterval(live.look);
    live.peer.end(isolationErrors.closed('it was stopped'));
    live.adapters.close();
    if (this.#live === live) this.#live = undefined;
    this.#deps.running?.(undefined);
    if (child.exitCode !== null || child.signalCode !== null) return;
    const timer = setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS);
    child.once('exit', () => clearTimeout(timer));
  }
}

/** Beyond so many bytes in a second the rest waits in the pipe, and whoever writes there waits too. */
const MAX_TEXT_PER_SECOND = 256 * 1_024;

const readLines = (stream: Readable, onNotify: (line: string) => void): void => {
  let rest = '';
  let window = { second: 0, lines: 0, bytes: 0 };
  stream.on('data', (piece: Buffer) => {
    const now = Date.now();
    const second = Math.floor(now / 1_000);
    if (window.second !== second) window = { second, lines: 0, bytes: 0 };
    window.bytes += piece.byteLength;
    const lines = (rest + piece.toString('utf8')).split('\n');
    rest = (lines.pop() ?? '').slice(-MAX_LINE);
    for (const line of lines) {
      if (window.lines >= MAX_LINES_PER_SECOND) break;
      if (line.trim() === '') continue;
      window.lines += 1;
      onNotify(line.slice(0, MAX_LINE));
    }
    if (window.bytes < MAX_TEXT_PER_SECOND) return;
    stream.pause();
    setTimeout(() => stream.resume(), 1_000 - (now % 1_000)).unref();
  });
};

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
