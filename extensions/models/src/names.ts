/**
 * What each name stands for, from the catalog, people's rows and local servers' lists. Pure.
 *
 * C1  A name finds a model by id, then by alias, then by display name; case does not matter.
 * C2  With a provider named, only that provider's models are found.
 * C4  A custom model stands before a catalog's of the same name, and an alias that a person made before a name that came
 *     with a catalog or a list: no update takes either away.
 * C5  An alias may lead to another. Aliases that lead in a cycle lead nowhere.
 */
import type { Catalog } from './catalog.js';
import type { CatalogModel, ListedModel } from './contract.js';
import type { ModelRows } from './store.js';

/** For a model of a local server that neither the server nor the catalog tells more about. */
const UNKNOWN_WINDOW = 128_000;
const UNKNOWN_OUTPUT = 8_192;

export interface Names {
  /** In order: custom ones, the catalog's, those that local servers list. */
  readonly models: readonly CatalogModel[];
  /** Lower-case alias to what it stands for. */
  readonly aliases: ReadonlyMap<string, string>;
  readonly rows: ModelRows;
  readonly catalog: Catalog;
  find(name: string, provider?: string): CatalogModel | undefined;
  /** Where an alias leads in the end; undefined for what is no alias, or leads in a cycle. */
  end(name: string): string | undefined;
  /** Whether this is the id of a model, by which it is called. */
  isModel(name: string): boolean;
  /** Whether the provider's server lists this model; undefined where no server of that name was ever heard. */
  isListed(model: CatalogModel): boolean | undefined;
}

type Index = ReadonlyMap<string, readonly CatalogModel[]>;

export const buildNames = (catalog: Catalog, rows: ModelRows): Names => {
  const custom = indexOf(rows.custom, idsOf);
  const ofCatalog = withoutReplaced(catalog.models, rows.custom);
  const local = rows.lists.flatMap(({ provider, models }) => models.map((listed) => localModel(catalog, provider, listed)));
  const known = withoutReplaced(ofCatalog, local);
  const models = [...rows.custom, ...known, ...withoutReplaced(local, rows.custom)];
  const others = indexOf(models.slice(rows.custom.length), idsOf);
  const byDisplayName = indexOf(models, ({ display_name }) => [display_name]);
  const aliases = new Map([...[...catalog.aliases].filter(([alias]) => !custom.has(alias)), ...rows.aliases]);
  const step = (name: string): string | undefined => {
    if (custom.has(name)) return undefined;
    return rows.aliases.get(name) ?? (others.has(name) ? undefined : aliases.get(name));
  };
  const end = (name: string): string | undefined => followed(step, name.toLowerCase());
  const plain = (name: string, provider?: string) => pick(custom.get(name), provider) ?? pick(others.get(name), provider) ?? pick(byDisplayName.get(name), provider);
  const listed = new Map(rows.lists.map((list) => [list.provider, new Set(list.models.map(({ id }) => id.toLowerCase()))]));
  return {
    models,
    aliases,
    rows,
    catalog,
    end,
    find: (name, provider) => {
      const target = end(name);
      return (target === undefined ? undefined : plain(target.toLowerCase(), provider)) ?? plain(name.toLowerCase(), provider);
    },
    isModel: (name) => custom.has(name.toLowerCase()) || others.has(name.toLowerCase()),
    isListed: ({ id, wire_id, provider }) => {
      const names = listed.get(provider);
      return names && [id, wire_id ?? id].some((name) => names.has(name.toLowerCase()) || names.has(`${name.toLowerCase()}:latest`));
    },
  };
};

/** Undefined where `name` is no alias, and where the way comes back to where it was. */
const followed = (step: (name: string) => string | undefined, name: string): string | undefined => {
  const seen = new Set([name]);
  let last: string | undefined;
  for (let next = step(name); next !== undefined; next = step(next.toLowerCase())) {
    if (seen.has(next.toLowerCase())) return undefined;
    seen.add(next.toLowerCase());
    last = next;
  }
  return last;
};

const idsOf = ({ id, wire_id }: CatalogModel): string[] => (wire_id === undefined ? [id] : [id, wire_id]);

const indexOf = (models: readonly CatalogModel[], namesOf: (model: CatalogModel) => readonly string[]): Index => {
  const index = new Map<string, CatalogModel[]>();
  for (const model of models)
    for (const name of namesOf(model)) {
      const held = index.get(name.toLowerCase());
      if (held) held.push(model);
      else index.set(name.toLowerCase(), [model]);
    }
  return index;
};

/** Where several providers serve a model and none is named, the first stands. */
const pick = (found: readonly CatalogModel[] | undefined, provider: string | undefined): CatalogModel | undefined =>
  provider === undefined ? found?.[0] : found?.find((model) => model.provider === provider);

const keyOf = ({ provider, id }: Pick<CatalogModel, 'provider' | 'id'>): string => `${provider}\n${id.toLowerCase()}`;

const withoutReplaced = (models: readonly CatalogModel[], by: readonly CatalogModel[]): CatalogModel[] => {
  const keys = new Set(by.map(keyOf));
  return models.filter((model) => !keys.has(keyOf(model)));
};

/** What the catalog says of it, under the server's own name: Ollama lists `qwen3:latest` for the catalog's `qwen3`. */
const localModel = (catalog: Catalog, provider: string, { id, context_window, is_paid = false }: ListedModel): CatalogModel => {
  const known = catalog.models.find((model) => keyOf(model) === keyOf({ provider, id })) ?? catalog.models.find((model) => keyOf(model) === keyOf({ provider, id: id.replace(/:.*$/, '') }));
  const window = context_window ?? known?.context_window ?? UNKNOWN_WINDOW;
  return {
    id,
    provider,
    display_name: known && known.id === id ? known.display_name : id,
    tier: is_paid ? 'custom' : 'local',
    context_window: window,
    max_output_tokens: Math.min(known?.max_output_tokens ?? UNKNOWN_OUTPUT, window),
    input_cost_per_1m: 0,
    output_cost_per_1m: 0,
    ...(is_paid ? { pricing_known: false } : {}),
    // Of a model that nobody described: one that has no tools says so when it is asked.
    supports_tools: known?.supports_tools ?? true,
    supports_vision: known?.supports_vision ?? false,
    supports_streaming: known?.supports_streaming ?? true,
    source: 'local',
  };
};
