/**
 * Ids of models, as a chat UI shows them in a list: an agent, and perhaps which conversation of it.
 *
 * M1  `svc:<agent>` is the agent's current conversation, `svc:<agent>@<session>` one by its id or label, `svc:<agent>:stateless` none.
 * M2  An agent whose own name is all that stands after `svc:` is that agent, whatever `@` and `:` its name holds.
 *     Of several `@` the last one divides.
 * M3  `svc:` says that an agent is meant: no other one takes the place of one that is not there. A name without it (`gpt-4o`, as tools are set
 *     up by default) that no agent has is the first agent.
 */
import type { Actor } from '@svc/api';
import type { Agent, AgentsService } from '@svc/ext-agents/contract';
import { compatErrors } from '../errors.js';

const PREFIX = 'svc:';
const STATELESS = ':stateless';

export interface Named {
  readonly agent: Agent;
  /** Id or label. */
  readonly session?: string;
  readonly isStateless?: true;
}

/** What `model` may be: svc:<name>, the id of an agent, or its name; any other name means the first agent. Throws `no_agent`, `model_not_found`, `bad_model`. */
export async function agentNamed(agents: AgentsService, actor: Actor, model: string): Promise<Named> {
  const found = await lookUp(agents, actor, model);
  if (found) return found;
  // M3
  if (model === PREFIX) throw compatErrors.bad_model(model, 'it names no agent');
  if (model.startsWith(PREFIX)) throw compatErrors.model_not_found(model);
  const [first] = (await agents.list(actor)).toSorted((a, b) => (a.createdAt < b.createdAt ? -1 : 1));
  if (!first) throw compatErrors.no_agent();
  return { agent: first };
}

/** Undefined for a plain name that no agent has. Throws `model_not_found`, `bad_model`. */
export async function lookUp(agents: AgentsService, actor: Actor, model: string): Promise<Named | undefined> {
  const name = model.startsWith(PREFIX) ? model.slice(PREFIX.length) : model;
  const plain = name === '' ? undefined : await agents.find(actor, name);
  if (plain) return { agent: plain };
  if (!model.startsWith(PREFIX)) return undefined;
  if (name.endsWith(STATELESS)) return { agent: await agentOf(agents, actor, model, name.slice(0, -STATELESS.length)), isStateless: true };
  const at = name.lastIndexOf('@');
  if (at < 0) return undefined;
  const session = name.slice(at + 1);
  if (session === '') throw compatErrors.bad_model(model, 'no session follows its @');
  return { agent: await agentOf(agents, actor, model, name.slice(0, at)), session };
}

/** M3. */
async function agentOf(agents: AgentsService, actor: Actor, model: string, name: string): Promise<Agent> {
  if (name === '') throw compatErrors.bad_model(model, 'it names no agent');
  const agent = await agents.find(actor, name);
  if (!agent) throw compatErrors.model_not_found(model);
  return agent;
}

export const idOf = (agent: Pick<Agent, 'name'>): string => `${PREFIX}${agent.name}`;
export const statelessIdOf = (agent: Pick<Agent, 'name'>): string => `${idOf(agent)}${STATELESS}`;
