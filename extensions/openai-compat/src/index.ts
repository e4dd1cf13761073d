import { defineExtension } from '@svc/api';
import { Agents } from '@svc/ext-agents/contract';
import { Llm } from '@svc/ext-llm/contract';
import { Runs } from '@svc/ext-runs/contract';
import { Sessions } from '@svc/ext-sessions/contract';
import { completionRoute, showCompletions } from './completions/completion-routes.js';
import { embeddingRoute } from './embeddings/embedding-routes.js';
import { showChat } from './answer/projections.js';
import { showResponses } from './responses/response-events.js';
import { responseRoutes } from './responses/response-routes.js';
import { compatRoutes } from './routes.js';
import { createPeople } from './conversation/people.js';

export default defineExtension({
  activate(ctx) {
    const agents = ctx.services.require(Agents);
    const llm = ctx.services.require(Llm);
    const runs = ctx.services.require(Runs);
    const sessions = ctx.services.require(Sessions);
    const people = createPeople({ sessions, commit: (writes) => ctx.db.commit(writes), clock: ctx.clock, ids: ctx.ids });
    showChat(ctx.streams);
    showResponses(ctx.streams);
    showCompletions(ctx.streams);
    const deps = { agents, runs, sessions, people, clock: ctx.clock };
    ctx.routes.add(...compatRoutes(deps), ...responseRoutes(deps), completionRoute({ ...deps, streams: ctx.streams }), embeddingRoute({ agents, llm, commit: (writes) => ctx.db.commit(writes) }));
  },
});
