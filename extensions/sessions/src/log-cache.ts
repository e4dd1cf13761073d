/**
 * The logs that conversations go on with, kept in memory with what a model reads of them.
 *
 * S6  A log only ever answers for itself: its newest entry's mark is compared with the database, when it is looked at or
 *     by the commit that adds to it. A place that is not looked at again was looked at a few seconds ago.
 * S9  What is kept is bounded in letters, least recently used first out, and given back when a conversation rests.
 */
import type { Clock } from '@svc/api';
import type { Entry, EntryDraft, SessionRef } from './contract.js';
import { createProjection, type GrowingProjection } from './projection.js';
import { markOf, type SessionRow } from './store.js';

/** Each letter is kept up to twice, here and as the text that drivers send. */
const MAX_CHARS = 32_000_000;
/** What an entry takes beside its text: the objects of the entry, of its message, and of what is remembered of both. */
const ENTRY_CHARS = 1_200;
const REST_MS = 30_000;
/** What another process did to a session, beside adding to its log, is seen after this long. */
const TRUSTED_MS = 15_000;
const MAX_TOUCHED = 10_000;

/** What stands in a session's own row. */
export type Place = Pick<SessionRow, 'agentId' | 'ownerId' | 'thinking' | 'model' | 'isAside'>;

export interface CachedLog {
  readonly entries: readonly Entry[];
  readonly projection: GrowingProjection;
}

interface Kept {
  readonly ownerId: string;
  seq: number;
  /** Identifies the newest entry; see store.ts. */
  mark: string;
  readonly entries: Entry[];
  readonly projection: GrowingProjection;
  chars: number;
  usedMs: number;
  place: (Place & { readonly untilMs: number }) | undefined;
}

export interface LogCache {
  /** The log up to `seq`, if it is kept. */
  get(sessionId: string, seq: number): CachedLog | undefined;
  /** All entries after `after` of a log that is kept, with whose it is; nothing where one of them is not kept. */
  newest(sessionId: string, after: number): { readonly ownerId: string; readonly entries: readonly Entry[] } | undefined;
  /** Drops a log that is no longer the one in the database, and notes the place of one that is. */
  compare(row: SessionRow): void;
  /** Where a session stands, as the database said a moment ago and as was added since. */
  place(sessionId: string): (Place & { readonly seq: number; readonly mark: string }) | undefined;
  /** Somebody changes the session's row: from now on its place is what the database says. */
  touched(sessionId: string): void;
  put(session: Pick<SessionRef, 'id' | 'ownerId'>, entries: Entry[], newest: Pick<Entry, 'seq' | 'runId' | 'at'>): CachedLog;
  /** What was appended is kept beside the log it extends. Should its commit fail, the mark no longer matches the database and it is dropped. */
  extend(ref: SessionRef, drafts: readonly EntryDraft[], at: string, mark?: string): void;
  forget(sessionId: string): void;
  /** Gives back what nobody used for a while. */
  rest(): void;
}

export const createLogCache = (clock: Pick<Clock, 'mono'>, maxChars = MAX_CHARS): LogCache => {
  const logs = new Map<string, Kept>();
  const touched = new Set<string>();
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
    newest: (id, after) => {
      const known = logs.get(id);
      if (!known) return undefined;
      const count = Math.max(0, known.seq - after);
      const entries = newestOf(known.entries, count).filter(({ seq }) => seq > after);
      return entries.length === count ? { ownerId: known.ownerId, entries } : undefined;
    },
    compare: (row) => {
      // One in which nothing was said yet is kept as it stands: its first message asks twice.
      if (row.seq === 0 && !logs.has(row.id)) keep(row.id, { ...begun(row.ownerId), mark: row.mark, chars: ENTRY_CHARS });
      const known = logs.get(row.id);
      if (!known) return;
      if (known.mark === row.mark) known.place = { agentId: row.agentId, ownerId: row.ownerId, thinking: row.thinking, model: row.model, isAside: row.isAside, untilMs: clock.mono() + TRUSTED_MS };
      else forget(row.id);
    },
    place: (id) => {
      const known = logs.get(id);
      if (!known?.place || known.place.untilMs < clock.mono() || touched.has(id)) return undefined;
      return { ...known.place, seq: known.seq, mark: known.mark };
    },
    touched: (id) => {
      touched.add(id);
      const [oldest] = touched;
      if (touched.size > MAX_TOUCHED && oldest !== undefined) touched.delete(oldest);
    },
    put: ({ id, ownerId }, entries, newest) => {
      const log = begun(ownerId);
      grow(log, entries, newest.seq, markOf(newest));
      keep(id, log);
      return log;
    },
    extend: (ref, drafts, at, mark) => {
      const known = logs.get(ref.id) ?? (ref.seq === 0 ? begun(ref.ownerId) : undefined);
      const last = drafts.at(-1);
      forget(ref.id);
      if (!known || !last || known.seq !== ref.seq || (ref.seq > 0 && known.mark !== (ref.mark ?? known.mark))) return;
      const seq = ref.seq + drafts.length;
      const entries = drafts.map((draft, index) => ({ ...draft, seq: ref.seq + 1 + index, at }));
      grow(known, entries, seq, mark ?? markOf({ seq, runId: last.runId, at }));
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

/** At least `count` of the newest, in their order. A summary stands before entries that are older than it. */
const newestOf = (entries: readonly Entry[], count: number): readonly Entry[] => {
  const [first] = entries;
  const last = count === 0 ? [] : entries.slice(-count);
  return first?.kind === 'summary' ? [...new Set([first, ...last])].sort((one, other) => one.seq - other.seq) : last;
};

const begun = (ownerId: string): Kept => ({ ownerId, seq: 0, mark: '', entries: [], projection: createProjection(), chars: 0, usedMs: 0, place: undefined });

const grow = (log: Kept, entries: readonly Entry[], seq: number, mark: string): void => {
  for (const entry of entries) {
    log.entries.push(entry);
    log.chars += ENTRY_CHARS + charsOf(entry);
  }
  log.projection.add(entries);
  log.seq = seq;
  log.mark = mark;
};

const charsOf = ({ parts, content, args }: Entry): number => {
  let chars = (content?.length ?? 0) + (args === undefined ? 0 : JSON.stringify(args).length);
  for (const part of parts ?? []) chars += part.type === 'text' ? part.text.length : part.data.length;
  return chars;
};
