/**
 * How an agent ends, and how it comes back.
 *
 * A6  Killing marks the agent, lets every area drop what is its own, then drops the row. A crash in between is finished at the next start.
 * B1  What a person or an agent deletes goes into the bin of the kernel (`ctx.trash`): the agent's row as what is known of it, and the rows of all
 *     areas. Its runs end before. Its name is free from then on. Its workspace and its snapshots stay where they are.
 * B2  It comes back as it was, under its id and its name. Where another agent has the name now, nothing is moved.
 * B3  Each step can be repeated: the row says on which way it is, and the next start goes on.
 */
import { type Actor, type Clock, type Events, type HookHandle, isSvcError, type Logger, type RowCache, type Trash, type TrashItem, type Write } from '@svc/api';
import { type Agent, AgentChanged, type AgentHalt, AgentKilled, AgentSpawned } from './contract.js';
import { agentErrors } from './errors.js';
import type { AgentRow, AgentStore, OnItsWay } from './store.js';

const WHY = 'the agent was deleted';
const MOST = 1_000;

export interface RemovingDeps {
  readonly store: AgentStore;
  readonly cache: RowCache<Agent | undefined>;
  readonly trash: Pick<Trash, 'put' | 'restore' | 'list' | 'find'>;
  /** Ends what goes on for it. */
  readonly halt: HookHandle<typeof AgentHalt>;
  readonly system: Actor;
  readonly events: Events;
  readonly clock: Pick<Clock, 'iso'>;
  readonly log: Logger;
  /** Erases what every area holds of the agent. */
  purge(agentId: string): Promise<unknown>;
  /** Until when something that is deleted now can come back; null where it is erased at once. */
  keptUntil(): string | null;
}

export interface BinnedAgent {
  readonly agent: Agent;
  readonly deletedAt: string;
  readonly keepUntil: string;
}

export interface Removing {
  /** Into the bin where there is one. Resolves with when it is erased; null where it is at once. Throws `agent_not_found`. */
  remove(actor: Actor, agentId: string): Promise<string | null>;
  /** At once, also what is in the bin. Throws `agent_not_found`. */
  erase(actor: Actor, agentId: string): Promise<void>;
  /** Throws `agent_not_found` where the bin has none that the actor may see, `agents_name_taken`. */
  restore(actor: Actor, agentId: string): Promise<Agent>;
  /** The newest first. */
  binned(actor: Actor): Promise<BinnedAgent[]>;
  /** Ends what a crash left half done. What cannot be done now is named in the log and tried again at the next start. */
  finish(): Promise<void>;
}

export const createRemoving = (deps: RemovingDeps): Removing => ({
  remove: (actor, id) => remove(deps, actor, id, deps.keptUntil()),
  erase: async (actor, id) => {
    if (await deps.trash.find(actor, 'agent', id)) await deps.purge(id);
    else await remove(deps, actor, id, null);
  },
  restore: (actor, id) => restore(deps, actor, id),
  binned: async (actor) => (await deps.trash.list(actor, 'agent', { limit: MOST })).items.map((item) => ({ agent: agentOf(deps, item), deletedAt: item.deletedAt, keepUntil: item.keepUntil })),
  finish: () => finish(deps),
});

const agentOf = ({ store }: RemovingDeps, { about }: Pick<TrashItem, 'about'>): Agent => store.toAgent(about as unknown as AgentRow); // as `intoBin` put it there

const remove = async (deps: RemovingDeps, actor: Actor, id: string, keepUntil: string | null): Promise<string | null> => {
  const found = await deps.store.forKill(actor, id);
  if (!found) throw agentErrors.agent_not_found(id);
  const { agent } = found;
  const way: OnItsWay | null = keepUntil === null ? null : { deletedAt: deps.clock.iso(), keepUntil, state: agent.state };
  if (agent.state !== 'Terminated') {
    deps.cache.willChange(id);
    await deps.store.commit([deps.store.end(id, way), changed(deps, agent)]);
    await end(deps, agent, way);
    return keepUntil;
  }
  // What is asked for now decides: one that is erased does not wait for the bin.
  await end(deps, agent, keepUntil === null ? null : found.way);
  return keepUntil === null ? null : (found.way?.keepUntil ?? null);
};

const end = async (deps: RemovingDeps, agent: Agent, way: OnItsWay | null): Promise<void> => {
  if (way === null) await deps.purge(agent.id);
  else await intoBin(deps, agent, way);
  try {
    await deps.store.commit([deps.store.remove(agent.id), deps.events.event(AgentKilled, { agentId: agent.id, name: agent.name, ownerId: agent.ownerId })]);
  } catch (error) {
    // Two kills at once: the other one has removed it and said so.
    if (!isSvcError(error) || error.code !== 'storage_conflict') throw error;
  }
  deps.cache.changed(agent.id);
};

/** B1. */
const intoBin = async ({ halt, system, trash, store }: RemovingDeps, agent: Agent, { deletedAt, keepUntil, state }: OnItsWay): Promise<void> => {
  await halt.call({ actor: system, agentId: agent.id, why: WHY });
  await trash.put({ kind: 'agent', id: agent.id, ownerId: agent.ownerId, agentId: null, about: store.toRow({ ...agent, state }), deletedAt, keepUntil });
};

const restore = async (deps: RemovingDeps, actor: Actor, id: string): Promise<Agent> => {
  const { store, trash } = deps;
  const item = await trash.find(actor, 'agent', id);
  if (!item) throw agentErrors.agent_not_found(id);
  const agent = agentOf(deps, item);
  const way: OnItsWay = { deletedAt: item.deletedAt, keepUntil: item.keepUntil, state: agent.state, isComingBack: true };
  try {
    // The row takes the name before anything is moved.
    await store.commit([store.insert({ ...agent, state: 'Terminated' }, way)]);
  } catch (error) {
    if (!isSvcError(error) || error.code !== 'storage_conflict') throw error;
    const there = await store.forKill(deps.system, id);
    if (!there) throw agentErrors.agents_name_taken(agent.name).with({ cause: error });
    // Two who restore it at once: the row is the other's, and both go on.
    if (there.way?.isComingBack !== true) throw agentErrors.agents_changed_meanwhile('the state').with({ cause: error });
  }
  return comeBack(deps, agent, way);
};

/** B2. */
const comeBack = async (deps: RemovingDeps, agent: Agent, { state }: OnItsWay): Promise<Agent> => {
  const { store, trash, events, cache } = deps;
  await trash.restore('agent', agent.id);
  cache.willChange(agent.id);
  try {
    await store.commit([store.reopen(agent.id, state), events.event(AgentSpawned, { agentId: agent.id, name: agent.name, ownerId: agent.ownerId })]);
  } catch (error) {
    // The other of two has opened it.
    if (!isSvcError(error) || error.code !== 'storage_conflict') throw error;
  }
  cache.changed(agent.id);
  return { ...agent, state };
};

/** B3. */
const finish = async (deps: RemovingDeps): Promise<void> => {
  for (const { agent, way } of await deps.store.terminated()) {
    try {
      if (way?.isComingBack) await comeBack(deps, agent, way);
      else await end(deps, agent, way);
    } catch (error) {
      deps.log.error('an agent that was deleted or restored before the restart is still on its way', { agentId: agent.id, error: String(error) });
    }
  }
};

const changed = ({ events }: RemovingDeps, { id, ownerId }: Agent): Write => events.event(AgentChanged, { agentId: id, ownerId });
