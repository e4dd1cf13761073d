/**
 * The rules of agents: who sees them, how they change. (How they begin: spawning.ts. How they end: removing.ts.)
 *
 * A5  An agent of somebody else looks like one that does not exist.
 */
import { type Actor, type AtOnce, type Events, type ServiceMethods, type Write, isSvcError, seesAll, isUuid } from '@svc/api';
import { type Agent, AgentChanged, type Agents, type AgentsService } from './contract.js';
import { agentErrors } from './errors.js';
import { patchOf } from './changing/change.js';
import { commitChange, type EditDeps, editAgent } from './changing/edit-agent.js';
import type { LastActive } from './shown/last-active.js';
import type { Removing } from './removing.js';
import { readText, spawnAgent, type Spawned } from './spawning.js';

const MAX_LISTED = 1_000;
const MAX_RACES = 8;

export interface AgentsDeps extends EditDeps {
  readonly removing: Pick<Removing, 'erase'>;
  readonly modelsOf: AgentsService['modelsOf'];
  readonly lastActive: Pick<LastActive, 'touch'>;
  keptUntil(): string | null;
}

/** Starts nothing: safe to create twice, as a reload does. */
export const createAgentsService = (deps: AgentsDeps): AgentsService => ({
  get: async (actor, agentId) => getAgent(deps, actor, agentId),
  find: (actor, idOrName) => findAgent(deps, actor, idOrName),
  list: (actor) => deps.store.all(actor, MAX_LISTED),
  briefs: (actor, ids) => deps.store.briefs(actor, ids),
  modelsOf: (agents) => deps.modelsOf(agents),
  spawn: async (actor, request) => {
    const spawned = await spawnAgent(deps, actor, request);
    return deps.store.get(actor, spawned.agentId).then((agent) => agent ?? gone(spawned));
  },
  read: async (text) => readText(deps, text),
  kill: async (actor, agentId) => deps.removing.erase(actor, checkedId(agentId)),
  keptUntil: async () => deps.keptUntil(),
  edit: async (actor, agentId, { manifest, revision }) => editAgent(deps, actor, checkedId(agentId), patchOf(manifest, revision)),
  setModel: async (actor, agentId, { provider, model }) => (await editAgent(deps, actor, checkedId(agentId), patchOf({ model: { provider, model } }))).agent,
  setSuspended: (actor, agentId, isSuspended) => setSuspended(deps, actor, agentId, isSuspended),
  setSession: async (actor, agentId, sessionId) => {
    const agent = await getAgent(deps, actor, agentId);
    deps.cache.willChange(agent.id);
    return [deps.store.setSession(agent.id, sessionId), changedFact(deps.events, agent)];
  },
  touch: async (agentId) => deps.lastActive.touch(agentId),
});

/** The same for other areas: an agent that is kept is answered at once, as a message asks for it five times. */
export const servedAgents = (deps: AgentsDeps, agents: AgentsService): ServiceMethods<typeof Agents> => ({
  ...agents,
  get: (actor, agentId) => getAgent(deps, actor, agentId),
  touch: (agentId) => deps.lastActive.touch(agentId),
});

const gone = (spawned: Spawned): never => {
  throw agentErrors.agents_spawned_agent_gone(spawned.name);
};

/** At once where it is kept. Throws or rejects `agent_not_found`. */
export const getAgent = (deps: Pick<AgentsDeps, 'cache' | 'store'>, actor: Actor, agentId: string): AtOnce<Agent> => {
  const id = checkedId(agentId);
  const kept = deps.cache.get(id);
  if (!kept) return deps.cache.load(id, () => deps.store.get(actor, id)).then((agent) => agent ?? absent(id));
  // The same rule as ownerScope's condition in SQL.
  return seesAll(actor) || kept.ownerId === actor.ownerId ? kept : absent(id);
};

const absent = (id: string): never => {
  throw agentErrors.agent_not_found(id);
};

/** Throws `invalid_agent_id`. */
export const checkedId = (agentId: string): string => {
  if (!isUuid(agentId)) throw agentErrors.invalid_agent_id(agentId);
  return agentId.toLowerCase();
};

const findAgent = async (deps: AgentsDeps, actor: Actor, idOrName: string): Promise<Agent | undefined> => {
  const byId = isUuid(idOrName) ? await deps.store.get(actor, idOrName.toLowerCase()) : undefined;
  return byId ?? deps.store.byName(actor, idOrName);
};

/** Tried again where somebody changes the agent meanwhile: whether it is suspended has to do with nothing else. */
const setSuspended = async (deps: AgentsDeps, actor: Actor, agentId: string, isSuspended: boolean): Promise<Agent> => {
  const id = checkedId(agentId);
  for (let races = 0; ; races++) {
    const agent = await deps.store.get(actor, id);
    if (!agent) throw agentErrors.agent_not_found(id);
    const state = isSuspended ? 'Suspended' : 'Running';
    if (agent.state === state) return agent;
    const after = { ...agent, state, revision: agent.revision + 1 } as const;
    try {
      await commitChange(deps, agent, after);
      return after;
    } catch (error) {
      if (races >= MAX_RACES || !isSvcError(error) || error.code !== 'storage_conflict') throw error;
    }
  }
};

const changedFact = (events: Events, { id, ownerId }: Agent): Write => events.event(AgentChanged, { agentId: id, ownerId });
