/** Where a log can be cut: an answer, the calls that it makes and their results belong together, and so do a question and what was recalled for it. */
import type { EntryKind } from '../contract.js';

/** An entry without what it says. */
export interface Outlined {
  readonly seq: number;
  readonly kind: EntryKind;
  readonly runId: string | null;
}

/** The last entry to keep so that no turn is parted by a cut behind `through`: all of the turn that would be, or nothing of it. */
export const wholeTurns = (entries: readonly Outlined[], through: number, keep: 'all' | 'none'): number => {
  const parted = turnsOf(entries).find(({ first, last }) => first <= through && through < last);
  if (!parted) return through;
  return keep === 'all' ? parted.last : parted.first - 1;
};

interface Turn {
  readonly first: number;
  last: number;
  hasResults: boolean;
  readonly isQuestion?: boolean;
}

/** In each run, an answer and the calls after it begin one; others (a summary, say) may write in between. */
const turnsOf = (entries: readonly Outlined[]): Turn[] => {
  const turns: Turn[] = [];
  const open = new Map<string | null, Turn>();
  for (const { seq, kind, runId } of entries) {
    const before = open.get(runId);
    if (kind === 'tool_result') {
      if (before) Object.assign(before, { last: seq, hasResults: true });
    } else if (kind === 'tool_call' && before && !before.hasResults) before.last = seq;
    else if (kind === 'assistant' || kind === 'tool_call') {
      const turn: Turn = { first: seq, last: seq, hasResults: false };
      turns.push(turn);
      open.set(runId, turn);
    } else if (kind === 'recall') {
      const recalled = before && !before.hasResults && before.isQuestion ? before : { first: seq, last: seq, hasResults: false, isQuestion: true };
      recalled.last = seq;
      if (recalled !== before) turns.push(recalled);
      open.set(runId, recalled);
    } else if (kind === 'user') {
      if (before?.isQuestion) before.last = seq;
      open.delete(runId);
    }
  }
  return turns;
};
