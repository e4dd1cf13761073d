import { Tools } from './contract.js';
import * as contract from './contract.js';
import { Agents } from '@svc/ext-agents/contract';
import { ToolAfter, ToolBefore, ToolGrants, ToolList, defineExtension } from '@svc/api';
import { builtinTools } from './builtin/builtin-tools.js';
import { toolRoutes } from './routes.js';
import { PageText } from './workers/page-text-worker.js';
import { createToolsService } from './service.js';
import { createToolRegistry } from './tool-registry.js';

export default defineExtension({
  contract,
  workers: [PageText],
  activate(ctx) {
    const tools = createToolsService({
      registry: createToolRegistry(ctx.kernel, ctx.hooks.use(ToolList)),
      agents: ctx.services.require(Agents),
      before: ctx.hooks.use(ToolBefore),
      grants: ctx.hooks.use(ToolGrants),
      after: ctx.hooks.use(ToolAfter),
      schemas: ctx.schemas,
      clock: ctx.clock,
      log: ctx.log,
    });
    ctx.services.provide(Tools, tools);
    ctx.routes.add(...toolRoutes(tools));
    ctx.tools.add(...builtinTools(ctx));
  },
});
