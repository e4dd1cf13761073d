import { Agents } from '@svc/ext-agents/contract';
import { defineExtension } from '@svc/api';
import { fileRoutes } from './routes.js';
import { createFilesService } from './service.js';

export default defineExtension({
  activate(ctx) {
    const files = createFilesService(ctx.files.root('workspaces'));
    ctx.routes.add(...fileRoutes(ctx.services.require(Agents), files));
  },
});
