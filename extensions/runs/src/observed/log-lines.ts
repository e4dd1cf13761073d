/** What an agent did, line by line, made from the journal when it is asked for: nothing is written twice for it. */
import { type Actor, type Journal, type JournalRun, type JournalStep, OneOf, type Static, Type } from '@svc/api';
import { answerOf, inputOf, modelOutcomeOf, RUN_KIND } from '../run-input.js';
import { endOf, nameOf, statusOf } from './traces.js';

export const OUTCOMES = ['ok', 'error', 'denied', 'cancelled', 'pending'] as const;
type Outcome = (typeof OUTCOMES)[number];

export const LogLine = Type.Object(
  {
    seq: Type.Integer({ description: 'Increases over time: microseconds since 1970, unique among lines of the same millisecond' }),
    timestamp: Type.String({ format: 'date-time' }),
    action: OneOf(['AgentMessage', 'ModelCall', 'ToolInvoke', 'RunEnded']),
    detail: Type.String(),
    outcome: OneOf(OUTCOMES),
    run_id: Type.String(),
  },
  { 'x-name': 'AgentLogLine' },
);
export type LogLine = Static<typeof LogLine>;

/** Runs that are read for one answer, however few lines of them are wanted. */
const MAX_RUNS = 2_000;
const PAGE = 100;

export interface LogAsked {
  readonly agentId: string;
  readonly limit: number;
  readonly offset: number;
  readonly outcome: Outcome | undefined;
}

/** Newest first. */
export const logLines = async (journal: Journal, actor: Actor, { agentId, limit, offset, outcome }: LogAsked): Promise<LogLine[]> => {
  const found: LogLine[] = [];
  let before: string | undefined;
  for (let read = 0; read < MAX_RUNS && found.length < offset + limit; read += PAGE) {
    const runs = await journal.list({ actor, kind: RUN_KIND, subject: agentId, limit: PAGE, ...(before === undefined ? {} : { before }) });
    const steps = await journal.stepsOf(
      actor,
      runs.map(({ id }) => id),
    );
    for (const run of runs) found.push(...linesOf(run, steps.get(run.id) ?? []).filter((line) => outcome === undefined || line.outcome === outcome));
    before = runs.at(-1)?.id;
    if (runs.length < PAGE) break;
  }
  // Runs overlap: the newest run need not have the newest line.
  return found.sort((a, b) => b.seq - a.seq).slice(offset, offset + limit);
};

const linesOf = (run: JournalRun, steps: readonly JournalStep[]): LogLine[] => {
  const line = (timestamp: string, place: number, action: LogLine['action'], detail: string, outcome: Outcome): LogLine => ({
    seq: Date.parse(timestamp) * 1_000 + Math.min(place, 999),
    timestamp,
    action,
    detail,
    outcome,
    run_id: run.id,
  });
  const ended = endOf(run);
  return [
    ...(ended === null ? [] : [line(ended, steps.length + 1, 'RunEnded', endDetail(run), endOutcome(run))]),
    ...steps.map((step, index) => line(step.startedAt, index + 1, step.kind === 'model' ? 'ModelCall' : 'ToolInvoke', stepDetail(step), stepOutcome(step))).reverse(),
    line(run.createdAt, 0, 'AgentMessage', `a message came by ${inputOf(run).door}`, 'ok'),
  ];
};

const endDetail = (run: JournalRun): string => {
  const answer = answerOf(run);
  if (answer) return `${answer.finish} after ${answer.iterations} model calls, $${answer.cost_usd.toFixed(4)}`;
  return run.error?.message ?? run.status;
};

const endOutcome = ({ status }: JournalRun): Outcome => (status === 'done' ? 'ok' : status === 'cancelled' ? 'cancelled' : 'error');

const stepDetail = (step: JournalStep): string => {
  const outcome = modelOutcomeOf(step);
  return outcome ? `${nameOf(step)}: ${outcome.inputTokens} tokens sent, ${outcome.outputTokens} answered` : nameOf(step);
};

const stepOutcome = (step: JournalStep): Outcome => {
  const status = statusOf(step);
  return status === 'denied' ? 'denied' : status === 'running' ? 'pending' : status === 'failed' ? 'error' : 'ok';
};
