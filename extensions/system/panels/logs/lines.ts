/**
 * The daemon's log as it comes, bounded.
 *
 * A reader that lost its connection goes on after the last line it saw; when the daemon started anew meanwhile, its
 * numbers begin again, so lines are known here by numbers of their own.
 */
import { AbortedError, daemon, type EventOf, followEvents, onRefused, SvcError, useCallback, useEffect, useRef, useState } from '@svc/kit';

export type LogLine = EventOf<'streamLogs'>['data'];
export type Level = LogLine['level'];

export interface Kept {
  readonly key: string;
  readonly line: LogLine;
  /** What is searched. */
  readonly text: string;
  /** The first of another life of the daemon. */
  readonly isFirst: boolean;
}

export interface Log {
  readonly lines: readonly Kept[];
  /** Lines that came since the panel was opened, of which `lines` are the newest. */
  readonly count: number;
  readonly state: 'connecting' | 'live' | 'lost';
  readonly error: unknown;
  readonly retry: () => void;
}

export const LEVELS = ['trace', 'debug', 'info', 'warn', 'error'] as const satisfies readonly Level[];
export const MAX_KEPT = 5_000;
const FIRST_LINES = 1_000;
/** Lines that come together are drawn together. */
const TOGETHER_MS = 100;

const textOf = ({ target, message, level, request_id, agent_id, fields }: LogLine): string =>
  `${level} ${target} ${message} ${request_id ?? ''} ${agent_id ?? ''} ${JSON.stringify(fields)}`.toLowerCase();

export const useLog = (): Log => {
  const [shown, setShown] = useState<{ lines: readonly Kept[]; count: number }>({ lines: [], count: 0 });
  const [state, setState] = useState<Log['state']>('connecting');
  const [error, setError] = useState<unknown>();
  const [attempt, setAttempt] = useState(0);
  const all = useRef<{ lines: readonly Kept[]; count: number; lastSeq: number }>({ lines: [], count: 0, lastSeq: 0 });

  useEffect(() => {
    const own = new AbortController();
    const come: Kept[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    // What was read before a failure comes again with the first lines.
    all.current = { lines: [], count: 0, lastSeq: 0 };
    const flush = (): void => {
      timer = undefined;
      const { count, lastSeq } = all.current;
      all.current = { lines: [...all.current.lines, ...come.splice(0)].slice(-MAX_KEPT), count, lastSeq };
      setShown({ lines: all.current.lines, count });
    };
    const take = (line: LogLine): void => {
      const count = all.current.count + 1;
      come.push({ key: String(count), line, text: textOf(line), isFirst: line.seq <= all.current.lastSeq });
      if (come.length > MAX_KEPT) come.shift();
      all.current = { ...all.current, count, lastSeq: line.seq };
      timer ??= setTimeout(flush, TOGETHER_MS);
    };
    const read = async (): Promise<void> => {
      const options = { signal: own.signal, reconnectMs: Number.POSITIVE_INFINITY, onOpen: () => setState('live'), onConnection: (now: 'lost' | 'back') => setState(now === 'lost' ? 'lost' : 'live') };
      for await (const event of followEvents(daemon, 'streamLogs', { level: 'trace', lines: FIRST_LINES }, options)) take(event.data);
    };
    setState('connecting');
    setError(undefined);
    const askForKey = onRefused();
    read().catch((cause: unknown) => {
      if (own.signal.aborted || cause instanceof AbortedError) return;
      if (cause instanceof SvcError && cause.status === 401) askForKey();
      setError(cause);
      setState('lost');
    });
    return () => {
      own.abort();
      clearTimeout(timer);
    };
  }, [attempt]);

  return { ...shown, state, error, retry: useCallback(() => setAttempt((now) => now + 1), []) };
};

export interface Filter {
  readonly level: Level;
  readonly area: string;
  readonly words: string;
}

export const levelOf = (text: string | undefined): Level => LEVELS.find((one) => one === text) ?? 'trace';

export const filtered = (lines: readonly Kept[], { level, area, words }: Filter): readonly Kept[] => {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const least = LEVELS.indexOf(level);
  if (wanted.length === 0 && least === 0 && area === '') return lines;
  return lines.filter(({ line, text }) => LEVELS.indexOf(line.level) >= least && (area === '' || line.target === area) && wanted.every((word) => text.includes(word)));
};

const inLine = (value: unknown): string => (typeof value === 'string' && !/[\s"=]/.test(value) ? value : JSON.stringify(value));

/** As the files have it, one line each. */
export const asText = (lines: readonly Kept[]): string =>
  lines
    .map(({ line: { timestamp, level, target, message, request_id, fields } }) => {
      const rest = Object.entries({ ...fields, ...(request_id === null ? {} : { request_id }) }).map(([name, value]) => `${name}=${inLine(value)}`);
      return [timestamp, level.padEnd(5), target, message.replaceAll('\n', '\\n'), ...rest].join(' ');
    })
    .join('\n');
