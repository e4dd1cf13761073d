import { defineRoute, OneOf, reply, type RouteDecl, Type } from '@svc/api';
import type { ModelsService } from './contract.js';
import { modelErrors } from './errors.js';

const Model = Type.Object(
  {
    id: Type.String({ description: 'May contain slashes' }),
    provider: Type.String(),
    display_name: Type.String(),
    tier: OneOf(['frontier', 'smart', 'balanced', 'fast', 'local', 'custom']),
    context_window: Type.Integer({ description: 'Tokens' }),
    max_output_tokens: Type.Integer(),
    input_cost_per_1m: Type.Number({ description: 'USD per million tokens' }),
    output_cost_per_1m: Type.Number({ description: 'USD per million tokens' }),
    supports_tools: Type.Boolean(),
    supports_vision: Type.Boolean(),
    supports_streaming: Type.Boolean(),
    wire_id: Type.Optional(Type.String({ description: 'What the provider itself calls it, where that differs from id' })),
  },
  { $id: 'CatalogModel' },
);

export const modelRoutes = (models: ModelsService): RouteDecl[] => [
  defineRoute({
    id: 'listModels',
    method: 'GET',
    path: '/api/models',
    summary: 'Models of the catalog',
    auth: 'bearer',
    permission: 'models.read',
    cost: 1,
    query: Type.Object({ provider: Type.Optional(Type.String()), tier: Type.Optional(Type.String()) }),
    responses: { 200: Type.Object({ models: Type.Array(Model), total: Type.Integer() }) },
    handler: async ({ query }) => {
      const found = await models.list(query);
      return reply(200, { models: found, total: found.length });
    },
  }),
  defineRoute({
    id: 'getModel',
    method: 'GET',
    path: '/api/models/{*id}',
    summary: 'One model by id, alias or display name',
    auth: 'bearer',
    permission: 'models.read',
    cost: 1,
    params: Type.Object({ id: Type.String() }),
    responses: { 200: Model, 404: { description: 'No such model', contentType: 'application/json' } },
    handler: async ({ params }) => {
      const found = await models.find(params.id);
      if (!found) throw modelErrors.not_found(params.id);
      return reply(200, found);
    },
  }),
];
