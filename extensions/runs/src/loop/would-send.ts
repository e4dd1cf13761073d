/** What a message to an agent would be sent beside its conversation, before there was one. No experiment is asked: it counts whom it answers. */
import type { Actor, Actors } from '@svc/api';
import type { AgentsService } from '@svc/ext-agents/contract';
import type { ToolsService } from '@svc/ext-tools/contract';
import { sentTools } from './loaded-tools.js';
import { schemasOf } from './model-phase.js';
import type { Prompts } from './prompt.js';
import { countSent, type SentTokens } from './sent.js';

export interface WouldSendDeps {
  readonly agents: Pick<AgentsService, 'find'>;
  readonly actors: Pick<Actors, 'of' | 'system'>;
  readonly tools: Pick<ToolsService, 'list'>;
  readonly prompts: Pick<Prompts, 'before'>;
}

/** Undefined where there is no such agent. */
export const wouldSend = async ({ agents, actors, tools, prompts }: WouldSendDeps, agentId: string): Promise<SentTokens | undefined> => {
  const agent = await agents.find(actors.system('what an agent would be sent'), agentId);
  if (!agent) return undefined;
  const actor: Actor = actors.of(agent.ownerId);
  const system = await prompts.before(actor, agent);
  const all = agent.manifest.tools_disabled ? [] : await tools.list(actor, agent.id, agent.manifest);
  return countSent(system.length, schemasOf(sentTools(all, [], new Set())));
};
