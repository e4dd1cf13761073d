/** The end of a conversation, as much of it as one answer may hold: neither very many entries nor very long ones hold others up. */
import type { Actor } from '@svc/api';
import type { Entry } from '../contract.js';
import type { SessionStore } from '../store.js';

const MAX_ENTRIES = 5_000;
/** Characters; what is beyond is left out by whole entries, the oldest first. */
const MAX_CHARS = 8 * 1_048_576;
/** Entries that are read at once: each may be as long as a message with its pictures. */
const BATCH = 50;

export interface NewestEntries {
  /** Oldest first; the newest is there however long it is. */
  readonly entries: readonly Entry[];
  /** Whether these are all. */
  readonly isWhole: boolean;
}

/** As the database has it: what this process knows may be older, where another daemon writes. Of a session without a row, nothing. */
export const newestOf = async (store: Pick<SessionStore, 'find' | 'entries'>, actor: Actor, sessionId: string): Promise<NewestEntries> =>
  newestEntries(store, sessionId, (await store.find(actor, sessionId))?.seq ?? 0);

/** `seq`: of the newest entry. */
export const newestEntries = async (store: Pick<SessionStore, 'entries'>, sessionId: string, seq: number): Promise<NewestEntries> => {
  const found: Entry[] = [];
  let chars = 0;
  for (let upTo = seq; upTo > 0; upTo -= BATCH) {
    const after = Math.max(0, upTo - BATCH);
    const batch = (await store.entries(sessionId, after, upTo - after)).filter((entry) => entry.seq <= upTo);
    for (const entry of batch.reverse()) {
      chars += charsOf(entry);
      if (found.length > 0 && (chars > MAX_CHARS || found.length === MAX_ENTRIES)) return { entries: found.reverse(), isWhole: false };
      found.push(entry);
    }
  }
  return { entries: found.reverse(), isWhole: true };
};

const charsOf = ({ content, parts = [], args }: Entry): number =>
  (content?.length ?? 0) + parts.reduce((sum, part) => sum + (part.type === 'text' ? part.text.length : part.data.length), 0) + (args === undefined ? 0 : (JSON.stringify(args)?.length ?? 0));
