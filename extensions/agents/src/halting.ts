import type { Actor, OptionalHandle } from '@svc/api';
import type { RunsService } from '@svc/ext-runs/contract';
import type { AgentsService } from './contract.js';

const WHY = 'the agent was suspended';

interface HaltDeps {
  readonly agents: Pick<AgentsService, 'get' | 'setSuspended'>;
  readonly runs: OptionalHandle<RunsService>;
}

/** Suspends an agent and cancels its runs; resolves with how many there were. Throws `agent_not_found`, `invalid_agent_id`. */
export const haltAgent = async ({ agents, runs }: HaltDeps, actor: Actor, agentId: string): Promise<number> => {
  const { id } = await agents.get(actor, agentId);
  // Before it is suspended, as that alone ends them too, and nobody would count them.
  const stopped = (await runs.value?.stop(actor, { agentId: id }, WHY)) ?? 0;
  await agents.setSuspended(actor, id, true);
  return stopped + ((await runs.value?.stop(actor, { agentId: id }, WHY)) ?? 0);
};
