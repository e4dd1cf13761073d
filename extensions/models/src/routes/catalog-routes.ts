/** The catalog as a whole. */
import { Nullable, OneOf, reply, type RouteDecl, routeGroup, Type } from '@svc/api';
import { compareVersions } from '../catalog.js';
import type { ModelsControl } from '../service.js';
import type { KeptCatalog } from '../update/kept-catalog.js';
import type { CatalogUpdates } from '../update/update.js';

export interface CatalogRouteDeps {
  readonly models: ModelsControl;
  readonly kept: KeptCatalog;
  readonly updates: CatalogUpdates;
  /** Whether there is an address to ask. */
  readonly hasHost: () => boolean;
}

const route = routeGroup({ area: 'models' });

const Status = Type.Object(
  {
    version: Type.String({ description: 'Of the catalog that stands: the day it was made' }),
    last_updated: Type.String({ description: 'When it was put in place here; the shipped one: when it was made' }),
    available_updates: Nullable(Type.Integer(), { description: '1 where the host was seen to have a newer one, 0 where it had none; null where nobody has asked it' }),
    available_version: Nullable(Type.String(), { description: 'What the host had when it was last asked' }),
    models_count: Type.Integer({ description: 'Models in the catalog, without custom and local ones' }),
    last_sync: Nullable(Type.String(), { description: 'When the host was last asked and answered' }),
    source: OneOf(['shipped', 'fetched', 'previous'], { description: '`previous`: the fetched one cannot be read, and the one before it stands' }),
    update_configured: Type.Boolean({ description: 'Whether [models] catalog_url says whom to ask' }),
    problem: Nullable(Type.String(), { description: 'What is wrong with a kept file' }),
  },
  { 'x-name': 'CatalogStatus' },
);

const UpdateResult = Type.Object(
  {
    status: OneOf(['ok']),
    version: Type.String({ description: 'Of the catalog that stands now' }),
    previous_version: Type.String(),
    changed: Type.Boolean({ description: 'False where the host has what stands already' }),
    files_downloaded: Type.Integer({ description: 'The catalog, and the files that prove whose it is' }),
    models_count: Type.Integer(),
    timestamp: Type.String(),
    dropped: Type.Array(Type.Object({ entry: Type.String(), why: Type.String() }), { description: 'What was not right in it and is left out, at most fifty of them, and aliases that lead in a ring' }),
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
    description:
      'Without a query nobody is asked over the network: `available_updates` is what the host had when it was last asked. With `check=true` it is asked now, which changes nothing but that; where it cannot be reached the answer is 502.',
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
      'From `[models] catalog_url`; with no address set the answer is 409. The file is taken only where its signature and its SHA-256 are what config.toml asks for, and only a newer one, or the same with other content. What is not right in it is left out and named under `dropped`; the rest holds for the next call. Aliases and custom models stay as they are.\n\nWhere nothing can be fetched the answer is 502, and the catalog that stands goes on.',
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
