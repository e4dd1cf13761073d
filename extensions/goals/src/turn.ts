/** One turn at a goal: what the agent is asked, and what its answer says. */
import type { Goal } from './contract.js';

/** Fields of a goal that a turn needs. */
type About = Pick<Goal, 'id' | 'title' | 'description' | 'progress'>;

export const turnPrompt = ({ id, title, description, progress }: About, turn: number, most: number): string =>
  [
    `You work at this goal by yourself. This is turn ${turn} of ${most}.`,
    `Goal: ${title} (${id}, ${progress} %)${description === '' ? '' : `\n${description}`}`,
    'Do the next step now. End your answer with one of these lines:',
    'GOAL_PROGRESS: 40 (how many percent are done, when there is more to do)',
    'GOAL_DONE (when the goal is reached)',
    'GOAL_BLOCKED: the reason (when you cannot go on without a person)',
  ].join('\n');

export interface Said {
  readonly progress?: number;
  readonly isDone: boolean;
  /** Why the agent cannot go on; undefined where it can. */
  readonly blocked?: string;
}

/** The last line of each kind counts. Lines that begin with another word are not read. */
export const saidBy = (answer: string): Said => {
  const progress = lastOf(answer, /^\W{0,3}GOAL_PROGRESS:\s{0,3}(\d{1,3})\b/);
  const blocked = lastOf(answer, /^\W{0,3}GOAL_BLOCKED\b:?(.{0,500})/);
  return {
    isDone: lastOf(answer, /^\W{0,3}(GOAL_DONE|GOAL_COMPLETE)\b/) !== undefined,
    ...(progress === undefined ? {} : { progress: Math.min(100, Number(progress)) }),
    ...(blocked === undefined ? {} : { blocked: blocked.trim() === '' ? 'the agent gave no reason' : blocked.trim() }),
  };
};

const lastOf = (answer: string, pattern: RegExp): string | undefined => {
  const found = answer.split('\n').flatMap((line) => pattern.exec(line.slice(0, 600))?.[1] ?? []);
  return found.at(-1);
};
