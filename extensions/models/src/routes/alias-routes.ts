/** Other names of models. */
import { OneOf, reply, type RouteDecl, routeGroup, TextOf, Type } from '@svc/api';
import { ALIAS, type Changes, MODEL_ID, wellFormedAlias } from '../changes.js';
import type { ModelsControl } from '../service.js';

export interface AliasRouteDeps {
  readonly models: ModelsControl;
  readonly changes: Changes;
}

const route = routeGroup({ area: 'models' });

const AliasBody = Type.Object({
  alias: TextOf(ALIAS, { description: 'The short name; case does not matter' }),
  model_id: TextOf(MODEL_ID, { description: 'The id of a model, or another alias' }),
});

const Alias = Type.Object(
  {
    alias: Type.String({ description: 'In lower case' }),
    model_id: Type.String(),
    status: OneOf(['created']),
    replaces: Type.Optional(Type.String({ description: "The target of the catalog's alias of this name, which this one overrides" })),
    warning: Type.Optional(Type.String({ description: 'A side effect you may not want' })),
  },
  { 'x-name': 'ModelAlias' },
);

export const aliasRoutes = (deps: AliasRouteDeps): RouteDecl[] => [listAliases(deps), createAlias(deps), deleteAlias(deps)];

const listAliases = ({ models }: AliasRouteDeps): RouteDecl =>
  route({
    id: 'listModelAliases',
    method: 'GET',
    path: '/api/models/aliases',
    summary: 'List model aliases',
    description: "Custom aliases and those of the catalog. Agents can use both; a custom alias overrides the catalog's alias of the same name.",
    responses: {
      200: Type.Object({
        aliases: Type.Record(Type.String(), Type.String(), { description: 'The target of each: a model id or another alias' }),
        total: Type.Integer(),
        custom: Type.Array(Type.String(), { description: 'Custom aliases, which can be removed' }),
      }),
    },
    handler: async () => {
      const { aliases, rows } = await models.names();
      return reply(200, { aliases: Object.fromEntries(aliases), total: aliases.size, custom: [...rows.aliases.keys()] });
    },
  });

const createAlias = ({ models, changes }: AliasRouteDeps): RouteDecl =>
  route({
    id: 'createModelAlias',
    method: 'POST',
    path: '/api/models/aliases',
    summary: 'Create a model alias',
    description:
      'Applies from the next call of every agent that uses it. The target can be another alias. A target that is not in the catalog is accepted with a `warning`, since the provider may know it.\n\nRefused: the id of a model (it would be hidden), an existing alias, and one that would create a cycle.',
    permission: 'models.admin',
    audit: 'model_alias_created',
    idempotent: true,
    body: AliasBody,
    examples: {
      'A short name for a model': { alias: 'writer', model_id: 'claude-opus-4-7' },
      'A name that follows an alias of the catalog': { alias: 'cheap', model_id: 'haiku' },
      'A name for a model that the catalog does not know': { alias: 'lab', model_id: 'openrouter/mistralai/some-new-model' },
    },
    responses: { 201: Alias },
    handler: async (req) => {
      const { body } = req;
      const alias = wellFormedAlias(body.alias);
      const before = (await models.names()).catalog.aliases.get(alias);
      const modelId = body.model_id.trim();
      const isKnown = ['default', 'auto'].includes(modelId.toLowerCase()) || (await models.find(modelId)) !== undefined;
      const answer = reply(
        201,
        {
          alias,
          model_id: modelId,
          status: 'created',
          ...(before === undefined ? {} : { replaces: before }),
          ...(isKnown ? {} : { warning: `The catalog has no model "${modelId}". It is asked for under that name, of the provider that its prefix or the agent names, else of the default one.` }),
        },
        { location: `/api/models/${encodeURIComponent(alias)}` },
      );
      await changes.addAlias(alias, body.model_id, () => req.receipt(answer));
      return answer;
    },
  });

const deleteAlias = ({ changes }: AliasRouteDeps): RouteDecl =>
  route({
    id: 'deleteModelAlias',
    method: 'DELETE',
    path: '/api/models/aliases/{alias}',
    summary: 'Delete a model alias',
    description:
      "Deletes a custom alias. Agents and aliases that use it refer to an unknown name from the next call on, or to the catalog's alias of the same name. `used_by` lists the aliases that pointed to it.",
    permission: 'models.admin',
    audit: 'model_alias_deleted',
    params: Type.Object({ alias: Type.String({ minLength: 1, maxLength: 200, description: 'In any case', examples: ['writer'] }) }),
    errors: [404, 409],
    responses: { 200: Type.Object({ status: OneOf(['removed']), alias: Type.String(), used_by: Type.Optional(Type.Array(Type.String())) }) },
    handler: async ({ params }) => {
      const usedBy = await changes.removeAlias(params.alias);
      return reply(200, { status: 'removed', alias: params.alias.toLowerCase(), ...(usedBy.length > 0 ? { used_by: usedBy } : {}) });
    },
  });
