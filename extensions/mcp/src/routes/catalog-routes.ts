/** The catalog of templates over HTTP. */
import { Nullable, reply, type RouteDecl, routeGroup, Type } from '@svc/api';
import { type Catalog, inLanguage, RequiredEnv, type Template } from '../catalog/catalog.js';
import { mcpErrors } from '../errors.js';
import type { Servers } from '../servers.js';

const route = routeGroup({ area: 'mcp' });

const Shown = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    description: Type.String(),
    category: Type.String(),
    icon: Nullable(Type.String()),
    installed: Type.Boolean({ description: 'A server of this template exists' }),
    tags: Type.Array(Type.String()),
    transport: Type.Object({ type: Type.String(), command: Type.Optional(Type.String()), args: Type.Optional(Type.Array(Type.String())), url: Type.Optional(Type.String()) }),
    required_env: Type.Array(Type.Object({ ...RequiredEnv.properties, is_secret: Type.Boolean() }), { description: 'What to send as `credentials`' }),
    has_oauth: Type.Boolean(),
    setup_instructions: Nullable(Type.String()),
  },
  { 'x-name': 'McpTemplate' },
);

export interface CatalogRouteDeps {
  readonly catalog: Catalog;
  readonly servers: Pick<Servers, 'list'>;
  near(id: string, ids: readonly string[]): string;
}

export const catalogRoutes = ({ catalog, servers, near }: CatalogRouteDeps): RouteDecl[] => {
  const shown = (template: Template, language: string | undefined) => {
    const { id, name, description = '', category = 'devtools', icon, tags = [], transport, required_env = [], oauth, setup_instructions } = inLanguage(template, language);
    return {
      id,
      name,
      description,
      category,
      icon: icon ?? null,
      installed: servers.list().some(({ spec }) => spec.template_id === id),
      tags: [...tags],
      transport,
      required_env: required_env.map((one) => ({ ...one, is_secret: one.is_secret ?? true })),
      has_oauth: oauth !== undefined,
      setup_instructions: setup_instructions ?? null,
    };
  };
  return [
    route({
      id: 'listMcpTemplates',
      method: 'GET',
      path: '/api/mcp/catalog',
      summary: 'List MCP templates',
      description:
        'Servers that can be added by `template_id`: those that come with svc, and TOML files in `mcp/catalog` of the home folder. In the language of `Accept-Language` where a template has it.',
      responses: { 200: Type.Object({ entries: Type.Array(Shown), count: Type.Integer(), faults: Type.Array(Type.String(), { description: 'Files that cannot be used' }) }) },
      handler: async ({ headers }) => {
        const { templates, faults } = await catalog.list();
        return reply(200, { entries: templates.map((one) => shown(one, headers['accept-language'])), count: templates.length, faults: [...faults] });
      },
    }),
    route({
      id: 'getMcpTemplate',
      method: 'GET',
      path: '/api/mcp/catalog/{id}',
      summary: 'Get an MCP template',
      description: 'The same as its entry in `GET /api/mcp/catalog`.',
      params: Type.Object({ id: Type.String({ minLength: 1, maxLength: 200, examples: ['github'] }) }),
      errors: [404],
      responses: { 200: Shown },
      handler: async ({ params: { id }, headers }) => {
        const template = await catalog.find(id);
        if (!template)
          throw mcpErrors.template_not_found(
            id,
            near(
              id,
              (await catalog.list()).templates.map((one) => one.id),
            ),
          );
        return reply(200, shown(template, headers['accept-language']));
      },
    }),
  ];
};
