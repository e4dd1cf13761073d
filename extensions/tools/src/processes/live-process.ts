/** One process that this daemon holds: its output as it comes, and its end. */
import type { Capabilities, ChildEnd, ChildHandle, Clock } from '@svc/api';
import { createOutputBuffer, type OutputBuffer } from './output-buffer.js';
import type { ProcessEnd } from './process-rows.js';

/** Of its output; twice as much at the worst. */
const KEPT_CHARS = 128 * 1024;
/** Read of one process in a second; beyond it the pipe pushes back, so that a flood costs the others nothing. */
const BYTES_PER_SECOND = 32 * 1024 * 1024;

export interface LiveProcess {
  readonly id: string;
  readonly agentId: string;
  readonly ownerId: string;
  readonly command: string;
  /** What it was started under: with less it is not written to any more. */
  readonly grants: Pick<Capabilities, 'shell' | 'exec' | 'network' | 'mounts'>;
  readonly startedMs: number;
  readonly output: OutputBuffer;
  child: ChildHandle | undefined;
  end: ProcessEnd | undefined;
  endedMs: number | undefined;
  /** Resolves when its end is known and written down. */
  readonly done: Promise<void>;
  settled(): void;
  /** Where the last answer ended, and where it began for whom: the same call asked again gets the same. */
  polled: { readonly key: string; readonly from: number; readonly next: number };
  /** Tells those who wait that there is more output, or an end. */
  news(): void;
  untilNews(signal: AbortSignal): Promise<void>;
  /** Ends it, for this reason; the first reason counts. */
  stop(why: string): void;
  /** Why it was told to end. */
  why(): string | undefined;
  readonly signal: AbortSignal;
}

export const createLiveProcess = (facts: Pick<LiveProcess, 'id' | 'agentId' | 'ownerId' | 'command' | 'grants' | 'startedMs'>): LiveProcess => {
  const controller = new AbortController();
  let why: string | undefined;
  let settled = (): void => undefined;
  const done = new Promise<void>((resolve) => {
    settled = resolve;
  });
  const waiting = new Set<() => void>();
  return {
    ...facts,
    output: createOutputBuffer(KEPT_CHARS),
    child: undefined,
    end: undefined,
    endedMs: undefined,
    done,
    settled: () => settled(),
    polled: { key: '', from: 0, next: 0 },
    news: () => {
      for (const wake of [...waiting]) wake();
    },
    untilNews: (signal) =>
      new Promise((resolve) => {
        const wake = (): void => {
          waiting.delete(wake);
          signal.removeEventListener('abort', wake);
          resolve();
        };
        waiting.add(wake);
        signal.addEventListener('abort', wake, { once: true });
        if (signal.aborted) wake();
      }),
    stop: (reason) => {
      why ??= reason;
      controller.abort(new Error(reason));
    },
    why: () => why,
    signal: controller.signal,
  };
};

/** Takes in what both outputs say, as it comes, until the process is gone. */
export const readOutput = async (live: LiveProcess, child: ChildHandle, clock: Pick<Clock, 'mono' | 'sleep'>): Promise<void> => {
  const pace = createPace(clock);
  const read = async (source: AsyncIterable<Uint8Array>): Promise<void> => {
    const decoder = new TextDecoder();
    const take = (text: string): void => {
      if (text === '') return;
      live.output.add(text);
      live.news();
    };
    for await (const piece of source) {
      take(decoder.decode(piece, { stream: true }));
      await pace(piece.length);
    }
    take(decoder.decode());
  };
  await Promise.all([read(child.stdout), read(child.stderr)]);
};

/** Waits where more was read than a second allows. */
const createPace = (clock: Pick<Clock, 'mono' | 'sleep'>) => {
  let sinceMs = clock.mono();
  let bytes = 0;
  return async (more: number): Promise<void> => {
    bytes += more;
    const leftMs = 1000 - (clock.mono() - sinceMs);
    if (leftMs > 0 && bytes < BYTES_PER_SECOND) return;
    if (leftMs > 0) await clock.sleep(leftMs);
    sinceMs = clock.mono();
    bytes = 0;
  };
};

/** How it ended, in the words of whoever ended it. */
export const endOf = (child: ChildEnd, why: string | undefined): ProcessEnd => {
  const { exitCode, signal } = child;
  if (child.why === 'exit') return { state: 'exited', exitCode, note: exitCode === null ? `signal ${signal ?? 'unknown'}` : null };
  const reasons = {
    timeout: 'its time was over',
    idle: 'it wrote nothing for too long',
    ended: why ?? 'the daemon stopped, or its tools were reloaded',
    exceeded: `it used ${child.exceeded ?? 'more than its sandbox allows'}`,
  };
  return { state: 'ended', exitCode, note: reasons[child.why] };
};
