/** Runs of experiments, with what came of them. */
import type { RunsService } from '@svc/ext-runs/contract';
import { type Actor, type ExtensionContext, isSvcError } from '@svc/api';
import type { TrialRow } from './contract.js';

const PAGE = 1_000;
const OVER: ReadonlySet<string> = new Set(['done', 'failed', 'cancelled']);

/** When its last step ended: a run that a kill kept from being counted may be over for days. */
const lastOf = (steps: ReadonlyArray<{ readonly endedAt: string | null }>, now: number): number => {
  const ends = steps.flatMap(({ endedAt }) => (endedAt === null ? [] : [Date.parse(endedAt)]));
  return ends.length === 0 ? now : Math.max(...ends);
};

export const createTrials = ({ db, clock, journal, actors }: Pick<ExtensionContext, 'db' | 'clock' | 'journal' | 'actors'>, runs: Pick<RunsService, 'get'>) => {
  const reads = db.system('runs of experiments');
  const figuresOf = async (trial: TrialRow, ownerId: string): Promise<Partial<TrialRow> | undefined> => {
    const actor = actors.of(ownerId);
    try {
      const run = await runs.get(actor, trial.id);
      if (!OVER.has(run.status)) return undefined;
      const steps = await journal.steps(actor, trial.id);
      return {
        status: run.status,
        meets: (run.result?.response ?? '').trim() === '' ? 0 : 1,
        tool_errors: steps.filter((step) => step.kind === 'tool' && step.status === 'failed').length,
        cost_usd: run.result?.cost_usd ?? 0,
        latency_ms: Math.max(0, lastOf(steps, clock.now()) - Date.parse(run.createdAt)),
      };
    } catch (error) {
      if (isSvcError(error) && error.status === 404) return { status: 'gone' };
      throw error;
    }
  };
  const settle = async (trial: TrialRow, ownerId: string): Promise<TrialRow> => {
    const figures = await figuresOf(trial, ownerId);
    if (!figures) return trial;
    await db.commit([db.update('prompt_trials', ['id'], [{ id: trial.id, ...figures }])]);
    return { ...trial, ...figures };
  };
  return {
    /** A run ended. */
    settle: async (ownerId: string, runId: string): Promise<void> => {
      const trial = await reads.first<TrialRow>({ from: 'prompt_trials', where: { id: runId, status: 'running' } });
      if (trial) await settle(trial, ownerId);
    },
    /** All of an experiment. The end of a run that no event announced, as after a kill, is looked up here. */
    of: async (actor: Actor, experimentId: string): Promise<TrialRow[]> => {
      const trials: TrialRow[] = [];
      for (let after: string | undefined; ; ) {
        const { rows, next } = await db
          .as(actor)
          .page<TrialRow>({ from: 'prompt_trials', where: { experiment_id: experimentId }, order: [{ column: 'id' }], limit: PAGE, ...(after === undefined ? {} : { after }) });
        for (const row of rows) trials.push(row.status === 'running' ? await settle(row, row.owner_id) : row);
        if (!next) return trials;
        after = next;
      }
    },
  };
};
export type Trials = ReturnType<typeof createTrials>;
