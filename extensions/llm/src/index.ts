import { defineExtension } from '@svc/api';
import { init } from '../migrations/0001_init.js';
import { LlmConfig } from './config.js';
import { createAnthropicDriver } from './drivers/anthropic.js';
import { createBuiltinDriver } from './drivers/builtin.js';
import { createOpenAiDriver } from './drivers/openai.js';
import { createResolutionCache } from './resolution-cache.js';
import { createQuota } from './quota.js';
import { createLlmService } from './service.js';
import { createUsageStore } from './store.js';

export default defineExtension({
  migrations: [init],
  config: { llm: LlmConfig },
  activate(ctx) {
    const exchange = { fetch: ((url, options) => ctx.fetch(url, options)) satisfies typeof ctx.fetch, now: () => ctx.clock.now() };
    const counters = { calls: 0, failures: 0, retries: 0 };
    const store = createUsageStore(ctx.db);
    const providers = ctx.services.require('providers');
    const resolution = createResolutionCache({ models: ctx.services.require('models'), providers, clock: ctx.clock });
    ctx.events.on('provider.changed', () => resolution.clear());
    ctx.events.on('config.changed', () => resolution.clear());
    const quota = createQuota({ agents: ctx.services.require('agents'), store, clock: ctx.clock });
    const self = ctx.ids.uuid();
    // What this generation used it has counted already.
    ctx.events.on('llm.used', ({ agentId, by }) => (by === self ? undefined : quota.hearUsed(agentId)));
    const llm = createLlmService({
      resolution,
      providers,
      drivers: { openai: createOpenAiDriver(exchange), anthropic: createAnthropicDriver(exchange), builtin: createBuiltinDriver() },
      store,
      quota,
      streams: ctx.streams,
      events: ctx.events,
      self,
      config: ctx.config,
      clock: ctx.clock,
      ids: ctx.ids,
      log: ctx.log,
      hooks: {
        resolve: ctx.hooks.define('model.resolve', { kind: 'ask', policy: 'closed', budgetMs: 2_000 }),
        request: ctx.hooks.define('llm.request', { kind: 'pipe', policy: 'closed', budgetMs: 2_000 }),
        delta: ctx.hooks.define('llm.delta', { kind: 'note', policy: 'observe', budgetMs: 50 }),
      },
      counters,
    });
    ctx.services.provide('llm', llm);
    // Money that an agent or a session spent stays on the books; only its owner's leaving takes it away.
    ctx.hooks.tap('storage.purge', async ({ ownerId }) => {
      if (ownerId !== undefined) await store.purgeOwner(ownerId);
    });
    ctx.hooks.tap('metrics.collect', () => [
      { name: 'svc_llm_quota_agents', help: 'Agents with a limit whose usage is kept in memory', type: 'gauge', value: quota.size() },
      { name: 'svc_llm_calls_total', help: 'Model calls', type: 'counter', value: counters.calls },
      { name: 'svc_llm_failures_total', help: 'Model calls that no model answered', type: 'counter', value: counters.failures },
      { name: 'svc_llm_retries_total', help: 'Attempts after the first, of one call', type: 'counter', value: counters.retries },
    ]);
  },
});
