/**
 * The daily log file: written in the background, in order, from a bounded queue.
 *
 * F1  A line never waits for the disk, and never grows memory beyond MAX_PENDING_BYTES: what does not fit is counted and the count is written.
 * F2  A file that cannot be written is told once to `onTrouble`; it is tried again after RETRY_MS.
 */
import { mkdir, open, readdir, unlink, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '@svc/api';

const MAX_PENDING_BYTES = 4 * 1024 * 1024;
const KEEP_DAYS = 7;
const RETRY_MS = 60_000;
const DAY_MS = 86_400_000;
const FILE_NAME = /^daemon-(\d{4}-\d{2}-\d{2})\.log$/;

export interface FileSink {
  /** False while the file cannot be written: the caller then shows the line elsewhere. */
  write(line: string): boolean;
  flush(): Promise<void>;
  close(): Promise<void>;
}

export interface FileSinkDeps {
  dir: string;
  clock: Clock;
  onTrouble: (error: unknown, path: string) => void;
  /** The text of a line that says how many were left out. */
  droppedLine: (count: number) => string;
}

interface State {
  pending: Array<{ day: string; line: string }>;
  pendingBytes: number;
  dropped: number;
  file: { day: string; handle: FileHandle } | undefined;
  /** Milliseconds since the epoch: what is pruned depends on when the daemon started, not on when the disk got to it. */
  readonly startedAt: number;
  prepared: boolean;
  retryAt: number;
  writing: Promise<void> | undefined;
  closed: boolean;
}

export const createFileSink = (deps: FileSinkDeps): FileSink => {
  const state: State = { pending: [], pendingBytes: 0, dropped: 0, file: undefined, startedAt: deps.clock.now(), prepared: false, retryAt: 0, writing: undefined, closed: false };
  const flush = async (): Promise<void> => {
    while (state.writing) await state.writing;
  };
  return {
    write: (line) => enqueue(deps, state, line),
    flush,
    close: async () => {
      state.closed = true;
      await flush();
      await state.file?.handle.close();
      state.file = undefined;
    },
  };
};

const enqueue = (deps: FileSinkDeps, state: State, line: string): boolean => {
  if (state.closed || deps.clock.mono() < state.retryAt) return false;
  const bytes = Buffer.byteLength(line);
  if (state.pendingBytes + bytes > MAX_PENDING_BYTES) {
    state.dropped++;
    return true;
  }
  state.pending.push({ day: deps.clock.iso().slice(0, 10), line });
  state.pendingBytes += bytes;
  state.writing ??= drain(deps, state).finally(() => {
    state.writing = undefined;
  });
  return true;
};

const drain = async (deps: FileSinkDeps, state: State): Promise<void> => {
  // Lines of the same tick travel in one write.
  await new Promise((resolve) => setImmediate(resolve));
  while (state.pending.length > 0) {
    const batch = state.pending;
    state.pending = [];
    state.pendingBytes = 0;
    if (state.dropped > 0) {
      batch.push({ day: deps.clock.iso().slice(0, 10), line: deps.droppedLine(state.dropped) });
      state.dropped = 0;
    }
    try {
      for (const [day, text] of byDay(batch)) await append(deps, state, day, text);
    } catch (error) {
      state.retryAt = deps.clock.mono() + RETRY_MS;
      await state.file?.handle.close().catch(() => undefined); // the first error is the one to report
      state.file = undefined;
      deps.onTrouble(error, deps.dir);
      state.pending = [];
      state.pendingBytes = 0;
    }
  }
};

const byDay = (batch: ReadonlyArray<{ day: string; line: string }>): Map<string, string> => {
  const days = new Map<string, string>();
  for (const { day, line } of batch) days.set(day, `${days.get(day) ?? ''}${line}\n`);
  return days;
};

const append = async (deps: FileSinkDeps, state: State, day: string, text: string): Promise<void> => {
  if (!state.prepared) {
    await mkdir(deps.dir, { recursive: true });
    await prune(deps.dir, state.startedAt);
    state.prepared = true;
  }
  if (state.file?.day !== day) {
    await state.file?.handle.close();
    state.file = undefined;
    // Logs name people and agents: for the operator's eyes only.
    state.file = { day, handle: await open(join(deps.dir, `daemon-${day}.log`), 'a', 0o600) };
  }
  await state.file.handle.appendFile(text);
};

/** At daemon start: files of more than seven days ago are deleted. */
const prune = async (dir: string, startedAt: number): Promise<void> => {
  const oldest = new Date(startedAt - KEEP_DAYS * DAY_MS).toISOString().slice(0, 10);
  for (const name of await readdir(dir)) {
    const day = FILE_NAME.exec(name)?.[1];
    if (day !== undefined && day < oldest) await unlink(join(dir, name));
  }
};
