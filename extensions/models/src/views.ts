/** A model as the interface shows it: its row of the catalog, and what is known of it besides. */
import { Nullable, OneOf, Type } from '@svc/api';
import { type CatalogModel, FurtherPrices } from './contract.js';

export const TIERS = ['frontier', 'smart', 'balanced', 'fast', 'local', 'custom'] as const;

export const Model = Type.Object(
  {
    id: Type.String({ description: 'May contain slashes' }),
    provider: Type.String(),
    display_name: Type.String(),
    tier: OneOf(TIERS),
    modality: OneOf(['text'], { description: 'The catalog has only text models' }),
    context_window: Type.Integer({ description: 'Tokens' }),
    max_output_tokens: Type.Integer(),
    input_cost_per_1m: Type.Number({ description: 'USD per million tokens; 0 for local models, free tiers and flat plans. Meaningless if `pricing_known` is false' }),
    output_cost_per_1m: Type.Number({ description: 'USD per million tokens' }),
    input_cost_per_m: Type.Number({ description: 'The same by its other name' }),
    output_cost_per_m: Type.Number({ description: 'The same by its other name' }),
    ...FurtherPrices,
    pricing_known: Type.Boolean({ description: 'Whether its price is known. If not, budgets use a typical price (1 in, 3 out), or nothing for a provider that needs no key' }),
    supports_tools: Type.Boolean(),
    supports_vision: Type.Boolean(),
    supports_streaming: Type.Boolean(),
    supports_thinking: Nullable(Type.Boolean(), { description: 'Whether it supports thinking; null if unknown' }),
    aliases: Type.Array(Type.String(), { description: 'Other names that an agent may use for it' }),
    available: Type.Boolean({ description: 'Whether it is available: its provider has a key, or needs none and is not known to be off; a local server must list it' }),
    source: OneOf(['builtin', 'catalog', 'custom', 'local'], {
      description: '`builtin`: part of the daemon. `catalog`: in the catalog. `custom`: created by a person. `local`: listed by a local model server when last seen',
    }),
    wire_id: Type.Optional(Type.String({ description: "The provider's own model ID, if it differs from id" })),
  },
  { 'x-name': 'CatalogModel' },
);

export interface ModelSurroundings {
  /** Providers that can be asked now. */
  readonly usable: ReadonlySet<string>;
  readonly aliasesOf: (modelId: string) => readonly string[];
  /** Undefined where no server of its provider was ever seen. */
  readonly isListed: (model: CatalogModel) => boolean | undefined;
}

export const viewOf = (model: CatalogModel, canThink: boolean | null, { usable, aliasesOf, isListed }: ModelSurroundings) => ({
  ...model,
  tier: tierOf(model.tier),
  modality: 'text' as const,
  supports_thinking: canThink,
  input_cost_per_m: model.input_cost_per_1m,
  output_cost_per_m: model.output_cost_per_1m,
  pricing_known: model.pricing_known ?? true,
  aliases: [...aliasesOf(model.id)],
  // A person who registered a model knows more than its server's list.
  available: usable.has(model.provider) && (model.source === 'custom' || isListed(model) !== false),
  source: model.source ?? (model.provider === 'builtin' ? ('builtin' as const) : ('catalog' as const)),
});

export const tierOf = (tier: string): (typeof TIERS)[number] => TIERS.find((known) => known === tier) ?? 'custom';
