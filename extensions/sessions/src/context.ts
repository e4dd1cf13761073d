/** How full the window of an agent's model is. */
import type { Actor, OptionalHandle } from '@svc/api';
import type { AgentsService } from '@svc/ext-agents/contract';
import type { LlmService } from '@svc/ext-llm/contract';
import type { Context, Projection } from './contract.js';
import { sessionsErrors } from './errors.js';
import { countTokens } from './projection.js';

/** From these shares of the window on. */
const MEDIUM = 50;
const HIGH = 70;
const CRITICAL = 85;

export interface ContextDeps {
  readonly agents: Pick<AgentsService, 'get'>;
  readonly llm: OptionalHandle<LlmService>;
}

export async function contextOf({ agents, llm }: ContextDeps, actor: Actor, { id }: { readonly id: string }, { messages }: Projection): Promise<Context> {
  const { manifest } = await agents.get(actor, id);
  if (!llm.value) throw sessionsErrors.context_unknown();
  const target = await llm.value.resolve(manifest.model);
  const maxTokens = Math.min(target.contextWindow, manifest.model.context_window ?? Number.MAX_SAFE_INTEGER);
  const system = manifest.model.system_prompt === '' ? 0 : await llm.value.count(manifest.model.system_prompt);
  const usedTokens = messages.reduce((sum, message) => sum + countTokens(message), system);
  const percent = Math.round((usedTokens / maxTokens) * 1_000) / 10;
  return { usedTokens, maxTokens, percent, model: `${target.provider}/${target.model}`, pressure: percent < MEDIUM ? 'low' : percent < HIGH ? 'medium' : percent < CRITICAL ? 'high' : 'critical' };
}
