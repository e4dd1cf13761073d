/**
 * The models service: names.ts says what is found, this says how fresh it is.
 *
 * C3  The catalog is read on first use; starting the daemon does not wait for it.
 * C6  What is changed here holds for the next question; what another daemon changed, as soon as it is heard, and after ten seconds at the latest.
 */
import { type AtOnce, type Clock, type ServiceMethods, whenKnown } from '@svc/api';
import type { Catalog } from './catalog.js';
import type { CatalogModel, Models, ModelsService } from './contract.js';
import { buildNames, type Names } from './names.js';
import type { ModelRows, ModelStore } from './store.js';

/** How long what was read holds where nobody said that it changed. */
const FRESH_MS = 10_000;
const NO_ROWS: ModelRows = { revision: 0, aliases: new Map(), custom: [], lists: [] };

export interface ModelsDeps {
  load: () => Promise<Catalog>;
  /** Without rows there is the catalog alone. */
  rows?: Pick<ModelStore, 'read' | 'revision'>;
  clock?: Pick<Clock, 'mono'>;
}

export interface ModelsControl extends ModelsService {
  names(): AtOnce<Names>;
  /** The next question reads the rows anew. */
  refresh(): void;
  /** The next question takes the catalog anew. */
  reload(): void;
}

interface State {
  catalog: Promise<Catalog> | undefined;
  names: AtOnce<Names> | undefined;
  at: number;
  /** What stood before, so that nothing is built anew when nothing changed. */
  last: Names | undefined;
}

export const createModelsService = (deps: ModelsDeps): ModelsControl => {
  const state: State = { catalog: undefined, names: undefined, at: 0, last: undefined };
  const names = (): AtOnce<Names> => current(deps, state);
  return {
    names,
    refresh: () => {
      state.names = undefined;
    },
    reload: () => {
      state.catalog = undefined;
      state.names = undefined;
    },
    list: async (filter = {}) => select((await names()).models, filter),
    find: async (model, provider) => (await names()).find(model, provider),
    alias: async (name) => (await names()).end(name),
    aliases: async () => Object.fromEntries((await names()).aliases),
  };
};

/** The same for other areas: what was read is answered at once, as every agent that is shown asks for its model. */
export const servedModels = (models: ModelsControl): ServiceMethods<typeof Models> => ({ ...models, find: (model, provider) => whenKnown(models.names(), (names) => names.find(model, provider)) });

const current = (deps: ModelsDeps, state: State): AtOnce<Names> => {
  // Validated without waiting, so that of many callers who find it old only the first looks again.
  if (state.names && (!deps.clock || deps.clock.mono() - state.at < FRESH_MS)) return state.names;
  const next = look(deps, state);
  state.names = next;
  state.at = deps.clock?.mono() ?? 0;
  next.then(
    (names) => {
      if (state.names !== next) return;
      state.names = names;
      state.last = names;
    },
    () => {
      // The error reaches whoever waits for it; a failed look is not kept.
      if (state.names === next) state.names = undefined;
    },
  );
  return next;
};

const look = async (deps: ModelsDeps, state: State): Promise<Names> => {
  state.catalog ??= deps.load();
  const loading = state.catalog;
  loading.catch(() => {
    if (state.catalog === loading) state.catalog = undefined;
  });
  const [catalog, revision] = await Promise.all([loading, deps.rows?.revision() ?? 0]);
  const { last } = state;
  if (last && last.catalog === catalog && last.rows.revision === revision) return last;
  return buildNames(catalog, (await deps.rows?.read()) ?? NO_ROWS);
};

const select = (models: readonly CatalogModel[], filter: { provider?: string; tier?: string }): CatalogModel[] =>
  models.filter((model) => (filter.provider === undefined || model.provider === filter.provider) && (filter.tier === undefined || model.tier === filter.tier));
