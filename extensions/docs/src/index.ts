/** The page at `/docs`: this daemon's own document, to read and to try, from this daemon alone. */
import { defineExtension } from '@svc/api';
import { docsRoutes } from './routes.js';

export default defineExtension({
  activate(ctx) {
    ctx.routes.add(...docsRoutes(ctx.files.assets));
  },
});
