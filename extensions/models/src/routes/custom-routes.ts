/** Models that people register. */
import { documented, nearest, OneOf, reply, type RouteDecl, routeGroup, type Static, TextOf, Type } from '@svc/api';
import { type Changes, isWordOfChoice, MODEL_ID } from '../changes.js';
import { type CatalogModel, FurtherPrices, type ModelColumns } from '../contract.js';
import { modelErrors } from '../errors.js';
import { type Further, furtherPricesOf, tierProblem } from '../further-prices.js';
import { Model, TIERS } from '../views.js';
import { columnsOf, type ModelRouteDeps, viewer } from './model-routes.js';

export interface CustomRouteDeps extends ModelRouteDeps {
  readonly changes: Changes;
}

const route = routeGroup({ area: 'models' });

const DEFAULT_WINDOW = 128_000;
const DEFAULT_OUTPUT = 8_192;
const MAX_TOKENS = 100_000_000;
const MAX_PRICE = 100_000;

const price = (description: string) => Type.Optional(Type.Number({ minimum: 0, maximum: MAX_PRICE, description }));

const CustomBody = Type.Object({
  id: TextOf(MODEL_ID, { description: 'What agents call it; may contain slashes, not spaces' }),
  provider: Type.String({ maxLength: 64, description: 'Who serves it: a name of GET /api/providers' }),
  display_name: Type.Optional(Type.String({ maxLength: 200, description: 'Default: the id' })),
  context_window: Type.Optional(Type.Integer({ minimum: 256, maximum: MAX_TOKENS, description: `Tokens; default ${DEFAULT_WINDOW}` })),
  max_output_tokens: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_TOKENS, description: `Default ${DEFAULT_OUTPUT}, or the context window if that is smaller` })),
  input_cost_per_1m: price('USD per million tokens. Both prices or none: without them the price is unknown'),
  output_cost_per_1m: price('USD per million tokens'),
  ...FurtherPrices,
  input_cost_per_m: price('The same by its other name'),
  output_cost_per_m: price('The same by its other name'),
  tier: Type.Optional(OneOf(TIERS, { description: 'Default `custom`' })),
  modality: Type.Optional(Type.String({ ...documented({ enum: ['text'] }), description: '`text`; models of other kinds are not asked through the catalog' })),
  supports_tools: Type.Optional(Type.Boolean({ default: true })),
  supports_vision: Type.Optional(Type.Boolean({ default: false })),
  supports_streaming: Type.Optional(Type.Boolean({ default: true })),
  wire_id: Type.Optional(TextOf(MODEL_ID, { description: "The provider's own model ID, if it differs from id" })),
});
type CustomBody = Static<typeof CustomBody>;

export const customRoutes = (deps: CustomRouteDeps): RouteDecl[] => [createCustom(deps), deleteCustom(deps)];

const createCustom = (deps: CustomRouteDeps): RouteDecl =>
  route({
    id: 'createCustomModel',
    method: 'POST',
    path: '/api/models/custom',
    summary: 'Create a custom model',
    description:
      'Overrides the catalog\'s model of the same id, from the next call on. Catalog updates do not remove it. Budgets use its prices; without prices, GET /api/models shows `pricing_known: false`.\n\nThis does not check whether the provider serves the model; use POST /api/providers/{name}/test with {"model": "…"}.',
    permission: 'models.admin',
    audit: 'custom_model_created',
    idempotent: true,
    body: CustomBody,
    examples: {
      'A new model of a provider': {
        id: 'gpt-6-preview',
        provider: 'openai',
        display_name: 'GPT-6 preview',
        context_window: 400000,
        max_output_tokens: 128000,
        input_cost_per_1m: 2,
        output_cost_per_1m: 12,
      },
      'A model of your own on this machine': { id: 'house-llama', provider: 'ollama', context_window: 32768 },
      'Override the listed price': {
        id: 'claude-sonnet-4-6',
        provider: 'anthropic',
        context_window: 200000,
        max_output_tokens: 64000,
        input_cost_per_1m: 2.4,
        output_cost_per_1m: 12,
        supports_vision: true,
      },
    },
    responses: { 201: Type.Object({ id: Type.String(), provider: Type.String(), status: OneOf(['added']), model: Model, warning: Type.Optional(Type.String()) }) },
    handler: async (req) => {
      const { body } = req;
      const model = modelOf(body);
      const columns = await columnsOf(deps, [model]);
      validateProvider(columns, model.provider);
      const shown = await viewer(deps, columns);
      const answer = reply(
        201,
        {
          id: model.id,
          provider: model.provider,
          status: 'added',
          model: shown(model, 0),
          ...(model.pricing_known === false ? { warning: 'Without input_cost_per_1m and output_cost_per_1m its price is unknown; budgets count a middling one where the provider takes money.' } : {}),
        },
        { location: `/api/models/${model.id.split('/').map(encodeURIComponent).join('/')}` },
      );
      await deps.changes.addCustom(model, () => req.receipt(answer));
      return answer;
    },
  });

const deleteCustom = ({ changes }: CustomRouteDeps): RouteDecl =>
  route({
    id: 'deleteCustomModel',
    method: 'DELETE',
    path: '/api/models/custom/{*id}',
    summary: 'Delete a custom model',
    description: "From the next call on, the catalog's model of the same id is used, if there is one. Agents that use the id keep it: their provider may still know it, at an unknown price.",
    permission: 'models.admin',
    audit: 'custom_model_deleted',
    params: Type.Object({ id: Type.String({ minLength: 1, maxLength: 400, description: 'The id; slashes plain or as `%2F`', examples: ['mistralai/some-new-model'] }) }),
    query: Type.Object({ provider: Type.Optional(Type.String({ maxLength: 64, description: 'Where several providers have a custom model of this id' })) }),
    errors: [404, 409],
    responses: { 200: Type.Object({ status: OneOf(['removed']), id: Type.String(), provider: Type.String() }) },
    handler: async ({ params, query }) => {
      const { id, provider } = await changes.removeCustom(params.id, query.provider);
      return reply(200, { status: 'removed', id, provider });
    },
  });

const validateProvider = ({ providers }: ModelColumns, name: string): void => {
  // Without that area nobody can tell; no model can be asked then either.
  if (!providers || providers.some((one) => one.name === name)) return;
  const names = providers.map((one) => one.name);
  throw modelErrors.unknown_provider(name, nearest(name, names, 1)[0]);
};

const modelOf = (body: CustomBody): CatalogModel => {
  const id = body.id.trim();
  if (!MODEL_ID.fits(id)) throw modelErrors.bad_model('`id` is empty, or contains spaces or control characters');
  if (isWordOfChoice(id)) throw modelErrors.bad_model(`"${id}" leaves the choice to the daemon and can be no id`);
  // The path of such an id would lead elsewhere.
  if (id.split('/').some((part) => ['', '.', '..'].includes(part))) throw modelErrors.bad_model('`id` has an empty part, or one of dots, between its slashes');
  if (/^(aliases|custom)(\/|$)/i.test(id)) throw modelErrors.bad_model('`aliases` and `custom` are places of the interface, so no id begins with them');
  const wireId = body.wire_id?.trim();
  if (wireId !== undefined && !MODEL_ID.fits(wireId)) throw modelErrors.bad_model('`wire_id` is empty, or contains spaces or control characters');
  const displayName = body.display_name?.trim() || id;
  if (/\p{C}/u.test(displayName)) throw modelErrors.bad_model('`display_name` contains control characters');
  if (body.provider === 'builtin') throw modelErrors.bad_model('the built-in mock provider serves no other model');
  if (body.modality !== undefined && body.modality !== 'text') throw modelErrors.bad_model(`\`modality\` is ${body.modality}, and only models of text are asked through the catalog`);
  const window = body.context_window ?? DEFAULT_WINDOW;
  const output = body.max_output_tokens ?? Math.min(DEFAULT_OUTPUT, window);
  const unordered = tierProblem({ ...body, context_window: window });
  if (unordered !== undefined) throw modelErrors.bad_model(unordered);
  if (output > window) throw modelErrors.bad_model(`max_output_tokens (${output}) is more than context_window (${window})`);
  return {
    id,
    provider: body.provider,
    display_name: displayName,
    tier: body.tier ?? 'custom',
    context_window: window,
    max_output_tokens: output,
    ...pricesOf(body),
    supports_tools: body.supports_tools ?? true,
    supports_vision: body.supports_vision ?? false,
    supports_streaming: body.supports_streaming ?? true,
    ...(wireId === undefined ? {} : { wire_id: wireId }),
    source: 'custom',
  };
};

/** Half a price would let a budget count the other half as nothing. */
const pricesOf = (body: CustomBody): Further & Pick<CatalogModel, 'input_cost_per_1m' | 'output_cost_per_1m' | 'pricing_known'> => {
  const further = furtherPricesOf(body);
  const input = onePrice('input_cost', body.input_cost_per_1m, body.input_cost_per_m);
  const output = onePrice('output_cost', body.output_cost_per_1m, body.output_cost_per_m);
  if (input === undefined && output === undefined && Object.keys(further).length > 0)
    throw modelErrors.bad_model('prices of the cache or of long requests need input_cost_per_1m and output_cost_per_1m beside them');
  if (input === undefined && output === undefined) return { input_cost_per_1m: 0, output_cost_per_1m: 0, pricing_known: false };
  if (input === undefined || output === undefined) throw modelErrors.bad_model('only one of input_cost_per_1m and output_cost_per_1m is given; give both, or neither if the price is unknown');
  return { input_cost_per_1m: input, output_cost_per_1m: output, ...further, pricing_known: true };
};

const onePrice = (name: string, per1m: number | undefined, perM: number | undefined): number | undefined => {
  if (per1m !== undefined && perM !== undefined && per1m !== perM) throw modelErrors.bad_model(`${name}_per_1m and ${name}_per_m are two names of one price and differ`);
  return per1m ?? perM;
};
