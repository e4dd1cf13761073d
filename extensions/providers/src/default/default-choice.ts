/** Who could answer for `default`, and why: one friendly sentence that a person reads in `svc status` and in `svc doctor`. */
import type { CatalogModel, ModelsService } from '@svc/ext-models/contract';
import type { DefaultModelConfig } from '../config.js';
import type { ProviderRecord } from '../contract.js';
import { providerErrors } from '../errors.js';
import type { LocalServers } from '../addresses/local-servers.js';

/** For a provider without a named usual model: able before grand, because grand is dear. */
const TIER_ORDER = ['smart', 'balanced', 'fast', 'frontier', 'local', 'custom'];

export interface ChoiceInput {
  /** In order of preference. */
  readonly records: ReadonlyMap<string, ProviderRecord>;
  readonly configured: DefaultModelConfig;
  readonly models: ModelsService;
  readonly local: LocalServers;
  /** The day of the choice, for its reason. */
  readonly today: string;
}

export interface Candidate {
  readonly provider: string;
  readonly model: string;
  readonly why: string;
}

/** The first provider with a key, else a local server that answers; undefined when only the mock provider is left. */
export const findDefault = async (input: ChoiceInput): Promise<Candidate | undefined> => (await fromKeys(input)) ?? (await fromLocal(input));

/** The model to use at a provider when nobody named one; undefined when the catalog knows none. */
export const usualModel = async (models: ModelsService, provider: string, record: ProviderRecord | undefined): Promise<string | undefined> => {
  if (record?.default_model) return record.default_model;
  const ranked = (await models.list({ provider })).map((model) => ({ model, rank: rankOf(model) }));
  ranked.sort((a, b) => a.rank - b.rank);
  return ranked[0]?.model.id;
};

const rankOf = (model: CatalogModel): number => TIER_ORDER.indexOf(model.tier) + (model.supports_tools ? 0 : TIER_ORDER.length);

/** What a person wrote stands, even where it cannot work: the call then says what is missing. */
export const fromConfig = async ({ configured, models, records }: Pick<ChoiceInput, 'configured' | 'models' | 'records'>): Promise<Candidate | undefined> => {
  const { provider, model } = configured;
  if (provider === '' || provider === 'auto') return model === '' ? undefined : fromModelName(model, models);
  const chosen = model || (await usualModel(models, provider, records.get(provider))) || '';
  return { provider, model: chosen, why: `config.toml names ${provider} under [default_model].` };
};

const fromModelName = async (model: string, models: ModelsService): Promise<Candidate | undefined> => {
  const found = await models.find(model);
  return found && { provider: found.provider, model: found.id, why: `config.toml names ${model} under [default_model], which ${found.provider} serves.` };
};

const fromKeys = async ({ records, models, today }: ChoiceInput): Promise<Candidate | undefined> => {
  const usable = [...records.values()].filter((record) => record.key_required && record.wire !== 'unsupported');
  for (const record of usable) {
    // Whether a key was refused does not count: the order is the same at every start.
    if (record.auth_status === 'missing') continue;
    const model = await usualModel(models, record.name, record);
    if (model !== undefined) return { provider: record.name, model, why: `${record.display_name} was the first provider with a key on ${today}, so ${model} answers.` };
  }
  // A key may be there and out of reach: the mock provider must not answer as if there were none.
  const problem = usable.find((record) => record.problem !== null)?.problem;
  if (problem) throw providerErrors.keys_unreadable(problem);
  return undefined;
};

const fromLocal = async ({ local, records, models, today }: ChoiceInput): Promise<Candidate | undefined> => {
  for (const server of await local.answering()) {
    const model = await ableModel(server.models, server.name, models);
    if (model === undefined) continue;
    const display = records.get(server.name)?.display_name ?? server.name;
    return { provider: server.name, model, why: `No provider key was set on ${today}, and ${display} answered on this machine, so its model ${model} is used.` };
  }
  return undefined;
};

/** The first model that the catalog knows to use tools, else the first. Ollama lists `qwen3:latest` for the catalog's `qwen3`. */
export const ableModel = async (names: readonly string[], provider: string, models: ModelsService): Promise<string | undefined> => {
  for (const name of names) {
    const found = (await models.find(name, provider)) ?? (await models.find(name.replace(/:.*$/, ''), provider));
    if (found?.supports_tools) return name;
  }
  return names[0];
};

export const MOCK_PROVIDER: Candidate = {
  provider: 'builtin',
  model: 'rehearsal',
  why: 'No provider key is set and no local model server responds, so the built-in mock provider answers. `svc providers set-key <provider>` changes that.',
};
