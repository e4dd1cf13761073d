// For the event run.started.
import type {} from '@svc/ext-runs/contract';
import { type Actor, defineExtension, type ExtensionContext } from '@svc/api';
import { init } from '../migrations/0001_init.js';
import { createAgentCache } from './agent-cache.js';
import type { SpawnRequest } from './contract.js';
import { ensureFirstAgent } from './first-agent.js';
import { createLastActive, FLUSH_EVERY_MS, type LastActive } from './last-active.js';
import { shownModels } from './model-shown.js';
import { agentRoutes } from './routes.js';
import { type AgentsDeps, createAgentsService, finishKills, purgeOwner } from './service.js';
import { spawnAgent } from './spawning.js';
import { type AgentStore, createStore } from './store.js';
import { agentTools } from './tools.js';

const KEY_KEPT_MS = 24 * 60 * 60 * 1000;
const FORGET_KEYS_EVERY_MS = 60 * 60 * 1000;

export default defineExtension({
  migrations: [init],
  activate(ctx) {
    const store = createStore(ctx.db);
    const cache = createAgentCache(ctx.clock);
    const spawning = ctx.hooks.define('agent.spawning', { kind: 'veto', policy: 'closed', budgetMs: 2_000 });
    const review = ctx.hooks.define('agent.review', { kind: 'gather', policy: 'observe', budgetMs: 500 });
    const about = { providers: ctx.services.optional('providers'), models: ctx.services.optional('models'), llm: ctx.services.optional('llm') };
    const modelsOf: AgentsDeps['modelsOf'] = (listed) =>
      shownModels(
        about,
        listed.map(({ manifest }) => manifest.model),
      );
    const deps: AgentsDeps = {
      store,
      cache,
      spawning,
      review,
      providers: about.providers,
      modelsOf,
      purge: ctx.hooks.use('storage.purge'),
      schemas: ctx.schemas,
      ids: ctx.ids,
      clock: ctx.clock,
      events: ctx.events,
      log: ctx.log,
    };
    const agents = createAgentsService(deps);
    const lastActive = rememberActivity(ctx, store);
    const surface = {
      ...about,
      agents,
      store,
      lastActive,
      clock: ctx.clock,
      sessions: ctx.services.optional('sessions'),
      spawn: (actor: Actor, request: SpawnRequest) => spawnAgent(deps, actor, request),
    };

    ctx.services.provide('agents', agents);
    ctx.routes.add(...agentRoutes(surface));
    ctx.tools.add(...agentTools(surface));
    ctx.hooks.tap('kernel.ready', () => finishKills(deps));
    ctx.hooks.tap('storage.purge', ({ ownerId, agentId }) => (ownerId !== undefined && agentId === undefined ? purgeOwner(deps, ownerId) : undefined));
    ctx.events.on('agent.changed', ({ agentId }) => cache.changed(agentId));
    ctx.events.on('agent.killed', ({ agentId }) => cache.changed(agentId));
    ctx.timers.every('forget-spawn-keys', FORGET_KEYS_EVERY_MS, () => store.commit([store.forgetKeysBefore(new Date(ctx.clock.now() - KEY_KEPT_MS).toISOString())]));
  },
  start: (ctx) => ensureFirstAgent({ store: createStore(ctx.db), ids: ctx.ids, clock: ctx.clock, events: ctx.events }),
});

const rememberActivity = (ctx: ExtensionContext, store: AgentStore): LastActive => {
  const active = createLastActive(store, ctx.clock);
  ctx.events.on('run.started', ({ agentId }) => active.touch(agentId));
  ctx.timers.every('write-last-active', FLUSH_EVERY_MS, () => active.flush());
  ctx.onDispose('write when agents were last active', () => active.flush());
  return active;
};
