import { defineExtension } from '@svc/api';
import { extensionRoutes } from './routes.js';

export default defineExtension({
  activate(ctx) {
    ctx.routes.add(...extensionRoutes(ctx.kernel));
  },
});
