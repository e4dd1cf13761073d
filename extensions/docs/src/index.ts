/** The page at `/docs`: Swagger UI over this daemon's own document, from this daemon alone. */
import { defineExtension } from '@svc/api';
import { docsRoutes } from './routes.js';

export default defineExtension({
  activate(ctx) {
    ctx.routes.add(...docsRoutes(ctx.files.assets));
  },
});
