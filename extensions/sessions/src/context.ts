/** How full the window of an agent's model is. */
import type { Actor, HookHandle, OptionalHandle } from '@svc/api';
import type { AgentsService } from '@svc/ext-agents/contract';
import type { LlmService, ModelMessage } from '@svc/ext-llm/contract';
import { CONTEXT_PARTS, type Context, type Projection, type SessionSent } from './contract.js';
import { sessionsErrors } from './errors.js';
import { countTokens } from './projection.js';

/** From these shares of the window on. */
const MEDIUM = 50;
const HIGH = 70;
const CRITICAL = 85;

export interface ContextDeps {
  readonly agents: Pick<AgentsService, 'get'>;
  readonly llm: OptionalHandle<LlmService>;
  readonly sent: HookHandle<typeof SessionSent>;
}

export async function contextOf({ agents, llm, sent }: ContextDeps, actor: Actor, { id }: { readonly id: string }, { messages }: Projection): Promise<Context> {
  const { manifest } = await agents.get(actor, id);
  if (!llm.value) throw sessionsErrors.context_unknown();
  const target = await llm.value.resolve(manifest.model);
  const maxTokens = Math.min(target.contextWindow, manifest.model.context_window ?? Number.MAX_SAFE_INTEGER);
  const newest = (await sent.call({ agentId: id })).map(({ value }) => value).find((value) => value !== undefined && value !== null);
  const own = manifest.model.system_prompt;
  const tokens: Record<Part, number> = {
    ...conversationTokens(messages),
    // While runs is off only what the manifest says is known.
    instructions: newest?.instructionTokens ?? (own === '' ? 0 : await llm.value.count(own)),
    tools: newest?.toolTokens ?? 0,
  };
  const parts = CONTEXT_PARTS.map((part) => ({ part, tokens: tokens[part] }));
  const usedTokens = parts.reduce((sum, part) => sum + part.tokens, 0);
  const percent = Math.round((usedTokens / maxTokens) * 1_000) / 10;
  const pressure = percent < MEDIUM ? 'low' : percent < HIGH ? 'medium' : percent < CRITICAL ? 'high' : 'critical';
  return { usedTokens, maxTokens, percent, model: `${target.provider}/${target.model}`, pressure, parts };
}

type Part = (typeof CONTEXT_PARTS)[number];

/** Each part of a message for itself; what a message costs beside its parts goes to who wrote it. */
const conversationTokens = (messages: readonly ModelMessage[]): Omit<Record<Part, number>, 'instructions' | 'tools'> => {
  const tokens = { people: 0, answers: 0, tool_calls: 0, tool_results: 0 };
  const empty = countTokens({ role: 'user', parts: [] });
  for (const { role, parts } of messages) {
    tokens[role === 'user' ? 'people' : 'answers'] += empty;
    for (const part of parts) {
      const kind = part.type === 'tool_call' ? 'tool_calls' : part.type === 'tool_result' ? 'tool_results' : role === 'user' ? 'people' : 'answers';
      tokens[kind] += countTokens({ role, parts: [part] }) - empty;
    }
  }
  return tokens;
};
