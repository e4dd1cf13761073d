import { type Actor, reply, type RouteDecl, routeGroup, type SlashCommand as Command, Type, UuidText } from '@svc/api';
import type { AgentsService } from '@svc/ext-agents/contract';
import { CLIENT_COMMANDS, type CommandList } from './commands.js';
import type { SlashWord } from './contract.js';
import { commandErrors } from './errors.js';
import type { Words } from './words.js';

const route = routeGroup({ area: 'commands' });

const SlashCommand = Type.Object(
  {
    cmd: Type.String({ description: 'As typed: `/new`' }),
    name: Type.String(),
    desc: Type.String({ description: 'What it does' }),
    usage: Type.String({ description: 'With what may stand behind it' }),
    aliases: Type.Array(Type.String()),
    source: Type.String({ description: '`builtin`: run by the daemon. `client`: handled by the chat client. `skill`: goes to the agent, with the instructions of that skill' }),
    permission: Type.String({ description: 'The permission required to send it, as for routes' }),
  },
  { 'x-name': 'SlashCommand' },
);

const shown = ({ name, summary, usage, aliases = [], permission }: Command) => ({
  cmd: `/${name}`,
  name,
  desc: summary,
  usage,
  aliases: [...aliases],
  source: CLIENT_COMMANDS.some((one) => one.name === name) ? 'client' : 'builtin',
  permission,
});

/** It is a message. */
const wordShown = ({ name, summary, usage, source }: SlashWord) => ({ cmd: `/${name}`, name, desc: summary, usage, aliases: [], source, permission: 'runs.send' });

export interface CommandRouteDeps {
  readonly commands: CommandList;
  readonly words: Words;
  readonly agents: Pick<AgentsService, 'get'>;
}

const AgentQuery = Type.Object({ agent_id: Type.Optional(UuidText('Only words that this agent knows, such as its skills')) });

const WHERE =
  'Send a command like a message, on any channel: `{"message": "/usage"}`. It is answered immediately, before anything is queued, and no model receives it. Text that starts with a slash but is not a command is an error; a path such as `/usr/bin` is a message. The name of a skill goes to the agent as a message, with the instructions of the skill.';

export const commandRoutes = ({ commands, words, agents }: CommandRouteDeps): RouteDecl[] => {
  const asked = async (actor: Actor, id: string | undefined) => ({ actor, ...(id === undefined ? {} : { agent: await agents.get(actor, id) }) });
  return [
    route({
      id: 'listCommands',
      method: 'GET',
      path: '/api/commands',
      summary: 'List slash commands',
      description: WHERE,
      query: AgentQuery,
      errors: [404],
      responses: { 200: Type.Object({ commands: Type.Array(SlashCommand), total: Type.Integer() }) },
      handler: async ({ actor, query }) => {
        const all = [...commands.all().map(shown), ...(await words.of(await asked(actor, query.agent_id))).map(wordShown)];
        return reply(200, { commands: all, total: all.length });
      },
    }),
    route({
      id: 'getCommand',
      method: 'GET',
      path: '/api/commands/{name}',
      summary: 'One slash command',
      description: `By its name or an alias, with or without the slash, in any case. ${WHERE}`,
      params: Type.Object({ name: Type.String({ minLength: 1, maxLength: 65, description: 'Such as `usage` or `/usage`', examples: ['usage'] }) }),
      query: AgentQuery,
      errors: [404],
      responses: { 200: SlashCommand },
      handler: async ({ actor, params, query }) => {
        const command = commands.find(params.name);
        if (command) return reply(200, shown(command));
        const word = await words.find(params.name, await asked(actor, query.agent_id));
        if (!word) throw commandErrors.not_found(params.name.replace(/^\//, ''));
        return reply(200, wordShown(word));
      },
    }),
  ];
};
