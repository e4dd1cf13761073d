/**
 * The logs that conversations go on with, kept in memory with what a model reads of them.
 *
 * S6  A log only ever answers for itself: the newest entry's mark is compared with the database first.
 * S9  What is kept is bounded in letters, least recently used first out, and given back when a conversation rests.
 */
import type { Clock } from '@svc/api';
import type { Entry, EntryDraft, SessionRef } from './contract.js';
import { createProjection, type GrowingProjection } from './projection.js';

/** Each letter is kept up to twice, here and as the text that drivers send. */
const MAX_CHARS = 24_000_000;
/** What an entry takes beside its text. */
const ENTRY_CHARS = 400;
const REST_MS = 30_000;

export interface KeptLog {
  readonly entries: readonly Entry[];
  readonly projection: GrowingProjection;
}

interface Kept {
  seq: number;
  /** Identifies the newest entry; see store.ts. */
  mark: string;
  readonly entries: Entry[];
  readonly projection: GrowingProjection;
  chars: number;
  usedMs: number;
}

export interface LogCache {
  /** The log up to `seq`, if it is kept. */
  get(sessionId: string, seq: number): KeptLog | undefined;
  /** Drops a log that is no longer the one in the database. */
  compare(sessionId: string, mark: string): void;
  put(sessionId: string, entries: Entry[], newest: Pick<Entry, 'seq' | 'runId' | 'at'>): KeptLog;
  /** What was appended is kept beside the log it extends. Should its commit fail, the mark no longer matches the database and it is dropped. */
  extend(ref: SessionRef, drafts: readonly EntryDraft[], at: string): void;
  forget(sessionId: string): void;
  /** Gives back what nobody used for a while. */
  rest(): void;
}

export const createLogCache = (clock: Pick<Clock, 'mono'>, maxChars = MAX_CHARS): LogCache => {
  const logs = new Map<string, Kept>();
  let allChars = 0;
  const forget = (id: string): void => {
    allChars -= logs.get(id)?.chars ?? 0;
    logs.delete(id);
  };
  const keep = (id: string, log: Kept): void => {
    forget(id);
    if (log.chars > maxChars) return;
    log.usedMs = clock.mono();
    logs.set(id, log);
    allChars += log.chars;
    for (const oldest of logs.keys()) {
      if (allChars <= maxChars) break;
      forget(oldest);
    }
  };
  return {
    get: (id, seq) => {
      const known = logs.get(id);
      return known?.seq === seq ? known : undefined;
    },
    compare: (id, mark) => {
      if (logs.get(id)?.mark !== mark) forget(id);
    },
    put: (id, entries, newest) => {
      const log = begun();
      grow(log, entries, newest.seq, markOf(newest));
      keep(id, log);
      return log;
    },
    extend: (ref, drafts, at) => {
      const known = logs.get(ref.id) ?? (ref.seq === 0 ? begun() : undefined);
      const last = drafts.at(-1);
      forget(ref.id);
      if (!known || known.seq !== ref.seq || !last) return;
      const seq = ref.seq + drafts.length;
      const entries = drafts.map((draft, index) => ({ ...draft, seq: ref.seq + 1 + index, at }));
      grow(known, entries, seq, markOf({ seq, runId: last.runId, at }));
      keep(ref.id, known);
    },
    forget,
    rest: () => {
      const since = clock.mono() - REST_MS;
      for (const [id, { usedMs }] of logs) {
        if (usedMs > since) break;
        forget(id);
      }
    },
  };
};

const begun = (): Kept => ({ seq: 0, mark: '', entries: [], projection: createProjection(), chars: 0, usedMs: 0 });

const grow = (log: Kept, entries: readonly Entry[], seq: number, mark: string): void => {
  for (const entry of entries) {
    log.entries.push(entry);
    log.chars += ENTRY_CHARS + charsOf(entry);
  }
  log.projection.add(entries);
  log.seq = seq;
  log.mark = mark;
};

const markOf = ({ seq, runId, at }: Pick<Entry, 'seq' | 'runId' | 'at'>): string => `${seq}/${runId ?? ''}/${at}`;

const charsOf = ({ parts, content, args }: Entry): number => {
  let chars = (content?.length ?? 0) + (args === undefined ? 0 : JSON.stringify(args).length);
  for (const part of parts ?? []) chars += part.type === 'text' ? part.text.length : part.data.length;
  return chars;
};
