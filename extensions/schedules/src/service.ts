/** Jobs for other areas: those that ask agents. */
import type { AgentJob, SchedulesService } from './contract.js';
import type { Job, Jobs } from './jobs.js';
import { parsePlan, planText } from './plan.js';

const MOST = 500;

export const servedJobs = (jobs: Jobs): SchedulesService => ({
  create: async (actor, { agentId, name, schedule, tz, message, enabled }) =>
    agentJobOf(await jobs.create(actor, { agent: agentId, name, plan: parsePlan(schedule, tz), action: { kind: 'agent_turn', message }, ...(enabled === undefined ? {} : { enabled }) })),
  of: async (actor, agentId) => (await jobs.list(actor, { agentId, limit: MOST })).rows.filter(({ action }) => action.kind !== 'workflow').map(agentJobOf),
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
