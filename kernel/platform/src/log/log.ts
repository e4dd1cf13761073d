/**
 * The log: JSON lines to a daily file, the same in a calm form to the terminal, and the last ones in memory.
 *
 * L1  No registered secret value reaches a sink, the ring or a follower.
 * L2  Logging never throws and never waits for a disk.
 * L3  A file that cannot be written is one warning; the lines go to the terminal.
 */
import type { Disposable, Logger } from '@svc/api';
import type { TimerClock } from '../clock/clock.js';
import { logErrors } from './errors.js';
import { plainFields, plainText } from './fields.js';
import { createFileSink, type FileSink } from './file-sink.js';
import { LEVELS, type LogLevel, type LogLine } from './log-line.js';
import { createRedactor } from './redactor.js';
import { createTerminalSink, type TerminalSink, type TerminalStream } from './terminal-sink.js';

const BUFFERED_LINES = 2_000;
const MAX_FOLLOWERS = 100;

export type { LogLevel, LogLine } from './log-line.js';

export interface LogScope {
  ext?: string;
  generation?: number;
  request?: string;
}

export interface ScopedLogger extends Logger {
  child(scope: LogScope): ScopedLogger;
}

export interface Log {
  logger(area: string): ScopedLogger;
  /** The newest `count` lines, oldest first; at most the last 2,000 are kept. */
  recent(count: number): readonly LogLine[];
  follow(fn: (line: LogLine) => void): Disposable;
  /** From now on this value appears nowhere. Values under 8 characters are too common to hide. */
  redact(value: string): void;
  scrub(text: string): string;
  setLevel(level: LogLevel): void;
  flush(): Promise<void>;
  close(): Promise<void>;
}

export interface LogOptions {
  /** Folder of the daily files; null for none. */
  dir: string | null;
  level: LogLevel;
  clock: TimerClock;
  /** True for stdout; a stream; false for none. */
  terminal: boolean | TerminalStream;
  env?: Readonly<Record<string, string | undefined>>;
}

interface LogState {
  level: number;
  seq: number;
  readonly ringBuffer: LogLine[];
  readonly followers: Set<(line: LogLine) => void>;
  terminal: TerminalSink | undefined;
  file: FileSink | undefined;
  /** Used only while the file is broken and no terminal was asked for. */
  emergency: TerminalSink | undefined;
}

export const createLog = (options: LogOptions): Log => {
  const redactor = createRedactor();
  const env = options.env ?? process.env;
  const state: LogState = { level: LEVELS.indexOf(options.level), seq: 0, ringBuffer: [], followers: new Set(), terminal: undefined, file: undefined, emergency: undefined };
  const stream = options.terminal === true ? process.stdout : options.terminal;
  if (stream) state.terminal = createTerminalSink(stream, env);
  const emit = (level: LogLevel, area: string, scope: LogScope, message: string, fields?: Record<string, unknown>): void => {
    if (LEVELS.indexOf(level) < state.level) return;
    deliver(state, makeLine(++state.seq, options.clock.iso(), level, area, scope, message, fields ?? {}, redactor.scrub));
  };
  if (options.dir !== null) state.file = openFile(options, state, env, emit);
  return {
    logger: (area) => scopedLogger(emit, area, {}),
    recent: (count) => (count <= 0 ? [] : state.ringBuffer.slice(-Math.min(count, BUFFERED_LINES))),
    follow: (fn) => follow(state, fn),
    redact: redactor.register,
    scrub: redactor.scrub,
    setLevel: (level) => {
      state.level = LEVELS.indexOf(level);
    },
    flush: async () => state.file?.flush(),
    close: async () => {
      await state.file?.close();
      state.followers.clear();
      state.terminal?.close();
      state.emergency?.close();
    },
  };
};

type Emit = (level: LogLevel, area: string, scope: LogScope, message: string, fields?: Record<string, unknown>) => void;

const openFile = (options: LogOptions, state: LogState, env: Readonly<Record<string, string | undefined>>, emit: Emit): FileSink =>
  createFileSink({
    dir: options.dir ?? '',
    clock: options.clock,
    onTrouble: (error, path) => {
      if (!state.terminal) state.emergency ??= createTerminalSink(process.stderr, env);
      emit('warn', 'log', {}, 'The log file cannot be written; lines go to the terminal only.', { path, error });
    },
    droppedLine: (count) => JSON.stringify({ timestamp: options.clock.iso(), level: 'warn', target: 'log', message: `${count} lines were left out: the disk did not keep up.`, fields: { count } }),
  });

const scopedLogger = (emit: Emit, area: string, scope: LogScope): ScopedLogger => ({
  debug: (message, fields) => emit('debug', area, scope, message, fields),
  info: (message, fields) => emit('info', area, scope, message, fields),
  warn: (message, fields) => emit('warn', area, scope, message, fields),
  error: (message, fields) => emit('error', area, scope, message, fields),
  child: (inner) => scopedLogger(emit, area, { ...scope, ...inner }),
});

const makeLine = (seq: number, timestamp: string, level: LogLevel, target: string, scope: LogScope, message: string, fields: Record<string, unknown>, scrub: (text: string) => string): LogLine => ({
  seq,
  timestamp,
  level,
  target,
  message: plainText(message, scrub),
  ...(scope.ext !== undefined && { ext: scope.ext }),
  ...(scope.generation !== undefined && { generation: scope.generation }),
  ...(scope.request !== undefined && { request_id: scrub(scope.request) }),
  fields: plainFields(fields, scrub),
});

const deliver = (state: LogState, line: LogLine): void => {
  state.ringBuffer.push(line);
  // Trimmed in blocks: shifting one by one would move the whole ring for every line.
  if (state.ringBuffer.length > BUFFERED_LINES * 1.25) state.ringBuffer.splice(0, state.ringBuffer.length - BUFFERED_LINES);
  const isInFile = state.file?.write(JSON.stringify(line)) ?? true;
  if (state.terminal) state.terminal.write(line);
  else if (!isInFile) state.emergency?.write(line);
  for (const fn of [...state.followers]) {
    try {
      fn(line);
    } catch (error) {
      // Reported as a field of a new line; the follower is gone, so this cannot go round.
      state.followers.delete(fn);
      deliver(state, { seq: ++state.seq, timestamp: line.timestamp, level: 'warn', target: 'log', message: 'A follower of the log failed and was let go.', fields: { error: String(error) } });
    }
  }
};

const follow = (state: LogState, fn: (line: LogLine) => void): Disposable => {
  if (state.followers.size >= MAX_FOLLOWERS) throw logErrors.too_many_followers(MAX_FOLLOWERS);
  state.followers.add(fn);
  return { dispose: () => void state.followers.delete(fn) };
};
