/** Where a conversation is parted into what is summarised and what stays. */
import { CHARS_PER_TOKEN } from '@svc/api';
import { charsOf } from '../catalogue/facts.js';
import type { Entry } from '../contract.js';

/** More messages than this begin a compaction; clients may rely on the number. */
const MAX_MESSAGES = 80;
export const KEPT_MESSAGES = 20;
/** From this share of the model's window on, too, however few messages fill it. */
export const FULL_SHARE = 0.7;
/** What stays may then fill this share. */
const KEPT_SHARE = 0.3;

/** The entry before the user's message with which the kept part begins; undefined while the session is short. */
export function cutOf(entries: readonly Entry[], countMessages: number, limit = MAX_MESSAGES): number | undefined {
  if (countMessages <= limit) return undefined;
  let kept = 0;
  const first = entries.findLast(({ kind }, index) => {
    if (kind === 'user' || kind === 'assistant') kept += 1;
    return index > 0 && kind === 'user' && kept >= KEPT_MESSAGES;
  });
  const begin = first && withRecalled(entries, first);
  return begin && begin !== entries[0] ? begin.seq - 1 : undefined;
}

/** The same where the window is nearly full: what stays leaves room for more, but the newest request always stays. */
export function cutThatFits(entries: readonly Entry[], budgetTokens: number): number | undefined {
  let chars = 0;
  let kept = 0;
  let first: Entry | undefined;
  for (const entry of entries.toReversed()) {
    if (entry.kind === 'summary') break;
    chars += charsOf(entry);
    if (entry.kind === 'user' || entry.kind === 'assistant') kept += 1;
    const isTooMuch = chars / CHARS_PER_TOKEN > budgetTokens * KEPT_SHARE || kept > KEPT_MESSAGES;
    if (isTooMuch && first) break;
    if (entry.kind === 'user') first = entry;
  }
  if (first) first = withRecalled(entries, first);
  // There must be something before it that no summary covers yet.
  const begin = first;
  return begin && entries.some(({ seq, kind }) => kind !== 'summary' && seq < begin.seq) ? begin.seq - 1 : undefined;
}

/** The first entry of a question: what was recalled for it stands before it. */
const withRecalled = (entries: readonly Entry[], question: Entry): Entry => {
  let first = question;
  for (let at = entries.indexOf(question) - 1; entries[at]?.kind === 'recall'; at--) first = entries[at] ?? first;
  return first;
};

const LEAST_SUMMARY_CHARS = 400;

/** A summary takes at most half of the room of what it stands for, so that a compaction makes a session shorter whatever a model writes. */
export function summaryThatFits(text: string, covered: readonly Entry[]): string {
  const most = Math.max(LEAST_SUMMARY_CHARS, Math.floor(covered.reduce((sum, entry) => sum + charsOf(entry), 0) / 2));
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}
