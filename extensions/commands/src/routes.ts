import { reply, type RouteDecl, routeGroup, type SlashCommand as Command, Type } from '@svc/api';
import { CLIENT_COMMANDS, type CommandList } from './commands.js';
import { commandErrors } from './errors.js';

const route = routeGroup({ area: 'commands' });

const SlashCommand = Type.Object(
  {
    cmd: Type.String({ description: 'As typed: `/new`' }),
    name: Type.String(),
    desc: Type.String({ description: 'What it does' }),
    usage: Type.String({ description: 'With what may stand behind it' }),
    aliases: Type.Array(Type.String()),
    source: Type.String({ description: '`builtin`: run by the daemon. `client`: handled by the chat client' }),
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

const listed = (all: readonly Command[]) => ({ commands: all.map(shown), total: all.length });

const WHERE =
  'Send a command like a message, on any channel: `{"message": "/usage"}`. It is answered immediately, before anything is queued, and no model receives it. Text that starts with a slash but is not a command is an error; a path such as `/usr/bin` is a message.';

export const commandRoutes = (commands: CommandList): RouteDecl[] => [
  route({
    id: 'listCommands',
    method: 'GET',
    path: '/api/commands',
    summary: 'List slash commands',
    description: WHERE,
    responses: { 200: Type.Object({ commands: Type.Array(SlashCommand), total: Type.Integer() }) },
    handler: async () => reply(200, listed(commands.all())),
  }),
  route({
    id: 'getCommand',
    method: 'GET',
    path: '/api/commands/{name}',
    summary: 'One slash command',
    description: `By its name or an alias, with or without the slash, in any case. ${WHERE}`,
    params: Type.Object({ name: Type.String({ minLength: 1, maxLength: 65, description: 'Such as `usage` or `/usage`', examples: ['usage'] }) }),
    errors: [404],
    responses: { 200: SlashCommand },
    handler: async ({ params }) => {
      const command = commands.find(params.name);
      if (!command) throw commandErrors.not_found(params.name.replace(/^\//, ''));
      return reply(200, shown(command));
    },
  }),
];
