import { defineExtension } from '@svc/api';
import { Agents } from '@svc/ext-agents/contract';
import { Llm } from '@svc/ext-llm/contract';
import { commands, commandWords } from './commands.js';
import { budgetRoutes, usageRoutes } from './routes.js';

export default defineExtension({
  commands,
  commandWords,
  activate(ctx) {
    const { clock, services, kernel } = ctx;
    const deps = { agents: services.require(Agents), llm: services.require(Llm), settings: kernel.settings, clock };
    ctx.routes.add(...usageRoutes(deps), ...budgetRoutes(deps));
  },
});
