import { defineExtension } from '@svc/api';
import { Agents } from '@svc/ext-agents/contract';
import { Runs } from '@svc/ext-runs/contract';
import { Sessions } from '@svc/ext-sessions/contract';
import { showChat } from './answer/projections.js';
import { compatRoutes } from './routes.js';
import { createPeople } from './conversation/people.js';

export default defineExtension({
  activate(ctx) {
    const agents = ctx.services.require(Agents);
    const runs = ctx.services.require(Runs);
    const sessions = ctx.services.require(Sessions);
    const people = createPeople({ sessions, commit: (writes) => ctx.db.commit(writes), clock: ctx.clock });
    showChat(ctx.streams);
    ctx.routes.add(...compatRoutes({ agents, runs, sessions, people, clock: ctx.clock }));
  },
});
