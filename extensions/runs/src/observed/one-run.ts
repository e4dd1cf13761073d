/** One run by its id: shown with its steps, and stopped. */
import { type Actor, type Journal, type JournalRun, OneOf, reply, type RouteDecl, routeGroup, Type } from '@svc/api';
import type { RunsService } from '../contract.js';
import { runErrors } from '../errors.js';
import { RUN_KIND } from '../run-input.js';
import { ListedRun, shownRun } from './listed-runs.js';
import type { ObservedDeps } from './routes.js';
import { RunStep, shownStep } from './traces.js';

interface OneRunDeps extends Pick<ObservedDeps, 'agents' | 'journal'> {
  readonly runs: Pick<RunsService, 'stop'>;
}

const route = routeGroup({ area: 'runs', errors: [404] });
export const RunPath = Type.Object({ id: Type.String({ format: 'uuid', description: 'Run id, as the header x-svc-run of an answer names it' }) });
const OneRun = Type.Object({ ...ListedRun.properties, steps: Type.Array(RunStep) }, { 'x-name': 'OneRun' });

export const oneRunRoutes = (deps: OneRunDeps): RouteDecl[] => [getRun(deps), stopRun(deps)];

const getRun = ({ agents, journal }: OneRunDeps): RouteDecl =>
  route({
    id: 'getRun',
    method: 'GET',
    path: '/api/runs/{id}',
    summary: 'Get a run',
    description: 'The fields of the list, plus every model and tool call with start, end, usage and result. For tool inputs, see `GET /api/agents/{id}/traces?run_id=`.',
    cost: 2,
    params: RunPath,
    responses: { 200: OneRun },
    handler: async ({ actor, params }) => {
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
      // Work of another kind is seen by what it led to, or by whoever drives it and stopped it.
      const isKnown = run !== undefined || stopped > 0 || (await journal.list({ actor, kind: RUN_KIND, rootId: id, limit: 1 })).length > 0;
      if (!isKnown) throw runErrors.not_found(params.id);
      return reply(200, { status: 'ok', run_id: id, stopped });
    },
  });

/** Throws `run_not_found`, for what is no run of an agent too. */
export const visibleRun = async (journal: Journal, actor: Actor, id: string): Promise<JournalRun> => {
  const run = await journal.get(actor, id.toLowerCase());
  if (run?.kind !== RUN_KIND) throw runErrors.not_found(id);
  return run;
};
