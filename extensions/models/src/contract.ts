/** What models declares to other areas: the catalog of providers' models, their windows and prices, and aliases. */
import { type Plain, type Service, Type, defineService, method } from '@svc/api';

export const CatalogModel = Type.Object({
  id: Type.String(),
  provider: Type.String(),
  display_name: Type.String(),
  tier: Type.String(),
  context_window: Type.Number(),
  max_output_tokens: Type.Number(),
  input_cost_per_1m: Type.Number(),
  output_cost_per_1m: Type.Number(),
  supports_tools: Type.Boolean(),
  supports_vision: Type.Boolean(),
  supports_streaming: Type.Boolean(),
  wire_id: Type.Optional(Type.String({ description: 'What the provider itself calls the model, where that differs from `id`' })),
});
export type CatalogModel = Plain<typeof CatalogModel>;

export const Models = defineService('models', '1.0.0', {
  list: method([Type.Optional(Type.Object({ provider: Type.Optional(Type.String()), tier: Type.Optional(Type.String()) }))], Type.Array(CatalogModel)),
  /** By id, alias or display name, case-insensitive; within a provider when one is named. */
  find: method([Type.String(), Type.Optional(Type.String({ description: 'Provider' }))], Type.Union([CatalogModel, Type.Undefined()])),
  alias: method([Type.String()], Type.Union([Type.String(), Type.Undefined()])),
  /** The id that each alias stands for. */
  aliases: method([], Type.Record(Type.String(), Type.String())),
});
export type ModelsService = Service<typeof Models>;
