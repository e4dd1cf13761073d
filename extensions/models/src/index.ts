import { Llm } from '@svc/ext-llm/contract';
import { Providers } from '@svc/ext-providers/contract';
import { Models } from './contract.js';
import * as contract from './contract.js';
import { defineExtension } from '@svc/api';
import { loadCatalog } from './catalog.js';
import { modelRoutes } from './routes.js';
import { createModelsService } from './service.js';

export default defineExtension({
  contract,
  activate(ctx) {
    const models = createModelsService({ load: loadCatalog });
    ctx.services.provide(Models, models);
    ctx.routes.add(...modelRoutes({ models, providers: ctx.services.optional(Providers), llm: ctx.services.optional(Llm) }));
  },
});
