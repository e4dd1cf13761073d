/** Figures of an active hand: runs of its agents, and what it stored about itself. */
import type { Actor, Clock, OptionalHandle } from '@svc/api';
import type { MemoryService } from '@svc/ext-memory/contract';
import type { RunsService } from '@svc/ext-runs/contract';
import type { Definitions } from './definitions.js';
import type { Instance } from './instances.js';
import { instanceItem } from './shown.js';

export interface StatsDeps {
  readonly runs: Pick<RunsService, 'list'>;
  readonly memory: OptionalHandle<MemoryService>;
  readonly definitions: Pick<Definitions, 'find'>;
  readonly clock: Pick<Clock, 'now'>;
}

const MAX_RUNS = 1_000;

export const statsOf = async (deps: StatsDeps, actor: Actor, instance: Instance) => {
  const { instance_id, hand_id, status, agent_id } = instanceItem(instance);
  const there = instance.roles.filter(({ agentName }) => !instance.missing.includes(agentName));
  const runs = (await Promise.all(there.map(({ agentId }) => deps.runs.list(actor, { agentId, limit: MAX_RUNS })))).flat().filter(({ createdAt }) => createdAt >= instance.activatedAt);
  return {
    instance_id,
    hand_id,
    status,
    agent_id,
    uptime_secs: Math.max(0, Math.floor((deps.clock.now() - Date.parse(instance.activatedAt)) / 1_000)),
    events_processed: runs.filter((run) => run.status === 'done').length,
    errors: runs.filter((run) => run.status === 'failed').length,
    metrics: await metricsOf(deps, actor, instance),
  };
};

const metricsOf = async ({ definitions, memory }: StatsDeps, actor: Actor, instance: Instance): Promise<Record<string, { value: unknown; format: string }>> => {
  const metrics = (await definitions.find(instance.handId))?.hand.metrics ?? [];
  const leader = instance.roles.find(({ isCoordinator }) => isCoordinator);
  const service = memory.value;
  const pairs =
    service && leader && metrics.length > 0
      ? await service.pairs(
          actor,
          leader.agentId,
          metrics.map(({ memory_key: key }) => key),
        )
      : {};
  return Object.fromEntries(metrics.map(({ label, memory_key: key, format = 'text' }) => [label, { value: pairs[key] ?? null, format }]));
};
