/** Answers that no conversation keeps: of slash commands, which the daemon itself gives, and of questions beside the conversation. */
import type { LiveRun, Part, Question } from './live-run.js';

export interface Beside {
  readonly id: string;
  readonly question: Question;
  readonly parts: readonly Part[];
  /** The name of the command that answered; undefined where a model did. */
  readonly command?: string;
  /** Behind which entry of the conversation it stands. */
  readonly afterSeq: number;
}

/** The end of a run that was sent from here. */
export const besideOf = ({ id, question, parts, command }: LiveRun, afterSeq: number): Beside | undefined =>
  question && { id, question, parts, afterSeq, ...(command === undefined ? {} : { command }) };

/** For a conversation that is opened next: one that a command began. */
const carried = new Map<string, readonly Beside[]>();

export const carryTo = (sessionId: string, besides: readonly Beside[]): void =>
  void carried.set(
    sessionId,
    besides.map((beside) => ({ ...beside, afterSeq: 0 })),
  );

export const carriedTo = (sessionId: string): readonly Beside[] => {
  const found = carried.get(sessionId) ?? [];
  carried.delete(sessionId);
  return found;
};
