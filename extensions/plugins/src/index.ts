import { RunEnded, RunRecall, Runs } from '@svc/ext-runs/contract';
import { Sessions } from '@svc/ext-sessions/contract';
import { defineExtension, DoctorCheck } from '@svc/api';
import { pluginTables } from '../migrations/0001_init.js';
import { commands, commandWords } from './commands.js';
import { ContextEngineSection } from './config.js';
import * as contract from './contract.js';
import { findingsOf } from './doctor.js';
import { afterTurn } from './hooks/after-turn.js';
import { createBreaker } from './hooks/breaker.js';
import { createEngine, DIRECT } from './hooks/engine.js';
import { createTraces } from './hooks/traces.js';
import { createRegistries } from './install/registry.js';
import { createFinder } from './launchers/found.js';
import { createPluginFolders } from './plugin-folder.js';
import { readRoutes } from './routes/read-routes.js';
import { writeRoutes } from './routes/write-routes.js';
import { createPlugins, grantedOf } from './service.js';

/** The daemon answers first. */
const PREWARM_MS = 500;

export default defineExtension({
  contract,
  tables: [contract.InstallRows, contract.TraceRows],
  migrations: [pluginTables],
  config: [ContextEngineSection],
  commands,
  commandWords,
  completions: [{ name: 'plugins', fields: ['name'], operation: 'listPlugins', rows: 'plugins', value: 'name' }],
  activate(ctx) {
    const { db, clock, ids, log, config } = ctx;
    const home = ctx.env('HOME') ?? '';
    const runs = ctx.services.require(Runs);
    const started = config.get(ContextEngineSection);
    const folders = createPluginFolders(ctx.files.root('plugins'));
    const finder = createFinder({ exec: ctx.exec, clock, home });
    const traces = createTraces({ db, ids, log });
    const breaker = createBreaker(clock);
    const engine = createEngine({
      ...{ settings: started, folders, finder, traces, breaker, clock, log, home, version: ctx.version, spawn: ctx.spawn },
      granted: (name) => grantedOf({ db }, name),
      stop: (actor, runId, why) => runs.stop(actor, { runId }, why),
    });
    const registries = createRegistries({ fetch: ctx.fetch, egress: ctx.egress, clock, registries: () => config.get(ContextEngineSection).plugin_registries });
    const plugins = createPlugins({
      ...{ exec: ctx.exec, secrets: ctx.secrets, sandbox: ctx.sandbox, cache: ctx.files.cache, home, db, clock, ids, log, folders, finder, engine, traces, breaker, registries, started },
      settings: () => config.get(ContextEngineSection),
      changed: async (name) => void (await ctx.events.publish(contract.PluginsChanged, { name })),
    });
    ctx.routes.add(...readRoutes({ plugins }), ...writeRoutes({ plugins }));
    const isUsed = engine.loaded.length > 0;
    ctx.hooks.tap(DoctorCheck, () => (isUsed ? findingsOf(plugins, engine) : []));
    // Without [context_engine] a message costs nothing here: it is answered at once.
    ctx.hooks.tap(RunRecall, ({ actor, agent, runId, sessionId, message, peerId, budgetTokens }) =>
      isUsed ? engine.ingest({ actor, agent, budgetTokens, ownerId: agent.ownerId, agentId: agent.id, runId, sessionId, message, peerId: peerId ?? null }) : [],
    );
    if (!isUsed) return;
    const sessions = ctx.services.require(Sessions);
    ctx.events.on(RunEnded, (ended) => afterTurn({ engine, sessions, actorOf: (ownerId) => ctx.actors.of(ownerId) }, ended));
    ctx.timers.after('prewarm-plugins', PREWARM_MS, async () => void (await plugins.prewarm(engine.loaded.filter((name) => name !== DIRECT))));
  },
});
