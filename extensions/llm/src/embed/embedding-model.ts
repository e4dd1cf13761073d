/** Which model makes the vectors, and what it costs. */
import type { ProvidersService } from '@svc/ext-providers/contract';
import type { Drivers } from '../drivers/driver.js';
import { llmErrors } from '../errors.js';
import type { Price } from '../money/pricing.js';
import { type Choice, isDefault, type Resolved } from '../resolution.js';
import type { ResolutionCache } from '../resolution-cache.js';

/** Of a provider, where only the provider is named. */
const USUAL: Readonly<Record<string, string>> = {
  openai: 'text-embedding-3-small',
  gemini: 'gemini-embedding-001',
  mistral: 'mistral-embed',
  ollama: 'nomic-embed-text',
  builtin: 'hashing',
};

/** Of a model that the catalog does not know, at a provider that takes money: above what the large ones cost. */
const ASSUMED_PRICE: Price = { input_cost_per_1m: 0.2, output_cost_per_1m: 0 };

export interface EmbeddingModelDeps {
  readonly resolution: Pick<ResolutionCache, 'resolve'>;
  readonly providers: Pick<ProvidersService, 'get' | 'defaultModel'>;
  readonly drivers: Drivers;
}

/** Throws `llm_embeddings_unsupported`, `llm_embedding_model_unnamed`, and what resolving throws. */
export const embeddingModelOf = async (deps: EmbeddingModelDeps, choice: Choice): Promise<Resolved> => {
  const resolved = await deps.resolution.resolve(isDefault(choice.model) ? await usualOf(deps, choice.provider) : choice);
  if (!deps.drivers(resolved.record.wire, resolved.provider).embed) throw llmErrors.embeddings_unsupported(resolved.provider);
  return resolved.info || !resolved.record.key_required ? resolved : { ...resolved, price: ASSUMED_PRICE };
};

const usualOf = async (deps: EmbeddingModelDeps, named: string): Promise<Choice> => {
  const provider = isDefault(named) ? (await deps.providers.defaultModel()).provider : named;
  const record = await deps.providers.get(provider);
  if (!record) throw llmErrors.provider_not_found(provider);
  if (!deps.drivers(record.wire, record.name).embed) throw llmErrors.embeddings_unsupported(provider);
  const model = USUAL[provider];
  if (model === undefined) throw llmErrors.embedding_model_unnamed(provider);
  return { provider, model };
};
