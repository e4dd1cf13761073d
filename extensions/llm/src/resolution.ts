/**
 * From what an agent names to what is called.
 *
 * R1  `default` is the daemon's default model; a model without a provider is looked up by id, alias, name and `provider/` prefix.
 * R2  A provider that was named is used or refused. Nothing is put in its place.
 */
import type { CatalogModel, ModelsService } from '@svc/ext-models/contract';
import type { ProviderRecord, ProvidersService } from '@svc/ext-providers/contract';
import type { Drivers } from './drivers/driver.js';
import { llmErrors } from './errors.js';
import { ASSUMED_PRICE, type Price } from './money/pricing.js';
import type { Windows } from './call/windows.js';
import { canThink } from './call/thinking.js';

/** For models that the catalog does not know. */
const UNKNOWN_CONTEXT_TOKENS = 128_000;

export interface Resolved {
  readonly provider: string;
  /** The catalog's id where it has one; what is shown and billed. */
  readonly model: string;
  /** What the provider calls it. */
  readonly wireModel: string;
  readonly record: ProviderRecord;
  readonly info: CatalogModel | undefined;
  /** Undefined where nothing is charged, as by a server of one's own. */
  readonly price: Price | undefined;
  readonly contextWindow: number;
  readonly canThink: boolean;
  readonly why: string;
}

export interface ResolutionDeps {
  drivers: Drivers;
  models: ModelsService;
  providers: ProvidersService;
  /** What was learned from refusals. */
  windows: Pick<Windows, 'of'>;
}

export interface Choice {
  readonly provider: string;
  readonly model: string;
}

/** Throws `llm_model_not_found`, `llm_provider_not_found`, `llm_provider_unsupported`, `llm_provider_key_missing`, `llm_provider_key_unreadable`. */
export const resolveChoice = async (deps: ResolutionDeps, choice: Choice): Promise<Resolved> => {
  const named = isDefault(choice.provider) ? await placeOf(deps, choice.model) : { ...choice, why: `The agent names ${choice.provider}.` };
  const record = await deps.providers.get(named.provider);
  if (!record) throw llmErrors.provider_not_found(named.provider);
  // Throws for one that nobody here can speak to.
  deps.drivers(record.wire, record.name);
  if (record.problem !== null && record.key_required) throw llmErrors.provider_key_unreadable(record.name, record.problem);
  if (record.auth_status === 'missing') throw llmErrors.provider_key_missing(record.name, record.env_var ?? 'its environment variable');
  const { model, info } = await meantModel(deps, named.model, record);
  return {
    provider: record.name,
    model: info?.id ?? model,
    wireModel: wireName(model, info),
    record,
    info,
    price: info && info.pricing_known !== false ? info : record.key_required ? ASSUMED_PRICE : undefined,
    contextWindow: Math.min(info?.context_window ?? UNKNOWN_CONTEXT_TOKENS, deps.windows.of(record.name, info?.id ?? model) ?? Number.MAX_SAFE_INTEGER),
    canThink: canThink(record.wire, record.name, info?.id ?? model),
    why: named.why,
  };
};

export const isDefault = (name: string): boolean => name === '' || name === 'default' || name === 'auto';

/** R1. */
const placeOf = async (deps: ResolutionDeps, model: string): Promise<Choice & { why: string }> => {
  if (isDefault(model)) return deps.providers.defaultModel();
  const slash = model.indexOf('/');
  const prefix = slash > 0 ? model.slice(0, slash) : '';
  if (prefix !== '' && (await deps.providers.get(prefix))) return { provider: prefix, model, why: `The model's name begins with its provider, ${prefix}.` };
  const found = await deps.models.find(model);
  // An alias may lead to a name that the catalog does not know, and is itself no name for a provider.
  const target = found ? undefined : await deps.models.alias(model);
  if (target !== undefined) return placeOf(deps, target);
  if (found) return { provider: found.provider, model: found.id, why: `${found.provider} serves ${found.id}.` };
  const fallback = await deps.providers.defaultModel();
  // A name outside the catalog may still be one that the default provider knows; the mock provider knows none.
  if (fallback.isMock) throw llmErrors.model_not_found(model);
  return { provider: fallback.provider, model, why: `The catalog does not know ${model}, so svc asks the default provider ${fallback.provider} for it.` };
};

/** A tag that the catalog does not have, such as `qwen3:latest`, is the server's own name for it and stays. */
const wireName = (model: string, info: CatalogModel | undefined): string => {
  if (info === undefined) return model;
  const name = model.toLowerCase();
  const isItself = [info.id, info.wire_id].some((one) => one?.toLowerCase() === name || one?.toLowerCase() === `${info.provider}/${name}`);
  return isItself || !model.includes(':') ? (info.wire_id ?? info.id) : model;
};

/** What the name stands for at this provider, and what is known of it. */
const meantModel = async (deps: ResolutionDeps, name: string, record: ProviderRecord): Promise<{ model: string; info: CatalogModel | undefined }> => {
  const model = isDefault(name) ? await usualModel(deps, record) : withoutPrefix(name, record.name);
  const info = await catalogEntry(deps.models, model, record.name);
  const target = info ? undefined : await deps.models.alias(model);
  if (target === undefined || isDefault(target)) return { model, info };
  const meant = withoutPrefix(target, record.name);
  return { model: meant, info: await catalogEntry(deps.models, meant, record.name) };
};

const usualModel = async ({ models, providers }: ResolutionDeps, record: ProviderRecord): Promise<string> => {
  const chosen = await providers.defaultModel();
  if (chosen.provider === record.name && chosen.model !== '') return chosen.model;
  const model = record.default_model ?? (await models.list({ provider: record.name })).find((entry) => entry.supports_tools)?.id;
  if (model === undefined) throw llmErrors.model_not_found(`${record.name}/default`);
  return model;
};

const catalogEntry = async (models: ModelsService, model: string, provider: string): Promise<CatalogModel | undefined> => {
  const found = (await models.find(model, provider)) ?? (await models.find(`${provider}/${model}`, provider));
  return found ?? (model.includes(':') ? models.find(model.replace(/:.*$/, ''), provider) : undefined);
};

const withoutPrefix = (model: string, provider: string): string => (model.startsWith(`${provider}/`) ? model.slice(provider.length + 1) : model);
