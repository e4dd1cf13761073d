/** Which agent a person means: by id, by name, or by the beginning of its id. */
import { type DaemonClient, Failure } from '@svc/cli/area';
import { didYouMean } from '@svc/api';
import type { OutputOf } from '@svc/client';

const MIN_PREFIX = 4;
const SHOWN_NAMES = 8;

export type AgentRow = OutputOf<'listAgents'>['agents'][number];

/** All of them, page by page. */
export const listAgents = async (daemon: DaemonClient, asked: { readonly deleted?: 'only' } = {}): Promise<AgentRow[]> => {
  const { agents, total } = await daemon.call('listAgents', asked);
  while (agents.length < total) {
    const page = await daemon.call('listAgents', { ...asked, offset: agents.length });
    if (page.agents.length === 0) break; // some ended meanwhile
    agents.push(...page.agents);
  }
  return agents;
};

export const findAgent = async (daemon: DaemonClient, wanted: string): Promise<AgentRow> => agentNamed(await listAgents(daemon), wanted);

/** Throws a failure that names the nearest. */
export const agentNamed = (agents: readonly AgentRow[], wanted: string, fix = 'svc agent list'): AgentRow => {
  const exact = agents.find((agent) => agent.id === wanted) ?? agents.find((agent) => agent.name === wanted);
  if (exact !== undefined) return exact;
  const matches = wanted.length >= MIN_PREFIX ? agents.filter((agent) => agent.id.startsWith(wanted)) : [];
  if (matches.length === 1 && matches[0] !== undefined) return matches[0];
  const names = agents.map(({ name }) => name);
  throw new Failure(`There is no agent "${wanted}".${didYouMean(wanted, names)}`, {
    code: 'agent_not_found',
    why:
      agents.length === 0
        ? 'there are no agents yet'
        : matches.length > 1
          ? `${matches.length} ids begin like that`
          : `there are: ${names.slice(0, SHOWN_NAMES).join(', ')}${agents.length > SHOWN_NAMES ? ', …' : ''}`,
    fix: agents.length === 0 && fix === 'svc agent list' ? 'svc agent new' : fix,
  });
};
