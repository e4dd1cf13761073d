import { Llm, LlmUsed } from './contract.js';
import * as contract from './contract.js';
import { AgentColumns, Agents, ResolveModel } from '@svc/ext-agents/contract';
import { ModelColumns, Models, ModelsChanged } from '@svc/ext-models/contract';
import { ProviderChanged, ProviderColumns, Providers } from '@svc/ext-providers/contract';
import { ConfigChanged, MetricsCollect, defineExtension, cacheRows, whenKnown } from '@svc/api';
import { BudgetSection, LlmSection } from './config.js';
import { createAnthropicDriver } from './drivers/anthropic.js';
import { createBuiltinDriver } from './drivers/builtin.js';
import { createWindows } from './call/windows.js';
import { createDrivers } from './drivers/driver.js';
import { createGeminiDriver } from './drivers/gemini/gemini.js';
import { createOpenAiDriver } from './drivers/openai.js';
import { createHealth } from './health/health.js';
import { createKeyOrder } from './health/keys.js';
import { createResolutionCache } from './resolution-cache.js';
import { allOf } from './money/guards.js';
import { createIdleGuard } from './money/idle.js';
import { createQuota } from './money/quota.js';
import { createLedgers } from './money/quota-ledger.js';
import { reportOf } from './money/report.js';
import { createReservations } from './money/reservations.js';
import { createRootGuard } from './money/roots.js';
import { createUnitMoney } from './money/units.js';
import { migrations } from './migrations.js';
import { decorateAgents, decorateModels } from './decorating.js';
import { inMemory, type LlmDeps, servedLlm } from './service.js';
import { slashCommands } from './slash-commands.js';
import { createUsageMetrics } from './money/usage-metrics.js';
import { createUsageStore } from './store.js';
import { ReservationRows, UsageRows } from './tables.js';

const SWEEP_MS = 60_000;

export default defineExtension({
  contract,
  tables: [UsageRows, ReservationRows],
  migrations,
  config: [LlmSection, BudgetSection],
  activate(ctx) {
    const exchange = { fetch: ((url, options) => ctx.fetch(url, options)) satisfies typeof ctx.fetch, now: () => ctx.clock.now() };
    const counters = { calls: 0, failures: 0, retries: 0, answers: 0, answersMs: 0, slowestMs: 0 };
    const self = ctx.ids.uuid();
    const store = createUsageStore(ctx.db, self);
    const providers = ctx.services.require(Providers);
    const models = ctx.services.require(Models);
    const drivers = createDrivers(
      { openai: createOpenAiDriver(exchange), anthropic: createAnthropicDriver(exchange), gemini: createGeminiDriver(exchange), builtin: createBuiltinDriver() },
      ctx.services,
    );
    const windows = createWindows();
    const resolution = createResolutionCache({ drivers, models, providers, windows, clock: ctx.clock });
    const health = createHealth({ clock: ctx.clock, ids: ctx.ids });
    ctx.events.on(ProviderChanged, ({ name }) => {
      health.keysChanged(name);
      resolution.clear();
    });
    ctx.events.on(ConfigChanged, () => resolution.clear());
    ctx.events.on(ModelsChanged, () => resolution.clear());
    const agents = ctx.services.require(Agents);
    const { db, clock, ids, events, actors, config } = ctx;
    const reservations = createReservations({ db, clock, self });
    const quota = createQuota({
      actors,
      agents,
      config,
      ledgers: createLedgers({ store, clock }),
      reservations,
      guard: allOf([createIdleGuard({ clock, db, config }), createRootGuard({ db })]),
      db,
      events,
      self,
      clock,
      ids,
    });
    ctx.timers.every('settle-reservations', SWEEP_MS, async () => {
      await reservations.sweep();
    });
    // What this generation used it has counted already.
    ctx.events.on(LlmUsed, ({ agentId, by }) => (by === self ? undefined : quota.listenForUsed(agentId)));
    const spent = cacheRows<number>(ctx.clock);
    const deps: LlmDeps = {
      units: createUnitMoney({ quota, reservations, events: ctx.events, store, clock, ids, willSpend: (agentId) => spent.willChange(agentId) }),
      resolution,
      windows,
      providers,
      drivers,
      store,
      quota,
      report: reportOf(db),
      config: ctx.config,
      clock: ctx.clock,
      ids: ctx.ids,
      log: ctx.log,
      counters,
      health,
      keys: createKeyOrder(ctx.ids),
      spent,
    };
    const known = inMemory(deps);
    ctx.services.provide(Llm, servedLlm(deps));
    ctx.hooks.tap(ResolveModel, (choice) => whenKnown(known.resolve(choice), ({ provider, model }) => ({ provider, model })));
    ctx.hooks.tap(AgentColumns, decorateAgents(known));
    ctx.hooks.tap(ModelColumns, decorateModels(known));
    ctx.hooks.tap(ProviderColumns, () => ({ troubles: health.troubles().map(({ inMs, ...trouble }) => ({ ...trouble, until: new Date(ctx.clock.now() + inMs).toISOString() })) }));
    ctx.slashCommands.add(...slashCommands({ agents, resolution, store, models, providers, clock: ctx.clock }));
    const used = createUsageMetrics({ actors: ctx.actors, store, agents, clock: ctx.clock });
    ctx.hooks.tap(MetricsCollect, async () => [
      ...(await used()),
      { name: 'svc_llm_quota_agents', help: 'Agents with a limit whose usage is cached in memory', type: 'gauge', value: quota.size() },
      { name: 'svc_llm_calls_total', help: 'Model calls', type: 'counter', value: counters.calls },
      { name: 'svc_llm_failures_total', help: 'Model calls that no model answered', type: 'counter', value: counters.failures },
      { name: 'svc_llm_retries_total', help: 'Attempts after the first, of one call', type: 'counter', value: counters.retries },
    ]);
  },
});
