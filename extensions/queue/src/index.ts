import { defineExtension } from '@svc/api';
import { Agents } from '@svc/ext-agents/contract';
import { Runs } from '@svc/ext-runs/contract';
import { commands, commandWords } from './commands.js';
import { Tasks } from './contract.js';
import { queueRoutes } from './routes.js';

export default defineExtension({
  commands,
  commandWords,
  resources: [Tasks],
  activate(ctx) {
    ctx.routes.add(...queueRoutes({ agents: ctx.services.require(Agents), runs: ctx.services.require(Runs) }));
  },
});
