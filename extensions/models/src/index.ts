import { defineExtension } from '@svc/api';
import { loadCatalog } from './catalog.js';
import { modelRoutes } from './routes.js';
import { createModelsService } from './service.js';

export default defineExtension({
  activate(ctx) {
    const models = createModelsService({ load: loadCatalog });
    ctx.services.provide('models', models);
    ctx.routes.add(...modelRoutes({ models, providers: ctx.services.optional('providers'), llm: ctx.services.optional('llm') }));
  },
});
