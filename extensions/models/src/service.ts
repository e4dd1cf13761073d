/**
 * The rules of the catalog.
 *
 * C1  A name finds a model by id, then by alias, then by display name; case does not matter.
 * C2  With a provider named, only that provider's models are found.
 * C3  The catalog is read on first use; starting the daemon does not wait for it.
 */
import type { Catalog } from './catalog.js';
import type { CatalogModel, ModelsService } from './contract.js';

export interface ModelsDeps {
  load: () => Promise<Catalog>;
}

export const createModelsService = (deps: ModelsDeps): ModelsService => {
  let loading: Promise<Catalog> | undefined;
  const catalog = (): Promise<Catalog> => {
    loading ??= deps.load();
    return loading;
  };
  return {
    list: async (filter = {}) => select((await catalog()).models, filter),
    find: async (model, provider) => findIn(await catalog(), model.toLowerCase(), provider),
    alias: async (name) => (await catalog()).aliases.get(name.toLowerCase()),
    aliases: async () => Object.fromEntries((await catalog()).aliases),
  };
};

const select = (models: readonly CatalogModel[], filter: { provider?: string; tier?: string }): CatalogModel[] =>
  models.filter((model) => (filter.provider === undefined || model.provider === filter.provider) && (filter.tier === undefined || model.tier === filter.tier));

const findIn = (catalog: Catalog, name: string, provider: string | undefined): CatalogModel | undefined => {
  const alias = catalog.aliases.get(name);
  return pick(catalog.byId.get(name), provider) ?? (alias === undefined ? undefined : pick(catalog.byId.get(alias.toLowerCase()), provider)) ?? pick(catalog.byDisplayName.get(name), provider);
};

/** Where several providers serve a model and none is named, the catalog's first stands. */
const pick = (found: readonly CatalogModel[] | undefined, provider: string | undefined): CatalogModel | undefined =>
  provider === undefined ? found?.[0] : found?.find((model) => model.provider === provider);
