/** Slash commands about agents. */
import { type Actor, defineErrors, defineSlashCommand, nearest, type SlashCommand } from '@svc/api';
import type { Agent, AgentsService } from './contract.js';

const MAX_LISTED_AGENTS = 50;

const slashErrors = defineErrors('command', {
  unknown_agent: {
    status: 404,
    retry: false,
    message: (name: string, near: string | undefined) => `There is no agent "${name}".${near ? ` Did you mean ${near}?` : ''}`,
    hint: 'Send /agents for the list.',
  },
});

type ListedAgents = Pick<AgentsService, 'get' | 'find' | 'list' | 'modelsOf'>;

export const slashCommands = (agents: ListedAgents): SlashCommand[] => [
  defineSlashCommand({
    name: 'agents',
    usage: '/agents',
    summary: 'List agents',
    permission: 'agents.read',
    order: 35,
    run: async ({ actor, agentId }) => {
      const all = await agents.list(actor);
      const lines = all.slice(0, MAX_LISTED_AGENTS).map((one) => `${one.id === agentId ? '*' : ' '} ${one.name}: ${one.state}`);
      if (all.length > MAX_LISTED_AGENTS) lines.push(`… and ${all.length - MAX_LISTED_AGENTS} more: GET /api/agents`);
      return { message: lines.join('\n'), data: { total: all.length } };
    },
  }),
  defineSlashCommand({
    name: 'agent',
    usage: '/agent [NAME]',
    summary: 'Show an agent, by its name or id',
    permission: 'agents.read',
    takes: 'text',
    order: 36,
    run: async ({ actor, agentId, args }) => {
      const found = args === '' ? await agents.get(actor, agentId) : await findAgent(agents, actor, args);
      const [model] = await agents.modelsOf([found]);
      const about = found.manifest.description === '' ? '' : `\n${found.manifest.description}`;
      const where = found.id === agentId ? '' : `\nTalk to it in a conversation of its own: /api/agents/${found.id}/message`;
      return {
        message: `${found.name} (${found.id}) is ${found.state}, and answers with ${model?.provider}/${model?.model}.${about}${where}`,
        data: { agent_id: found.id, name: found.name, state: found.state, session_id: found.sessionId },
      };
    },
  }),
];

async function findAgent(agents: ListedAgents, actor: Actor, name: string): Promise<Agent> {
  const found = await agents.find(actor, name);
  if (found) return found;
  const names = (await agents.list(actor)).map((one) => one.name);
  throw slashErrors.unknown_agent(name.slice(0, 64), nearest(name, names)[0]);
}
