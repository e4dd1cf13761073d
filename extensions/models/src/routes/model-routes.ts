/** What models there are. */
import { OneOf, type OptionalHandle, reply, type RouteDecl, routeGroup, Type } from '@svc/api';
import type { LlmService } from '@svc/ext-llm/contract';
import type { ProvidersService } from '@svc/ext-providers/contract';
import { modelErrors } from '../errors.js';
import type { ModelsControl } from '../service.js';
import { Model, type ModelSurroundings, TIERS, viewOf } from '../views.js';

export interface ModelRouteDeps {
  readonly models: ModelsControl;
  readonly providers: OptionalHandle<ProvidersService>;
  readonly llm: OptionalHandle<LlmService>;
}

const route = routeGroup({ area: 'models' });

const ListQuery = Type.Object({
  provider: Type.Optional(Type.String({ maxLength: 64, description: 'Only models of this provider' })),
  tier: Type.Optional(OneOf(TIERS, { description: 'Only models of this tier' })),
  available: Type.Optional(Type.Boolean({ description: 'Only available models, or only the others' })),
});

export const modelRoutes = (deps: ModelRouteDeps): RouteDecl[] => [listModels(deps), getModel(deps)];

const listModels = (deps: ModelRouteDeps): RouteDecl =>
  route({
    id: 'listModels',
    method: 'GET',
    path: '/api/models',
    summary: 'List models',
    description:
      'Custom models first, then the catalog, then models listed by local model servers when last seen. A model served by several providers appears once for each.\n\nMakes no network request: `available` depends on keys and the last known state of local servers.',
    query: ListQuery,
    responses: {
      200: Type.Object({
        models: Type.Array(Model),
        total: Type.Integer({ description: 'How many are listed' }),
        available: Type.Integer({ description: 'Number of available models' }),
      }),
    },
    handler: async ({ query: { available, ...filter } }) => {
      const [found, surroundings] = await Promise.all([deps.models.list(filter), surroundingsOf(deps)]);
      const shown = await Promise.all(found.map((model) => viewOf(model, surroundings)));
      const models = shown.filter((model) => available === undefined || model.available === available);
      return reply(200, { models, total: models.length, available: models.filter((model) => model.available).length });
    },
  });

const getModel = (deps: ModelRouteDeps): RouteDecl =>
  route({
    id: 'getModel',
    method: 'GET',
    path: '/api/models/{*id}',
    summary: 'Get a model by id, alias or display name',
    description:
      'Case does not matter. Slashes of an id can be plain or `%2F`. A name is looked up as in a manifest: custom models, your aliases, ids, aliases of the catalog, display names. If several providers serve a model, the first is shown.',
    params: Type.Object({ id: Type.String({ minLength: 1, maxLength: 400, description: 'Id, alias or display name', examples: ['claude-opus-4-7'] }) }),
    errors: [404],
    responses: { 200: Model },
    handler: async ({ params }) => {
      const found = await deps.models.find(params.id);
      if (!found) throw modelErrors.not_found(params.id);
      return reply(200, await viewOf(found, await surroundingsOf(deps)));
    },
  });

/** Without the area of providers no model can be asked. */
export const surroundingsOf = async ({ models, providers, llm }: ModelRouteDeps): Promise<ModelSurroundings> => {
  const [usable, names] = await Promise.all([providers.value?.usable() ?? [], models.names()]);
  const byModel = new Map<string, string[]>();
  for (const alias of names.aliases.keys()) {
    const id = names.end(alias)?.toLowerCase();
    if (id !== undefined) byModel.set(id, [...(byModel.get(id) ?? []), alias]);
  }
  return {
    usable: new Set(usable),
    canThink: async ({ provider, id }) => (await llm.value?.canThink({ provider, model: id })) ?? null,
    aliasesOf: (modelId) => byModel.get(modelId.toLowerCase()) ?? [],
    isListed: names.isListed,
  };
};
