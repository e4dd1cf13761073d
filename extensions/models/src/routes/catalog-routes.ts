/** The catalog as a whole. */
import { Nullable, OneOf, reply, type RouteDecl, routeGroup, Type } from '@svc/api';
import { compareVersions } from '../catalog.js';
import type { ModelsControl } from '../service.js';
import type { StoredCatalog } from '../update/stored-catalog.js';
import type { CatalogUpdates } from '../update/update.js';

export interface CatalogRouteDeps {
  readonly models: ModelsControl;
  readonly kept: StoredCatalog;
  readonly updates: CatalogUpdates;
  /** Whether there is an address to ask. */
  readonly hasHost: () => boolean;
}

const route = routeGroup({ area: 'models' });

const Status = Type.Object(
  {
    version: Type.String({ description: "The current catalog's creation date" }),
    last_updated: Type.String({ description: 'When it was installed here; for the built-in one, when it was created' }),
    available_updates: Nullable(Type.Integer(), { description: '1 if the host has a newer catalog, 0 if not; null if svc has not asked yet' }),
    available_version: Nullable(Type.String(), { description: "The host's version at the last check" }),
    models_count: Type.Integer({ description: 'Models in the catalog, without custom and local ones' }),
    last_sync: Nullable(Type.String(), { description: 'When the host was last asked and answered' }),
    source: OneOf(['shipped', 'fetched', 'previous'], { description: '`previous`: the fetched one is unreadable, so the one before is used' }),
    update_configured: Type.Boolean({ description: 'Whether [models] catalog_url is set' }),
    problem: Nullable(Type.String(), { description: 'Problem with the stored file' }),
  },
  { 'x-name': 'CatalogStatus' },
);

const UpdateResult = Type.Object(
  {
    status: OneOf(['ok']),
    version: Type.String({ description: 'Of the current catalog' }),
    previous_version: Type.String(),
    changed: Type.Boolean({ description: 'False if the catalog was already current' }),
    files_downloaded: Type.Integer({ description: 'The catalog, and the files that prove its origin' }),
    models_count: Type.Integer(),
    timestamp: Type.String(),
    dropped: Type.Array(Type.Object({ entry: Type.String(), why: Type.String() }), { description: 'Invalid entries that are ignored, at most fifty, and aliases that form a cycle' }),
    dropped_count: Type.Integer(),
  },
  { 'x-name': 'CatalogUpdate' },
);

export const catalogRoutes = (deps: CatalogRouteDeps): RouteDecl[] => [getCatalogStatus(deps), updateCatalog(deps)];

const getCatalogStatus = ({ kept, updates, hasHost }: CatalogRouteDeps): RouteDecl =>
  route({
    id: 'getCatalogStatus',
    method: 'GET',
    path: '/api/catalog/status',
    summary: "Get the model catalog's version",
    description: 'Makes no network request: `available_updates` is the result of the last check. With `check=true` it checks the host now; if the host is unreachable, the status is 502.',
    cost: 2,
    query: Type.Object({ check: Type.Optional(Type.Boolean({ description: 'Ask the host first' })) }),
    errors: [409, 502],
    responses: { 200: Status },
    handler: async ({ query }) => {
      if (query.check) await updates.check();
      const [{ catalog, since, from, trouble }, sync] = await Promise.all([kept.standing(), kept.lastSync()]);
      return reply(200, {
        version: catalog.version,
        last_updated: since,
        available_updates: sync ? Number(compareVersions(sync.offered, catalog.version) > 0) : null,
        available_version: sync?.offered ?? null,
        models_count: catalog.models.length,
        last_sync: sync?.at ?? null,
        source: from,
        update_configured: hasHost(),
        problem: trouble,
      });
    },
  });

const updateCatalog = ({ updates }: CatalogRouteDeps): RouteDecl =>
  route({
    id: 'updateCatalog',
    method: 'POST',
    path: '/api/catalog/update',
    summary: 'Update the model catalog',
    description:
      'Fetches `[models] catalog_url`; 409 if it is not set. The file is accepted only if its signature and SHA-256 match config.toml, and if it is newer or has the same version with other content. Invalid entries are skipped and listed under `dropped`; the rest applies from the next call. Aliases and custom models stay.\n\nIf the download fails, the status is 502 and the current catalog stays.',
    permission: 'models.admin',
    cost: 50,
    audit: 'catalog_updated',
    errors: [409, 502],
    responses: { 200: UpdateResult },
    handler: async () => {
      const done = await updates.update();
      return reply(200, {
        status: 'ok',
        version: done.version,
        previous_version: done.previousVersion,
        changed: done.changed,
        files_downloaded: done.files,
        models_count: done.models,
        timestamp: done.at,
        dropped: [...done.dropped],
        dropped_count: done.droppedCount,
      });
    },
  });
