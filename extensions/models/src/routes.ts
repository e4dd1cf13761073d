import { defineRoute, ErrorBody, OneOf, type OptionalHandle, reply, type RouteDecl, Type } from '@svc/api';
import type { LlmService } from '@svc/ext-llm/contract';
import type { ProvidersService } from '@svc/ext-providers/contract';
import type { ModelsService } from './contract.js';
import { modelErrors } from './errors.js';
import { Model, type ModelSurroundings, TIERS, viewOf } from './views.js';

export interface ModelRouteDeps {
  readonly models: ModelsService;
  readonly providers: OptionalHandle<ProvidersService>;
  readonly llm: OptionalHandle<LlmService>;
}

const ListQuery = Type.Object({
  provider: Type.Optional(Type.String({ maxLength: 64 })),
  tier: Type.Optional(OneOf(TIERS)),
  available: Type.Optional(Type.Boolean({ description: 'Only models whose provider can be asked now, or only the others' })),
});

export const modelRoutes = (deps: ModelRouteDeps): RouteDecl[] => [
  defineRoute({
    id: 'listModels',
    method: 'GET',
    path: '/api/models',
    summary: 'Models of the catalog',
    auth: 'bearer',
    permission: 'models.read',
    cost: 1,
    query: ListQuery,
    responses: {
      200: Type.Object({
        models: Type.Array(Model),
        total: Type.Integer({ description: 'How many are listed' }),
        available: Type.Integer({ description: 'How many of them can be asked now' }),
      }),
      400: ErrorBody,
    },
    handler: async ({ query: { available, ...filter } }) => {
      const [found, surroundings] = await Promise.all([deps.models.list(filter), surroundingsOf(deps)]);
      const shown = await Promise.all(found.map((model) => viewOf(model, surroundings)));
      const models = shown.filter((model) => available === undefined || model.available === available);
      return reply(200, { models, total: models.length, available: models.filter((model) => model.available).length });
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
    responses: { 200: Model, 404: ErrorBody },
    handler: async ({ params }) => {
      const found = await deps.models.find(params.id);
      if (!found) throw modelErrors.not_found(params.id);
      return reply(200, await viewOf(found, await surroundingsOf(deps)));
    },
  }),
];

/** Without the area of providers no model can be asked. */
const surroundingsOf = async ({ models, providers, llm }: ModelRouteDeps): Promise<ModelSurroundings> => {
  const [usable, aliases] = await Promise.all([providers.value?.usable() ?? [], models.aliases()]);
  const byModel = new Map<string, string[]>();
  for (const [alias, id] of Object.entries(aliases)) byModel.set(id.toLowerCase(), [...(byModel.get(id.toLowerCase()) ?? []), alias]);
  return {
    usable: new Set(usable),
    canThink: async ({ provider, id }) => (await llm.value?.canThink({ provider, model: id })) ?? null,
    aliasesOf: (modelId) => byModel.get(modelId.toLowerCase()) ?? [],
  };
};
