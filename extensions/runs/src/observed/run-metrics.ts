/** What runs are going on, as metrics. */
import type { Actors, Metric } from '@svc/api';
import type { RunsService } from '../contract.js';
import type { RollingCount } from './rolling-count.js';

export interface RunMetricsDeps {
  readonly runs: Pick<RunsService, 'list'>;
  readonly actors: Actors;
  readonly toolCalls: Pick<RollingCount, 'lastHour'>;
  /** Runs that this process drives. */
  readonly driven: number;
}

/** More than this is told as this. */
const MAX_COUNTED = 1_000;

export const runMetrics = async ({ runs, actors, toolCalls, driven }: RunMetricsDeps): Promise<Metric[]> => {
  const active = await runs.list(actors.system('metrics'), { active: true, limit: MAX_COUNTED });
  const gauge = (name: string, help: string, value: number): Metric => ({ name, help, type: 'gauge', value });
  return [
    gauge('svc_runs_active', 'Runs that this process drives now', driven),
    gauge('svc_runs_unfinished', `Waiting, queued and active runs, in any process; ${MAX_COUNTED} at most`, active.length),
    gauge('svc_agents_active', 'Agents with a run that is not over', new Set(active.map((run) => run.agentId)).size),
    gauge('svc_active_sessions', 'Sessions with a run that is not over', new Set(active.map((run) => run.sessionId)).size),
    gauge('svc_tool_calls', 'Tool calls of the last hour in this process, since it started', toolCalls.lastHour()),
  ];
};
