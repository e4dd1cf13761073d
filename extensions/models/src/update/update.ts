/**
 * Newer catalogs.
 *
 * U6  Of requests that come while one is being fetched, all get its answer.
 * U7  A catalog that is older than the one that stands is refused: an old list, signed once, brings no old prices back.
 * U8  What people made (aliases, custom models) is in other hands and stays as it is.
 */
import { type Clock, type ConfigHandle, type Events, type ExtensionContext, isSvcError, type Logger, type Schemas } from '@svc/api';
import { type Catalog, compareVersions } from '../catalog.js';
import { ModelsSection } from '../config.js';
import { ModelsChanged } from '../contract.js';
import { modelErrors } from '../errors.js';
import { buildNames } from '../names.js';
import type { ModelsControl } from '../service.js';
import type { ModelStore } from '../store.js';
import { download } from './download.js';
import { type Dropped, validateCatalog, type Validated } from './validate-catalog.js';
import type { StoredCatalog } from './stored-catalog.js';

export interface UpdateDeps {
  readonly fetch: ExtensionContext['fetch'];
  readonly config: Pick<ConfigHandle, 'get'>;
  readonly schemas: Schemas;
  readonly kept: StoredCatalog;
  readonly store: Pick<ModelStore, 'read'>;
  readonly models: ModelsControl;
  readonly events: Pick<Events, 'publish'>;
  readonly clock: Pick<Clock, 'iso'>;
  readonly log: Logger;
  /** Ends what is being fetched when this generation stops. */
  readonly signal: AbortSignal;
}

export interface Updated {
  readonly version: string;
  readonly previousVersion: string;
  /** False if the catalog was already current. */
  readonly changed: boolean;
  readonly files: number;
  readonly models: number;
  readonly at: string;
  readonly dropped: readonly Dropped[];
  readonly droppedCount: number;
}

export interface CatalogUpdates {
  /** Throws what download.ts does, `models_catalog_unusable` and `models_catalog_older`. */
  update(): Promise<Updated>;
  /** Asks the host which version it has, and changes nothing. */
  check(): Promise<void>;
  /** Another daemon over this database has another catalog. */
  applyChange(version: string): Promise<void>;
}

interface Fetched extends Validated {
  readonly files: number;
}

export const createCatalogUpdates = (deps: UpdateDeps): CatalogUpdates => {
  let running: Promise<Updated> | undefined;
  const update = (isReported: boolean): Promise<Updated> => {
    running ??= carryOut(deps, isReported).finally(() => {
      running = undefined;
    });
    return running;
  };
  return {
    update: () => update(true),
    check: async () => {
      const { catalog } = await deps.kept.standing();
      await note(deps, await fetched(deps, catalog));
    },
    applyChange: async (version) => {
      const { catalog } = await deps.kept.standing();
      if (deps.config.get(ModelsSection).catalog_url === '' || compareVersions(version, catalog.version) <= 0) return;
      try {
        await update(false);
      } catch (error) {
        if (!isSvcError(error)) throw error;
        deps.log.warn('another daemon has a newer catalog, and this one cannot fetch it', { version, error: error.message });
      }
    },
  };
};

const carryOut = async (deps: UpdateDeps, isReported: boolean): Promise<Updated> => {
  const { catalog: standing } = await deps.kept.standing();
  const got = await fetched(deps, standing);
  const { catalog } = got;
  if (compareVersions(catalog.version, standing.version) < 0) throw modelErrors.catalog_older(catalog.version, standing.version);
  const cycles = await cyclesOf(deps, catalog);
  const changed = await deps.kept.swap(catalog);
  if (changed) {
    deps.models.reload();
    deps.log.info('the catalog of models is another one', { version: catalog.version, before: standing.version, models: catalog.models.length, dropped: got.droppedCount });
    if (isReported) deps.events.publish(ModelsChanged, { what: 'catalog', name: catalog.version });
  }
  const at = await note(deps, got);
  const { catalog: now } = await deps.kept.standing();
  return {
    version: catalog.version,
    previousVersion: standing.version,
    changed,
    files: got.files,
    models: now.models.length,
    at,
    dropped: [...got.dropped, ...cycles],
    droppedCount: got.droppedCount + cycles.length,
  };
};

const fetched = async ({ fetch, config, schemas, signal }: UpdateDeps, standing: Catalog): Promise<Fetched> => {
  const { value, files } = await download({ fetch, standing: standing.version }, config.get(ModelsSection), signal);
  const validated = await validateCatalog(value, schemas);
  if (typeof validated === 'string') throw modelErrors.catalog_unusable(validated, standing.version);
  return { ...validated, files };
};

const note = async ({ kept, clock }: UpdateDeps, { catalog }: Fetched): Promise<string> => {
  const at = clock.iso();
  await kept.noteSync({ at, offered: catalog.version });
  return at;
};

/** Aliases of the catalog that, together with those of people, lead in a cycle: they lead nowhere while those stand. */
const cyclesOf = async ({ store }: UpdateDeps, catalog: Catalog): Promise<Dropped[]> => {
  const names = buildNames(catalog, await store.read());
  return [...catalog.aliases.keys()]
    .filter((alias) => !names.rows.aliases.has(alias) && !names.isModel(alias) && names.end(alias) === undefined)
    .map((alias) => ({ entry: `alias ${alias}`, why: 'together with a custom alias it forms a cycle, so it is ignored while that one exists' }));
};
