/** Jobs for other areas: those that ask agents. */
import type { AgentJob, JobRow, SchedulesService } from './contract.js';
import type { Db } from '@svc/api';
import { type Job, type Jobs, jobOf } from './jobs.js';
import { parsePlan, planText } from './plan.js';

const MOST = 500;

export const servedJobs = ({ db, jobs }: { readonly db: Pick<Db, 'as'>; readonly jobs: Jobs }): SchedulesService => ({
  create: async (actor, { agentId, name, schedule, tz, message, enabled }) =>
    agentJobOf(await jobs.create(actor, { agent: agentId, name, plan: parsePlan(schedule, tz), action: { kind: 'agent_turn', message }, ...(enabled === undefined ? {} : { enabled }) })),
  of: async (actor, agentId) => {
    const rows = await db.as(actor).select<JobRow>({ from: 'jobs', where: { agent_id: agentId }, order: [{ column: 'created_at' }, { column: 'id' }], limit: MOST });
    return rows
      .map(jobOf)
      .filter(({ action }) => action.kind !== 'workflow')
      .map(agentJobOf);
  },
  setEnabled: async (actor, id, enabled) => agentJobOf(await jobs.update(actor, id, { enabled })),
  remove: (actor, id) => jobs.remove(actor, id),
});

const agentJobOf = ({ id, agent_id: agentId, name, schedule, action, enabled }: Job): AgentJob => ({
  id,
  agentId: agentId ?? '',
  name,
  schedule: planText(schedule),
  tz: schedule.kind === 'cron' ? (schedule.tz ?? null) : null,
  message: action.kind === 'agent_turn' ? action.message : action.kind === 'system_event' ? action.text : '',
  enabled,
});
