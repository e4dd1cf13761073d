import { bytes, Nullable, OneOf, reply, type RouteDecl, routeGroup, Type } from '@svc/api';
import type { AgentManifest } from '@svc/ext-agents/contract';
import { templateErrors } from './errors.js';
import { type Described, type Library, pathOf } from './library.js';

const route = routeGroup({ area: 'templates' });

const Texts = Type.Array(Type.String());
const Source = OneOf(['shipped', 'home'], { description: '`home`: your own file, which overrides a built-in template of the same name' });

const Summary = Type.Object(
  {
    name: Type.String(),
    description: Type.String(),
    tags: Texts,
    source: Source,
    path: Nullable(Type.String(), { description: 'The file, from the home folder; null for a template that is part of svc' }),
  },
  { 'x-name': 'TemplateSummary' },
);

const Detail = Type.Object(
  {
    name: Type.String(),
    description: Type.String(),
    source: Source,
    manifest: Type.Object({
      name: Type.String({ description: "The agent's name if the request has none" }),
      description: Type.String(),
      version: Type.String(),
      module: OneOf(['builtin:chat']),
      tags: Texts,
      model: Type.Object({ provider: Type.String(), model: Type.String() }, { description: "`default` takes the daemon's default" }),
      capabilities: Type.Object({
        tools: Texts,
        network: Texts,
        shell: Texts,
        memory_read: Texts,
        memory_write: Texts,
        agent_spawn: Type.Boolean(),
        agent_message: Texts,
        file_system: Type.Boolean(),
      }),
    }),
    manifest_toml: Type.String({ description: 'The text as written' }),
  },
  { 'x-name': 'Template' },
);

const Name = Type.Object({ name: Type.String({ maxLength: 200, description: 'Letters, digits, - and _, at most 64', examples: ['researcher'] }) });

const YOURS =
  "Built-in templates, and every file `templates/NAME.toml` in the daemon's home folder, in the format of agent.toml. A file overrides the built-in template of the same name. Files are read at each request.";

export const templateRoutes = (library: Library<AgentManifest>): RouteDecl[] => [
  route({
    id: 'listTemplates',
    method: 'GET',
    path: '/api/templates',
    summary: 'List agent templates',
    description: `\`POST /api/agents\` with \`{"template": NAME}\` creates an agent from one. ${YOURS} A file that cannot be used stands under \`skipped\`, and \`svc doctor\` names it.`,
    cost: 2,
    responses: {
      200: Type.Object({
        templates: Type.Array(Summary),
        total: Type.Integer(),
        skipped: Type.Array(Type.Object({ file: Type.String({ description: 'From the home folder' }), error: Type.String() }), { description: 'Files that cannot be used, and why' }),
      }),
    },
    handler: async () => {
      const { found, skipped } = await library.list();
      return reply(200, { templates: found.map(summaryOf), total: found.length, skipped });
    },
  }),
  route({
    id: 'getTemplate',
    method: 'GET',
    path: '/api/templates/{name}',
    summary: 'Get a template',
    description: YOURS,
    cost: 2,
    params: Name,
    errors: [404, 409, 413],
    responses: { 200: Detail },
    handler: async ({ params }) => {
      const found = await library.described(params.name);
      if (!found) throw templateErrors.not_found(params.name);
      return reply(200, detailOf(found));
    },
  }),
  route({
    id: 'getTemplateToml',
    method: 'GET',
    path: '/api/templates/{name}/toml',
    summary: "Get a template's text",
    description: 'The text as written, even if it is invalid. To create your own template, save it under another name in `templates` in the home folder.',
    cost: 2,
    params: Name,
    errors: [404, 409, 413],
    responses: { 200: { description: 'An agent.toml', contentType: 'text/plain; charset=utf-8' } },
    handler: async ({ params }) => {
      const template = await library.find(params.name);
      if (!template) throw templateErrors.not_found(params.name);
      return bytes(200, 'text/plain; charset=utf-8', template.manifestToml);
    },
  }),
];

const summaryOf = ({ template, manifest }: Described<AgentManifest>) => ({
  name: template.name,
  description: manifest.description,
  tags: [...manifest.tags],
  source: template.source,
  path: template.source === 'home' ? pathOf(template.name) : null,
});

const detailOf = ({ template, manifest }: Described<AgentManifest>) => {
  const { tools, network, shell, memory_read, memory_write, agent_spawn, agent_message, file_system } = manifest.capabilities;
  return {
    name: template.name,
    description: manifest.description,
    source: template.source,
    manifest: {
      name: manifest.name,
      description: manifest.description,
      version: manifest.version,
      module: 'builtin:chat' as const,
      tags: manifest.tags,
      model: { provider: manifest.model.provider, model: manifest.model.model },
      capabilities: { tools, network, shell, memory_read, memory_write, agent_spawn, agent_message, file_system },
    },
    manifest_toml: template.manifestToml,
  };
};
