/**
 * The job of an agent's manifest: `schedule` of agent.toml, periodic or continuous.
 *
 * M1  It is made, changed and deleted with the manifest. What a person set beside plan and message stays.
 * M2  A plan that can never be due is refused when the manifest is written.
 */
import { createHash } from 'node:crypto';
import { type Actors, type Clock, isSvcError, type Logger, uuidOfDigest, type Verdict } from '@svc/api';
import { type Agent, type AgentManifest, type AgentsService, MIN_CONTINUOUS_SECS, WRONG_MANIFEST } from '@svc/ext-agents/contract';
import type { Action, Plan } from './contract.js';
import type { Jobs } from './jobs.js';
import { type Planner, parsePlan, planText } from './plan.js';

export interface ManifestJobDeps {
  readonly actors: Actors;
  readonly agents: Pick<AgentsService, 'find'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly jobs: Jobs;
  readonly log: Logger;
  readonly planner: Planner;
}

interface Wanted {
  readonly plan: Plan;
  readonly action: Action;
}

export interface ManifestJobs {
  /** Why the manifest cannot be kept; undefined where it can. */
  verdict(manifest: AgentManifest): Promise<Verdict | undefined> | undefined;
  /** The agent was created or changed. */
  reconcile(ownerId: string, agentId: string): Promise<void>;
}

const MAX_NAME = 128;
const AT_SET_TIMES = 'It is one of the times of your schedule. Do what your instructions say for it.';
const AGAIN_AND_AGAIN = 'Look whether there is something for you to do now, and do it. If there is nothing, say so in one sentence.';

export const createManifestJobs = (deps: ManifestJobDeps): ManifestJobs => ({
  verdict: ({ schedule }) => (schedule === undefined || typeof schedule === 'string' || !schedule.periodic ? undefined : refused(deps, schedule.periodic)),
  reconcile: async (ownerId, agentId) => {
    const agent = await deps.agents.find(deps.actors.of(ownerId), agentId);
    // Gone meanwhile, and its jobs with it.
    if (!agent) return;
    try {
      await reconciled(deps, agent);
    } catch (error) {
      if (!isSvcError(error) || error.status >= 500 || error.retry) throw error;
      deps.log.warn('The schedule of a manifest could not become a job.', { agent: agentId, why: error.message });
    }
  },
});

type Periodic = NonNullable<Exclude<NonNullable<AgentManifest['schedule']>, string>['periodic']>;

const refused = async ({ planner, clock }: ManifestJobDeps, { cron, tz }: Periodic): Promise<Verdict | undefined> => {
  try {
    await planner.check(parsePlan(cron, tz), clock.now());
    return undefined;
  } catch (error) {
    if (!isSvcError(error)) throw error;
    return { deny: `schedule.periodic.cron: ${error.message}`, code: WRONG_MANIFEST };
  }
};

const reconciled = async ({ jobs, actors }: ManifestJobDeps, agent: Agent): Promise<void> => {
  const owner = actors.of(agent.ownerId);
  const id = uuidOfDigest(createHash('sha256').update(`manifest|${agent.id}`).digest('hex'));
  const wanted = wantedBy(agent.manifest);
  const standing = await jobs.find(owner, id);
  if (!wanted) return standing && jobs.remove(owner, id);
  if (!standing) {
    await jobs.create(owner, { id, agent: agent.id, name: `Schedule of ${agent.name}`.slice(0, MAX_NAME), ...wanted });
    return;
  }
  const isSame = planText(standing.schedule) === planText(wanted.plan) && zoneOf(standing.schedule) === zoneOf(wanted.plan) && JSON.stringify(standing.action) === JSON.stringify(wanted.action);
  if (!isSame) await jobs.update(owner, id, wanted);
};

const zoneOf = (plan: Plan): string => (plan.kind === 'cron' ? (plan.tz ?? '') : '');

const wantedBy = ({ schedule }: AgentManifest): Wanted | undefined => {
  if (schedule === undefined || typeof schedule === 'string') return undefined;
  const { periodic, continuous } = schedule;
  if (periodic) return { plan: parsePlan(periodic.cron, periodic.tz), action: { kind: 'agent_turn', message: periodic.message ?? AT_SET_TIMES } };
  if (!continuous) return undefined;
  return { plan: { kind: 'every', every_secs: Math.max(MIN_CONTINUOUS_SECS, continuous.check_interval_secs) }, action: { kind: 'agent_turn', message: AGAIN_AND_AGAIN } };
};
