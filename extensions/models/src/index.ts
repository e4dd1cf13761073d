import { LocalModels, ModelColumns, Models, ModelsChanged } from './contract.js';
import * as contract from './contract.js';
import { DoctorCheck, defineExtension } from '@svc/api';
import { init } from '../migrations/0001_init.js';
import { loadCatalog } from './catalog.js';
import { createChanges } from './changes.js';
import { ModelsSection } from './config.js';
import { aliasRoutes } from './routes/alias-routes.js';
import { catalogRoutes } from './routes/catalog-routes.js';
import { customRoutes } from './routes/custom-routes.js';
import { modelRoutes } from './routes/model-routes.js';
import { createModelsService, servedModels } from './service.js';
import { modelsCommand } from './slash-commands.js';
import { createModelStore } from './store.js';
import { Aliases, CustomModels, LocalLists, Revisions } from './tables.js';
import { createStoredCatalog } from './update/stored-catalog.js';
import { createCatalogUpdates } from './update/update.js';

export default defineExtension({
  contract,
  tables: [Aliases, CustomModels, LocalLists, Revisions],
  migrations: [init],
  config: [ModelsSection],
  commandWords: [
    {
      word: 'models',
      hub: 'connect',
      summary: 'the model catalog',
      usage: 'models list|show|use|alias|update',
      order: 34,
      module: 'models',
      synonyms: [
        { word: 'model', means: 'models list', runs: true },
        { word: 'models set', means: 'models use', runs: true, takesArguments: true },
        { word: 'models aliases', means: 'models alias', runs: true, takesArguments: true },
        { word: 'catalog update', means: 'models update', runs: true, takesArguments: true },
      ],
    },
  ],
  activate(ctx) {
    const store = createModelStore(ctx.db);
    const kept = createStoredCatalog({ data: ctx.files.data, shipped: loadCatalog, schemas: ctx.schemas, log: ctx.log });
    const models = createModelsService({ load: async () => (await kept.standing()).catalog, rows: store, clock: ctx.clock });
    const changes = createChanges({ models, store, events: ctx.events, clock: ctx.clock });
    const fetch: typeof ctx.fetch = (url, init) => ctx.fetch(url, init);
    const updates = createCatalogUpdates({ fetch, config: ctx.config, schemas: ctx.schemas, kept, store, models, events: ctx.events, clock: ctx.clock, log: ctx.log, signal: ctx.signal });
    ctx.services.provide(Models, servedModels(models));
    ctx.services.provide(LocalModels, { keep: (provider, listed) => changes.keepList(provider, listed), forget: (provider) => changes.forgetList(provider) });
    const about = { models, columns: ctx.hooks.define(ModelColumns) };
    ctx.routes.add(
      ...modelRoutes(about),
      ...aliasRoutes({ models, changes }),
      ...customRoutes({ ...about, changes }),
      ...catalogRoutes({ models, kept, updates, hasHost: () => ctx.config.get(ModelsSection).catalog_url !== '' }),
    );
    ctx.slashCommands.add(modelsCommand(about));
    ctx.events.on(ModelsChanged, async ({ what, name }) => {
      models.refresh();
      if (what === 'catalog') await updates.applyChange(name);
    });
    ctx.hooks.tap(DoctorCheck, async () => {
      const { catalog, from, trouble } = await kept.standing();
      if (trouble !== null)
        return [{ check: 'models.catalog', result: 'warn', message: `${trouble} The catalog ${catalog.version} is in use.`, fix: 'curl -X POST localhost:4545/api/catalog/update' }];
      return [{ check: 'models.catalog', result: 'pass', message: `The ${from} catalog ${catalog.version} is in use, with ${catalog.models.length} models.` }];
    });
  },
});
