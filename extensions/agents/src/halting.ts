import type { Actor, HookHandle } from '@svc/api';
import type { AgentHalt, AgentsService } from './contract.js';

const WHY = 'the agent was suspended';

interface HaltDeps {
  readonly agents: Pick<AgentsService, 'get' | 'setSuspended'>;
  readonly halt: HookHandle<typeof AgentHalt>;
}

/** Suspends an agent and cancels its runs; resolves with how many there were. Throws `agent_not_found`, `invalid_agent_id`. */
export const haltAgent = async ({ agents, halt }: HaltDeps, actor: Actor, agentId: string): Promise<number> => {
  const { id } = await agents.get(actor, agentId);
  // Before it is suspended, as that alone ends them too, and nobody would count them.
  const stop = async (): Promise<number> => (await halt.call({ actor, agentId: id, why: WHY })).reduce((sum, { value = 0 }) => sum + value, 0);
  const stopped = await stop();
  await agents.setSuspended(actor, id, true);
  return stopped + (await stop());
};
