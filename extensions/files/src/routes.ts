import { defineRoute, ErrorBody, OneOf, reply, type RouteDecl, Type, UuidText } from '@svc/api';
import type { AgentsService } from '@svc/ext-agents/contract';
import type { FilesService } from './service.js';

const Id = UuidText('Agent id');

const File = Type.Object(
  {
    name: Type.String({ description: 'Path from the workspace' }),
    exists: Type.Boolean(),
    size_bytes: Type.Integer(),
    kind: OneOf(['workspace', 'identity']),
    modified_at: Type.String(),
  },
  { $id: 'WorkspaceFile' },
);

export const fileRoutes = (agents: AgentsService, files: FilesService): RouteDecl[] => [
  defineRoute({
    id: 'listAgentFiles',
    method: 'GET',
    path: '/api/agents/{id}/files',
    summary: "Files of an agent's workspace, at most 1,000",
    auth: 'bearer',
    permission: 'files.read',
    cost: 2,
    params: Type.Object({ id: Id }),
    responses: { 200: Type.Object({ files: Type.Array(File), total: Type.Integer() }), 400: ErrorBody, 404: ErrorBody },
    handler: async ({ actor, params }) => {
      const agent = await agents.get(actor, params.id);
      const found = await files.list(agent.id);
      return reply(200, { files: found, total: found.length });
    },
  }),
  defineRoute({
    id: 'getAgentFile',
    method: 'GET',
    path: '/api/agents/{id}/files/{*filename}',
    summary: "One file of an agent's workspace",
    auth: 'bearer',
    permission: 'files.read',
    cost: 2,
    params: Type.Object({ id: Id, filename: Type.String() }),
    responses: {
      200: Type.Object({ name: Type.String(), content: Type.String(), encoding: OneOf(['utf-8', 'base64']), size_bytes: Type.Integer() }),
      400: ErrorBody,
      403: ErrorBody,
      404: ErrorBody,
      413: ErrorBody,
    },
    handler: async ({ actor, params }) => {
      const agent = await agents.get(actor, params.id);
      return reply(200, await files.read(agent.id, params.filename));
    },
  }),
];
