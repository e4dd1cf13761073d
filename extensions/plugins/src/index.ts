import { Agents } from '@svc/ext-agents/contract';
import { Llm } from '@svc/ext-llm/contract';
import { Memory, type MemoryService } from '@svc/ext-memory/contract';
import { RunChild, RunEnded, RunMessages, RunRecall, Runs } from '@svc/ext-runs/contract';
import { SessionCompacting, Sessions } from '@svc/ext-sessions/contract';
import { ToolTransform } from '@svc/ext-tools/contract';
import { type Actor, defineExtension, DoctorCheck } from '@svc/api';
import { pluginTables } from '../migrations/0001_init.js';
import { commands, commandWords } from './commands.js';
import { ContextEngineSection } from './config.js';
import * as contract from './contract.js';
import { findingsOf } from './doctor.js';
import { afterTurn } from './hooks/after-turn.js';
import { createBreaker } from './hooks/breaker.js';
import { createResponseCache } from './hooks/cache.js';
import { createEngine, DIRECT } from './hooks/engine.js';
import { createPersistent } from './hooks/persistent.js';
import { assemble, child, compact, transform } from './hooks/taps.js';
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
    const { spawn, schemas } = ctx;
    const agents = ctx.services.require(Agents);
    const llm = ctx.services.optional(Llm);
    const memory = ctx.services.optional(Memory);
    const actorOf = (ownerId: string) => ctx.actors.of(ownerId);
    const engine = createEngine({
      ...{ settings: started, folders, finder, traces, breaker, clock, log, home, version: ctx.version, spawn, schemas, actorOf },
      ...{ cache: createResponseCache(clock), persistent: createPersistent({ spawn, clock }) },
      agentOf: (actor, id) => agents.find(actor, id),
      window: async () => (await llm.value?.resolve({ provider: 'default', model: 'default' }).catch(() => undefined))?.contextWindow ?? null, // no model yet
      remember: (ownerId, agentId, texts, plugin) => remember(memory.value, actorOf(ownerId), agentId, texts, plugin),
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
    ctx.hooks.tap(RunRecall, ({ actor, agent, runId, sessionId, message, peerId, budgetTokens, kind }) =>
      isUsed ? engine.ingest({ actor, agent, budgetTokens, ownerId: agent.ownerId, agentId: agent.id, runId, sessionId, message, peerId: peerId ?? null, isUnkept: kind !== 'normal' }) : [],
    );
    if (!isUsed) return;
    const sessions = ctx.services.require(Sessions);
    ctx.events.on(RunEnded, (ended) => afterTurn({ engine, sessions, actorOf }, ended));
    ctx.hooks.tap(RunMessages, (messages, context) => assemble(engine, messages, context));
    ctx.hooks.tap(RunChild, (subject) => child(engine, subject));
    ctx.hooks.tap(SessionCompacting, (question) => compact(engine, question));
    ctx.hooks.tap(ToolTransform, (output, request) => transform(engine, output, request));
    ctx.timers.after('prewarm-plugins', PREWARM_MS, async () => {
      await plugins.prewarm(engine.loaded.filter((name) => name !== DIRECT));
      await engine.prewarm();
    });
  },
});

/** Answers why it could not. */
const remember = async (memory: MemoryService | undefined, actor: Actor, agentId: string, texts: readonly string[], plugin: string): Promise<string | undefined> => {
  if (!memory) return 'the extension memory is off';
  try {
    await memory.add(
      actor,
      agentId,
      texts.map((content) => ({ content, level: 'agent', category: plugin })),
    );
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};
