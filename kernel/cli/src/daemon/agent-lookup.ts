/** Which agent a person means: by id, by name, or by the beginning of its id. */
import type { OutputOf } from '@svc/client';
import type { DaemonClient } from './daemon-client.js';
import { Failure } from '../failure.js';

const MIN_PREFIX = 4;

export type AgentRow = OutputOf<'listAgents'>['agents'][number];

export const listAgents = async (daemon: DaemonClient): Promise<AgentRow[]> => (await daemon.call('listAgents')).agents;

export const findAgent = async (daemon: DaemonClient, wanted: string): Promise<AgentRow> => {
  const agents = await listAgents(daemon);
  const exact = agents.find((agent) => agent.id === wanted) ?? agents.find((agent) => agent.name === wanted);
  if (exact !== undefined) return exact;
  const matches = wanted.length >= MIN_PREFIX ? agents.filter((agent) => agent.id.startsWith(wanted)) : [];
  if (matches.length === 1 && matches[0] !== undefined) return matches[0];
  throw new Failure(`There is no agent "${wanted}".`, {
    code: 'agent_not_found',
    why:
      agents.length === 0
        ? 'there are no agents yet'
        : matches.length > 1
          ? `${matches.length} ids begin like that`
          : `there are: ${agents
              .slice(0, 8)
              .map((agent) => agent.name)
              .join(', ')}${agents.length > 8 ? ', …' : ''}`,
    mend: agents.length === 0 ? 'svc agent spawn MANIFEST.toml' : 'svc agent list',
  });
};
