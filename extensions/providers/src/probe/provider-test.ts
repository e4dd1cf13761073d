/** Does a provider answer, take its key, and serve a model? Asked by its list of models, which costs nothing. */
import type { CatalogModel, ListedModel, ModelsService } from '@svc/ext-models/contract';
import type { ProviderRecord } from '../contract.js';
import { providerErrors } from '../errors.js';
import { canList, type ListDeps, type Listing, listModels } from './model-list.js';

const TEST_DEADLINE_MS = 10_000;

export interface TestDeps extends ListDeps {
  readonly models: ModelsService;
}

export interface TestOutcome {
  /** Null where the provider answers and serves. */
  readonly error: string | null;
  readonly latencyMs: number;
  /** By the catalog's id where it has one. */
  readonly model: string | null;
  /** Undefined for the daemon's own. */
  readonly listing: Listing | undefined;
}

/** Throws `providers_keys_unreadable`, `providers_no_key`, `providers_no_url`, `providers_not_testable`: what no call need be made for. */
export const testProvider = async (deps: TestDeps, record: ProviderRecord, model: string | undefined, signal: AbortSignal): Promise<TestOutcome> => {
  if (record.wire === 'builtin') return { error: null, latencyMs: 0, model: 'rehearsal', listing: undefined };
  if (!canList(record.wire)) throw providerErrors.not_testable(record.name);
  if (record.base_url === '') throw providerErrors.no_url(record.name);
  if (record.key_required && record.problem !== null) throw providerErrors.keys_unreadable(record.problem);
  if (record.auth_status === 'missing') throw providerErrors.no_key(record.name, record.env_var ?? 'its environment variable', record.suppressed === true);
  const listing = await listModels(deps, record, { timeoutMs: TEST_DEADLINE_MS, signal });
  const { latencyMs } = listing;
  if (listing.kind !== 'listed') return { error: listing.error, latencyMs, model: null, listing };
  const chosen = await modelToTest(deps.models, record.name, listing.models, model);
  return { ...chosen, latencyMs, listing };
};

const modelToTest = async (models: ModelsService, provider: string, listed: readonly ListedModel[], wanted: string | undefined): Promise<Pick<TestOutcome, 'error' | 'model'>> => {
  if (listed.length === 0) return { error: `${provider} answers, and lists no models.`, model: null };
  const names = new Set(listed.map(({ id }) => id.toLowerCase()));
  const isListed = (name: string): boolean => names.has(name.toLowerCase()) || names.has(`${name.toLowerCase()}:latest`);
  if (wanted !== undefined) {
    const known = await models.find(wanted, provider);
    const name = known ? (known.wire_id ?? known.id) : wanted;
    return isListed(name) || isListed(wanted)
      ? { error: null, model: known?.id ?? wanted }
      : { error: `${provider} answers, and does not list the model "${wanted}" among its ${listed.length}.`, model: wanted };
  }
  const [cheapest] = (await models.list({ provider })).filter(({ id, wire_id }) => isListed(wire_id ?? id)).sort((a, b) => costOf(a) - costOf(b));
  return { error: null, model: cheapest?.id ?? listed[0]?.id ?? null };
};

/** Models whose price nobody knows come last. */
const costOf = (model: CatalogModel): number => (model.pricing_known === false ? Number.MAX_VALUE : model.input_cost_per_1m + model.output_cost_per_1m);
