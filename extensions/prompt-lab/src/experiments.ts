/** Experiments from draft to completed. */
import { type Actor, isSvcError } from '@svc/api';
import { type Course, type Criteria, type Experiment, type ExperimentRow, type Metric, PromptsChanged, type Variant } from './contract.js';
import { promptErrors } from './errors.js';
import { courseOf, metricsOf, winnerOf } from './metrics.js';
import type { Trials } from './trials.js';
import type { LabDeps, Versions } from './versions.js';

const MOVES: Readonly<Record<string, readonly string[]>> = { draft: ['running'], running: ['paused', 'completed'], paused: ['running', 'completed'], completed: [] };
const ALL = 100;
const USUAL: Criteria = { require_user_helpful: false, require_no_tool_errors: false, require_non_empty: true };

export interface ExperimentDraft {
  readonly name: string;
  readonly variants: ReadonlyArray<{ readonly name: string; readonly prompt_version_id: string; readonly description?: string }>;
  readonly traffic_split: readonly number[];
  readonly success_criteria: Partial<Criteria>;
}

export const createExperiments = ({ db, events, clock, ids, agents }: LabDeps, versions: Versions, trials: Trials) => {
  const shown = ({ owner_id: _, running_agent: __, ...rest }: ExperimentRow): Experiment =>
    ({
      ...rest,
      variants: JSON.parse(rest.variants),
      traffic_split: JSON.parse(rest.traffic_split),
      success_criteria: JSON.parse(rest.success_criteria),
      decision: rest.decision === null ? null : JSON.parse(rest.decision),
    }) as Experiment;
  const row = async (actor: Actor, id: string): Promise<ExperimentRow> => {
    const found = await db.as(actor).first<ExperimentRow>({ from: 'prompt_experiments', where: { id } });
    if (!found) throw promptErrors.experiment_not_found(id);
    return found;
  };
  const numbersOf = async (actor: Actor, experiment: Experiment): Promise<{ metrics: Metric[]; over_time: Course }> => {
    const all = await trials.of(actor, experiment.id);
    return { metrics: metricsOf(experiment, all), over_time: courseOf(experiment, all) };
  };
  const metrics = async (actor: Actor, experiment: Experiment): Promise<Metric[]> => metricsOf(experiment, await trials.of(actor, experiment.id));
  const refuse = async (actor: Actor, before: ExperimentRow, status: Experiment['status']): Promise<void> => {
    if (!MOVES[before.status]?.includes(status)) throw promptErrors.bad_move(before.status, status);
    if (status !== 'running') return;
    if (await db.as(actor).first<ExperimentRow>({ from: 'prompt_experiments', where: { running_agent: before.agent_id } })) throw promptErrors.one_runs();
    const wanted = (JSON.parse(before.variants) as Variant[]).map((one) => one.prompt_version_id);
    const there = new Set((await db.as(actor).select<{ id: string }>({ from: 'prompt_versions', where: { id: wanted }, limit: wanted.length })).map((one) => one.id));
    const gone = wanted.find((one) => !there.has(one));
    if (gone !== undefined) throw promptErrors.version_gone(gone);
  };
  /** One statement moves it, and only from the state that was read: of two movers at once, one is refused. */
  const move = async (actor: Actor, id: string, status: Experiment['status'], more: Pick<Partial<ExperimentRow>, 'ended_at' | 'winner_variant_id' | 'decision'> = {}): Promise<Experiment> => {
    const before = await row(actor, id);
    await refuse(actor, before, status);
    const change = {
      status,
      running_agent: status === 'running' ? before.agent_id : null,
      started_at: before.started_at ?? clock.iso(),
      ended_at: null,
      winner_variant_id: null,
      decision: null,
      ...more,
    };
    const moved = db.sql(
      `UPDATE ${db.table('prompt_experiments')} SET status = ?, running_agent = ?, started_at = ?, ended_at = ?, winner_variant_id = ?, decision = ? WHERE id = ? AND status = ?`,
      [change.status, change.running_agent, change.started_at, change.ended_at, change.winner_variant_id, change.decision, id, before.status],
      { expect: 1 },
    );
    try {
      await db.commit([moved, events.event(PromptsChanged, { agentId: before.agent_id, ownerId: before.owner_id })]);
    } catch (error) {
      if (!isSvcError(error) || error.code !== 'storage_conflict') throw error;
      const now = await row(actor, id);
      if (now.status === before.status) throw promptErrors.one_runs();
      throw promptErrors.bad_move(now.status, status);
    }
    return shown({ ...before, ...change });
  };
  return {
    numbersOf,
    move,
    get: async (actor: Actor, id: string): Promise<Experiment> => shown(await row(actor, id)),
    list: async (actor: Actor, agentId: string): Promise<Experiment[]> =>
      (await db.as(actor).select<ExperimentRow>({ from: 'prompt_experiments', where: { agent_id: agentId }, order: [{ column: 'created_at', descending: true }], limit: 1_000 })).map(shown),
    create: async (actor: Actor, agentId: string, draft: ExperimentDraft): Promise<Experiment> => {
      const agent = await agents.get(actor, agentId);
      if (draft.traffic_split.length !== draft.variants.length) throw promptErrors.bad_split('it has not one number for each variant');
      const sum = draft.traffic_split.reduce((total, share) => total + share, 0);
      if (sum !== ALL) throw promptErrors.bad_split(`it sums to ${sum}`);
      for (const { prompt_version_id: id } of draft.variants) if ((await versions.row(actor, id)).agent_id !== agent.id) throw promptErrors.not_of_agent(id);
      const variants: Variant[] = draft.variants.map(({ name, prompt_version_id, description = '' }) => ({ id: ids.uuid(), name, prompt_version_id, description }));
      const made: ExperimentRow = {
        ...{ id: ids.uuid(), owner_id: agent.ownerId, agent_id: agent.id, name: draft.name, status: 'draft', traffic_split: JSON.stringify(draft.traffic_split) },
        ...{
          success_criteria: JSON.stringify({ ...USUAL, ...draft.success_criteria }),
          variants: JSON.stringify(variants),
          created_at: clock.iso(),
          running_agent: null,
          started_at: null,
          ended_at: null,
          winner_variant_id: null,
          decision: null,
        },
      };
      await db.commit([db.insert('prompt_experiments', [made]), events.event(PromptsChanged, { agentId: agent.id, ownerId: agent.ownerId })]);
      return shown(made);
    },
    complete: async (actor: Actor, experiment: Experiment, named: string | undefined): Promise<Experiment> => {
      if (!MOVES[experiment.status]?.includes('completed')) throw promptErrors.bad_move(experiment.status, 'completed');
      const numbers = await metrics(actor, experiment);
      const winner = experiment.variants.find(({ id }) => id === (named ?? winnerOf(numbers)));
      if (named !== undefined && !winner) throw promptErrors.no_variant(named);
      const done = await move(actor, experiment.id, 'completed', { ended_at: clock.iso(), winner_variant_id: winner?.id ?? null, decision: JSON.stringify({ by: actor.ownerId, metrics: numbers }) });
      if (winner) await versions.activate(actor, winner.prompt_version_id);
      return done;
    },
  };
};
export type Experiments = ReturnType<typeof createExperiments>;
