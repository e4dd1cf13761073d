/** One run by its id: shown with its steps, and stopped. */
import { type Actor, type Journal, type JournalRun, Nullable, OneOf, reply, type RouteDecl, routeGroup, type RunRoot, seesAll, type Static, Type, Uuid } from '@svc/api';
import type { RunsService } from '../contract.js';
import { runErrors } from '../errors.js';
import { isOver } from '../loop/endings.js';
import { RUN_KIND } from '../run-input.js';
import { ListedRun, shownRun } from './listed-runs.js';
import type { ObservedDeps } from './routes.js';
import { RunStep, shownStep } from './traces.js';

interface OneRunDeps extends Pick<ObservedDeps, 'agents' | 'journal'> {
  readonly runs: Pick<RunsService, 'stop'>;
}

const route = routeGroup({ area: 'runs', errors: [404] });
export const RunPath = Type.Object({ id: Type.String({ format: 'uuid', description: 'Run id, as the header x-svc-run of an answer names it' }) });
const OneRun = Type.Object(
  {
    ...ListedRun.properties,
    agent_id: Nullable(Uuid, { description: 'null for work that is no run of an agent, such as that of a job, which led to runs or ended before it did' }),
    session_id: Nullable(Uuid),
    steps: Type.Array(RunStep),
  },
  { 'x-name': 'OneRun' },
);

export const oneRunRoutes = (deps: OneRunDeps): RouteDecl[] => [getRun(deps), stopRun(deps)];

const getRun = ({ agents, journal }: OneRunDeps): RouteDecl =>
  route({
    id: 'getRun',
    method: 'GET',
    path: '/api/runs/{id}',
    summary: 'Get a run',
    description:
      'The `root_id` of a run can be asked for too, where it is a job, a trigger, a workflow or other work: what it led to is in `GET /api/runs?root_id=`. The fields of the list, plus every model and tool call with start, end, usage and result. For tool inputs, see `GET /api/agents/{id}/traces?run_id=`.',
    cost: 2,
    params: RunPath,
    responses: { 200: OneRun },
    handler: async ({ actor, params }) => {
      const root = await otherRoot(journal, actor, params.id);
      if (root) return reply(200, shownRoot(root));
      const run = await visibleRun(journal, actor, params.id);
      const [steps, briefs] = await Promise.all([journal.steps(actor, run.id), agents.briefs(actor, run.subject === null ? [] : [run.subject])]);
      return reply(200, { ...shownRun(run, steps), agent_name: briefs[run.subject ?? '']?.name ?? null, steps: steps.map((step) => shownStep(step, run)) });
    },
  });

const stopRun = ({ journal, runs }: OneRunDeps): RouteDecl =>
  route({
    id: 'stopRun',
    method: 'POST',
    path: '/api/runs/{id}/stop',
    summary: 'Stop a run',
    description:
      "Cancels an active or queued run, with all that it started: runs of other agents and other work. The agent's other runs continue. Text up to this point stays in the session. For a run that has ended, `stopped` is 0. The `root_id` of a run, also that of a workflow or of a job, stops all that it led to, and what of it still waits to begin.",
    permission: 'runs.send',
    cost: 5,
    params: RunPath,
    responses: { 200: Type.Object({ status: OneOf(['ok']), run_id: Type.String(), stopped: Type.Integer({ description: 'How many runs' }) }) },
    handler: async ({ actor, params }) => {
      const id = params.id.toLowerCase();
      const run = await journal.get(actor, id);
      if (run !== undefined && run.kind !== RUN_KIND) throw runErrors.not_found(params.id);
      const stopped = await runs.stop(actor, run ? { runId: id } : { rootId: id }, 'stopped by request');
      const isKnown = run !== undefined || stopped > 0 || (await otherRoot(journal, actor, id)) !== undefined || (await journal.list({ actor, kind: RUN_KIND, rootId: id, limit: 1 })).length > 0;
      if (!isKnown) throw runErrors.not_found(params.id);
      return reply(200, { status: 'ok', run_id: id, stopped });
    },
  });

/** Work of another kind that began all there is below it. */
const otherRoot = async (journal: Journal, actor: Actor, id: string): Promise<RunRoot | undefined> => {
  const root = await journal.root(id.toLowerCase());
  const isSeen = root !== undefined && root.id === id.toLowerCase() && root.kind !== RUN_KIND && (seesAll(actor) || root.ownerId === actor.ownerId);
  return isSeen ? root : undefined;
};

const shownRoot = ({ id, cause, status, createdAt, updatedAt }: RunRoot): Static<typeof OneRun> => ({
  run_id: id,
  agent_id: null,
  agent_name: null,
  session_id: null,
  parent_run_id: null,
  root_id: id,
  cause: { kind: cause?.kind ?? 'message', id: cause?.id ?? null },
  status,
  channel: 'internal',
  via: null,
  is_aside: false,
  started_at: createdAt,
  ended_at: isOver({ status }) ? updatedAt : null,
  step_count: 0,
  input_tokens: 0,
  output_tokens: 0,
  cost_usd: 0,
  model: null,
  error: null,
  waiting: null,
  steps: [],
});

/** Throws `run_not_found`, for what is no run of an agent too. */
export const visibleRun = async (journal: Journal, actor: Actor, id: string): Promise<JournalRun> => {
  const run = await journal.get(actor, id.toLowerCase());
  if (run?.kind !== RUN_KIND) throw runErrors.not_found(id);
  return run;
};
