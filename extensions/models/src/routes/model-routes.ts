/** What models there are. */
import { type HookHandle, OneOf, reply, type RouteDecl, routeGroup, Type } from '@svc/api';
import type { CatalogModel, ModelColumns } from '../contract.js';
import { modelErrors } from '../errors.js';
import type { ModelsControl } from '../service.js';
import { Model, TIERS, viewOf } from '../views.js';

export interface ModelRouteDeps {
  readonly models: ModelsControl;
  readonly columns: HookHandle<typeof ModelColumns>;
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
      const found = await deps.models.list(filter);
      const shown = await viewer(deps, await columnsOf(deps, found));
      const models = found.map(shown).filter((model) => available === undefined || model.available === available);
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
      const shown = await viewer(deps, await columnsOf(deps, [found]));
      return reply(200, shown(found, 0));
    },
  });

/** What other areas know of these models. */
export const columnsOf = async ({ columns }: ModelRouteDeps, models: readonly CatalogModel[]): Promise<ModelColumns> => {
  if (columns.isEmpty()) return {};
  const answers = await columns.call({ models: models.map(({ id, provider }) => ({ id, provider })) });
  return Object.assign({}, ...answers.map(({ value }) => value)) as ModelColumns; // each tap answers other columns
};

/** How each of the models is shown that these columns are of. Without the area of providers no model can be asked. */
export const viewer = async ({ models }: ModelRouteDeps, { providers = [], canThink = [] }: ModelColumns) => {
  const names = await models.names();
  const byModel = new Map<string, string[]>();
  for (const alias of names.aliases.keys()) {
    const id = names.end(alias)?.toLowerCase();
    if (id !== undefined) byModel.set(id, [...(byModel.get(id) ?? []), alias]);
  }
  const surroundings = {
    usable: new Set(providers.flatMap(({ name, isUsable }) => (isUsable ? [name] : []))),
    aliasesOf: (modelId: string) => byModel.get(modelId.toLowerCase()) ?? [],
    isListed: names.isListed,
  };
  return (model: CatalogModel, index: number) => viewOf(model, canThink[index] ?? null, surroundings);
};
