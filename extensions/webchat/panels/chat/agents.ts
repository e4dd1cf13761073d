/** The agents one can talk with: the one that is meant at once, all of them as soon as one can type. */
import { daemon, forgetEarly, kept, loadEarly, type OutputOf, SvcError, useLoaded, useRef } from '@svc/kit';
import { whenQuiet } from './later.js';

/** What of an agent is shown beside a conversation. */
export type Agent = Pick<OutputOf<'listAgents'>['agents'][number], 'id' | 'name' | 'description' | 'identity' | 'model_name' | 'model_provider'>;

/** A model by its provider; `default` stands for the daemon's own. */
export interface ModelChoice {
  readonly provider: string;
  readonly model: string;
}

const MAX_AGENTS = 500;
const USUAL = 'assistant';
/** Many may have the word in their names. */
const MAX_SOUGHT = 20;
export const LAST_AGENT = 'svc.agent';

const byId = async (id: string, signal: AbortSignal): Promise<readonly Agent[]> => {
  try {
    return [await daemon.call('getAgent', { id }, { signal })];
  } catch (error) {
    if (error instanceof SvcError && (error.status === 404 || error.status === 400)) return [];
    throw error;
  }
};

/** The one that is named, else the last one talked with, else the usual one, else the first. */
const meantFirst = async (named: string | undefined, signal: AbortSignal): Promise<readonly Agent[]> => {
  const id = named ?? kept(LAST_AGENT);
  const known = id === null ? [] : await byId(id, signal);
  if (known.length > 0 || named !== undefined) return known;
  const { agents } = await daemon.call('listAgents', { q: USUAL, limit: MAX_SOUGHT, sort: 'name', order: 'asc' }, { signal });
  const usual = agents.filter(({ name }) => name === USUAL);
  return usual.length > 0 ? usual : (await daemon.call('listAgents', { limit: 1, sort: 'name', order: 'asc' }, { signal })).agents;
};

const keyOfFirst = (named: string | undefined): string => `first ${named ?? ''}`;

/** Asks for the agent that is meant, before a view does; undefined where there is none. */
export const prepareAgent = async (named: string | undefined): Promise<Agent | undefined> => {
  const agent = meantOf(await loadEarly(keyOfFirst(named), () => meantFirst(named, new AbortController().signal)), named);
  if (!agent || named !== undefined) return agent;
  // Before a view is drawn the address will name it.
  forgetEarly(keyOfFirst(named));
  await loadEarly(keyOfFirst(agent.id), () => Promise.resolve([agent]));
  return agent;
};

const meantOf = (agents: readonly Agent[], named: string | undefined): Agent | undefined => {
  if (named !== undefined) return agents.find(({ id }) => id === named);
  const last = kept(LAST_AGENT);
  return agents.find(({ id }) => id === last) ?? agents.find(({ name }) => name === USUAL) ?? agents[0];
};

export interface Agents {
  /** As many as are known by now. */
  readonly agents: readonly Agent[];
  /** The one that the address names, else the one that is meant without. */
  readonly agent: Agent | undefined;
  /** Whether there is one is not known yet. */
  readonly isWaiting: boolean;
  readonly error: unknown;
  readonly reload: () => void;
}

export const useAgents = (named: string | undefined): Agents => {
  const all = useLoaded(
    'agents',
    async (signal) => {
      await whenQuiet();
      return (await daemon.call('listAgents', { limit: MAX_AGENTS, sort: 'name', order: 'asc' }, { signal })).agents;
    },
    ['agent'],
  );
  const isKnown = all.data !== undefined;
  const met = useRef<readonly Agent[]>([]);
  // Once it was met, or all are there, nothing is asked for one of them.
  const isMet = isKnown || met.current.some(({ id }) => id === named);
  const first = useLoaded<readonly Agent[]>(isMet ? 'met' : keyOfFirst(named), (signal) => (isMet ? Promise.resolve([]) : meantFirst(named, signal)));
  if (first.data && first.data.length > 0) met.current = first.data;
  const agents = all.data ?? met.current;
  const agent = meantOf(agents, named);
  const error = isKnown ? undefined : (first.error ?? all.error);
  // One that is named and not found by its id may be among all of them.
  const isAnswered = isKnown || (named === undefined && first.data !== undefined);
  return { agents, agent, isWaiting: agent === undefined && error === undefined && !isAnswered, error, reload: isKnown ? all.reload : first.reload };
};
