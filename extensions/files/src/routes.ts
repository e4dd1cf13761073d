import { OneOf, reply, type RouteDecl, routeGroup, Type, UuidText } from '@svc/api';
import type { AgentsService } from '@svc/ext-agents/contract';
import type { FilesService } from './service.js';

const route = routeGroup({ area: 'files' });

const Id = UuidText('Agent id');

const File = Type.Object(
  {
    name: Type.String({ description: 'Path from the workspace' }),
    exists: Type.Boolean(),
    size_bytes: Type.Integer(),
    kind: OneOf(['workspace', 'identity']),
    modified_at: Type.String(),
  },
  { 'x-name': 'WorkspaceFile' },
);

export const fileRoutes = (agents: AgentsService, files: FilesService): RouteDecl[] => [
  route({
    id: 'listAgentFiles',
    method: 'GET',
    path: '/api/agents/{id}/files',
    summary: "Files of an agent's workspace, at most 1,000",
    cost: 2,
    params: Type.Object({ id: Id }),
    errors: [404],
    responses: { 200: Type.Object({ files: Type.Array(File), total: Type.Integer() }) },
    handler: async ({ actor, params }) => {
      const agent = await agents.get(actor, params.id);
      const found = await files.list(agent.id);
      return reply(200, { files: found, total: found.length });
    },
  }),
  route({
    id: 'getAgentFile',
    method: 'GET',
    path: '/api/agents/{id}/files/{*filename}',
    summary: "One file of an agent's workspace",
    cost: 2,
    params: Type.Object({ id: Id, filename: Type.String() }),
    errors: [403, 404, 413],
    responses: {
      200: Type.Object({ name: Type.String(), content: Type.String(), encoding: OneOf(['utf-8', 'base64']), size_bytes: Type.Integer() }),
    },
    handler: async ({ actor, params }) => {
      const agent = await agents.get(actor, params.id);
      return reply(200, await files.read(agent.id, params.filename));
    },
  }),
];
