/** What models declares to other areas: the catalog of providers' models, their windows and prices, and aliases. */
import { Nullable, OneOf, type Plain, type Service, Type, defineEvent, defineService, method } from '@svc/api';

export { ModelColumns } from './decorating.js';

const MAX_RATE = 100_000;
const MAX_TIERS = 8;
const rate = (description: string) => Type.Number({ minimum: 0, maximum: MAX_RATE, description });

/** Prices besides those for input and output, where a provider has them. */
export const FurtherPrices = {
  cache_read_cost_per_1m: Type.Optional(rate('USD per million input tokens that the provider read from its cache; by default, the price of input')),
  cache_write_cost_per_1m: Type.Optional(rate('USD per million input tokens that the provider wrote to its cache; by default, the price of input')),
  image_tokens: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'The most input tokens that the provider counts for one image, which limits of cost assume before a call; by default, 4,200' }),
  ),
  context_tiers: Type.Optional(
    Type.Array(
      Type.Object(
        {
          above_input_tokens: Type.Integer({ minimum: 1, maximum: 100_000_000, description: 'These prices are for all tokens of a request with more input tokens than this' }),
          input_cost_per_1m: rate('USD per million tokens'),
          output_cost_per_1m: rate('USD per million tokens'),
          cache_read_cost_per_1m: Type.Optional(rate('By default, the price of input in this tier')),
          cache_write_cost_per_1m: Type.Optional(rate('By default, the price of input in this tier')),
        },
        { additionalProperties: false },
      ),
      { maxItems: MAX_TIERS, description: 'Prices of long requests, in the order of `above_input_tokens`' },
    ),
  ),
};

export const CatalogModel = Type.Object({
  id: Type.String(),
  provider: Type.String(),
  display_name: Type.String(),
  tier: Type.String(),
  context_window: Type.Number(),
  max_output_tokens: Type.Number(),
  input_cost_per_1m: Type.Number(),
  output_cost_per_1m: Type.Number(),
  ...FurtherPrices,
  supports_tools: Type.Boolean(),
  supports_vision: Type.Boolean(),
  supports_streaming: Type.Boolean(),
  wire_id: Type.Optional(Type.String({ description: "The provider's own model ID, if it differs from `id`" })),
  pricing_known: Type.Optional(Type.Boolean({ description: 'False if the price is unknown; ignore the two prices then' })),
  source: Type.Optional(OneOf(['builtin', 'catalog', 'custom', 'local'], { description: 'The source of the model; by default, the catalog' })),
});
export type CatalogModel = Plain<typeof CatalogModel>;

export const Models = defineService('models', '1.1.0', {
  list: method([Type.Optional(Type.Object({ provider: Type.Optional(Type.String()), tier: Type.Optional(Type.String()) }))], Type.Array(CatalogModel), { what: 'sees the catalog of models' }),
  /** By id, alias or display name, case-insensitive; within a provider when one is named. */
  find: method([Type.String(), Type.Optional(Type.String({ description: 'Provider' }))], Type.Union([CatalogModel, Type.Undefined()]), { what: 'sees the catalog of models' }),
  /** The name that an alias leads to in the end, which no model need have; undefined for what is no alias. */
  alias: method([Type.String()], Type.Union([Type.String(), Type.Undefined()]), { what: 'sees the catalog of models' }),
  /** What each alias stands for: a model id, or another alias. */
  aliases: method([], Type.Record(Type.String(), Type.String()), { what: 'sees the catalog of models' }),
});
export type ModelsService = Service<typeof Models>;

/** A model as a server lists it: one on this machine, or one that a person added. */
export const ListedModel = Type.Object({
  id: Type.String({ description: "The server's own name for it" }),
  size_bytes: Nullable(Type.Number()),
  context_window: Nullable(Type.Number({ description: 'Tokens, if the server reports them' })),
  is_paid: Type.Optional(Type.Boolean({ description: 'The model costs money, but its price is unknown' })),
});
export type ListedModel = Plain<typeof ListedModel>;

/** For whoever asks servers which models they have. */
export const LocalModels = defineService('local-models', '1.0.0', {
  /** From now on this provider has these models and no other; they stay until the next word, over restarts too. */
  keep: method([Type.String({ description: 'Provider' }), Type.Array(ListedModel)], Type.Void()),
  /** There is no such provider any more. */
  forget: method([Type.String({ description: 'Provider' })], Type.Void()),
});
export type LocalModelsService = Service<typeof LocalModels>;

/** What a name stands for may be another thing now. */
export const ModelsChanged = defineEvent(
  'models.changed',
  '1.0.0',
  Type.Object({ what: OneOf(['alias', 'custom', 'local', 'catalog']), name: Type.String({ description: 'The alias, the model, the provider, or the version of the catalog' }) }),
  { what: 'models', permission: 'models.read', id: 'name', state: 'what' },
);
