import { type AnyTool, defineTool, Type } from '@svc/api';
import type { Remotes } from './remote.js';

export const askRemote = (remotes: Pick<Remotes, 'find' | 'send'>): AnyTool =>
  defineTool({
    name: 'a2a_ask',
    description: 'Ask an agent of another server, which your owner added, and wait for its answer.',
    params: Type.Object({ agent: Type.String({ minLength: 1, description: 'Name or URL of the agent' }), message: Type.String({ minLength: 1 }) }),
    risk: 'agent',
    openWorld: true,
    capabilities: ['agent_message'],
    needs: ({ agent }) => [{ capability: 'agent_message', target: agent }],
    replay: 'never',
    parallel: true,
    run: async ({ agent, message }, { actor }) => {
      const found = await remotes.find(actor, agent);
      if (!found) return { content: `There is no agent elsewhere called "${agent}".`, isError: true };
      const { task_id, status, result } = await remotes.send(actor, found.id, message);
      const content = result?.parts.map(({ text }) => text).join('\n') ?? `Task ${task_id} is ${status}.`;
      return { content, isError: status === 'failed', origin: { labels: ['UntrustedAgent', 'ExternalNetwork'], source: `${found.name} at ${found.url}` } };
    },
  });
