import { defineExtension } from '@svc/api';
import { Providers } from '@svc/ext-providers/contract';
import { Tools } from '@svc/ext-tools/contract';
import { configRoutes } from './routes.js';

export default defineExtension({
  commandWords: [{ word: 'init', hub: 'daemon', summary: 'set up svc: provider, default model, first agent', usage: 'init [--provider NAME] [--model MODEL]', order: 10, module: 'init' }],
  activate(ctx) {
    ctx.routes.add(...configRoutes({ settings: ctx.kernel.settings, providers: ctx.services.optional(Providers), tools: ctx.services.optional(Tools) }));
  },
});
