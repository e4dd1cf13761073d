import { defineExtension } from '@svc/api';
import { builtinTools } from './builtin/builtin-tools.js';
import { toolRoutes } from './routes.js';
import { createToolsService } from './service.js';
import { createToolRegistry } from './tool-registry.js';

export default defineExtension({
  activate(ctx) {
    const tools = createToolsService({
      registry: createToolRegistry(ctx.kernel, ctx.hooks.use('tool.list')),
      agents: ctx.services.require('agents'),
      before: ctx.hooks.use('tool.before'),
      grants: ctx.hooks.use('tool.grants'),
      after: ctx.hooks.use('tool.after'),
      elsewhere: ctx.hooks.use('tool.execute'),
      schemas: ctx.schemas,
      clock: ctx.clock,
      log: ctx.log,
    });
    ctx.services.provide('tools', tools);
    ctx.routes.add(...toolRoutes(tools));
    ctx.tools.add(...builtinTools(ctx));
  },
});
