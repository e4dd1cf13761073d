import { type AnyTool, defineTool, grantOf, needOf, Type } from '@svc/api';
import { OfpConnect, OfpDiscover } from './contract.js';
import type { Registry } from './node/registry.js';

const MAX_SHOWN = 100;

export const discoverTool = (registry: Pick<Registry, 'all'>): AnyTool =>
  defineTool({
    name: 'peer_agents',
    description: 'List agents of other daemons, with the address that agent_send takes: name@node.',
    params: Type.Object({ query: Type.Optional(Type.String({ maxLength: 200, description: 'Only agents with this text in their name, description or tags' })) }),
    risk: 'read',
    replay: 'safe',
    parallel: true,
    capabilities: [OfpDiscover.name],
    needs: () => [needOf(OfpDiscover)],
    run: async ({ query = '' }, { capabilities }) => {
      const wanted = query.toLowerCase();
      const found = registry
        .all()
        .flatMap(({ nodeName, agents }) => [...agents.values()].map((agent) => ({ address: `${agent.name}@${nodeName}`, ...agent })))
        .filter(({ name, description, tags }) => [name, description, ...tags].some((text) => text.toLowerCase().includes(wanted)));
      const lines = found.slice(0, MAX_SHOWN).map(({ address, description, state }) => `${address} (${state})${description === '' ? '' : `: ${description}`}`);
      const reach = grantOf(OfpConnect, capabilities).length === 0 ? ['You may not write to them: your manifest grants nothing under ofp_connect.'] : [];
      return {
        content: lines.length === 0 ? 'No agent of another daemon was found.' : [...lines, ...(found.length > MAX_SHOWN ? [`${found.length - MAX_SHOWN} more`] : []), ...reach].join('\n'),
        origin: { labels: ['UntrustedAgent', 'ExternalNetwork'], source: 'other daemons' },
      };
    },
  });
