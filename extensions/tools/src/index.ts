import { Tools } from './contract.js';
import * as contract from './contract.js';
import { Agents } from '@svc/ext-agents/contract';
import { ToolAfter, ToolBefore, ToolGrants, ToolList, defineExtension } from '@svc/api';
import { processTables } from '../migrations/0001_processes.js';
import { builtinTools } from './builtin/builtin-tools.js';
import { openProcesses } from './processes/area-processes.js';
import { ProcessRows } from './processes/process-rows.js';
import { PROCESS_COMPANIONS, processTools } from './processes/process-tools.js';
import { agentToolRoutes } from './routes/agent-tool-routes.js';
import { toolRoutes } from './routes/tool-routes.js';
import { ToolInvokeSection, ToolTimeoutSecs, ToolTimeouts } from './settings/config.js';
import { PageText } from './workers/page-text-worker.js';
import { SearchLines, SiftEntries } from './workers/search-workers.js';
import { createToolsService } from './service.js';
import { createToolRegistry } from './tool-registry.js';

export default defineExtension({
  contract,
  tables: [ProcessRows],
  migrations: [processTables],
  workers: [PageText, SiftEntries, SearchLines],
  config: [ToolInvokeSection, ToolTimeoutSecs, ToolTimeouts],
  activate(ctx) {
    const registry = createToolRegistry(ctx.kernel, ctx.hooks.use(ToolList), {
      unavailable: () => undefined,
      companionOf: (name) => (PROCESS_COMPANIONS.has(name) ? 'process_start' : undefined),
    });
    const agents = ctx.services.require(Agents);
    const tools = createToolsService({
      registry,
      agents,
      before: ctx.hooks.use(ToolBefore),
      grants: ctx.hooks.use(ToolGrants),
      after: ctx.hooks.use(ToolAfter),
      schemas: ctx.schemas,
      clock: ctx.clock,
      timeSettings: () => ({ defaultSecs: ctx.config.get(ToolTimeoutSecs), byName: ctx.config.get(ToolTimeouts) }),
      log: ctx.log,
    });
    ctx.services.provide(Tools, tools);
    ctx.routes.add(...toolRoutes({ registry, agents, tools, ids: ctx.ids, settings: () => ctx.config.get(ToolInvokeSection) }), ...agentToolRoutes({ agents, registry }));
    ctx.tools.add(...builtinTools(ctx), ...processTools({ processes: openProcesses(ctx, agents), clock: ctx.clock }));
  },
});
