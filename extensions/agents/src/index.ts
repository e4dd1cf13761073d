import { Models } from '@svc/ext-models/contract';
import { Providers } from '@svc/ext-providers/contract';
import { type Actor, AuditRecorded, auditFact, type ExtensionContext, KernelReady, MetricsCollect, StoragePurge, defineExtension, cacheRows } from '@svc/api';
import { agentTables } from '../migrations/0001_tables.js';
import { bin } from '../migrations/0003_bin.js';
import { type Agent, AgentChanged, AgentColumns, AgentHalt, AgentKilled, AgentReview, AgentSpawned, AgentSpawning, Agents, ResolveModel, type SpawnRequest, Templates } from './contract.js';
import { TrashSection } from './config.js';
import * as contract from './contract.js';
import { ensureFirstAgent } from './first-agent.js';
import { createLastActive, FLUSH_EVERY_MS, type LastActive } from './shown/last-active.js';
import { shownModels } from './shown/model-shown.js';
import type { Change } from './changing/change.js';
import { editAgent, checkEdit } from './changing/edit-agent.js';
import { type Mode, setMode } from './changing/set-mode.js';
import { type CloneWish, cloneAgent } from './cloning.js';
import { agentRoutes } from './routes/agents.js';
import { bulkRoutes } from './routes/bulk.js';
import { changeRoutes } from './routes/changes.js';
import { checkRoutes } from './routes/check.js';
import { cloneRoutes } from './routes/clone.js';
import { modeAndModelRoutes } from './routes/mode-and-model.js';
import { profileRoutes } from './routes/profiles.js';
import { type AgentsDeps, checkedId, createAgentsService, getAgent, servedAgents } from './service.js';
import { createRemoving } from './removing.js';
import { checkSpawn, spawnAgent } from './spawning.js';
import { type AgentStore, createStore } from './store.js';
import { haltAgent } from './halting.js';
import { slashCommands } from './slash-commands.js';
import { AgentRows, Marks, SpawnKeys } from './tables.js';
import { agentSynonyms } from './synonyms.js';
import { agentTools } from './tools.js';

const DAY_MS = 86_400_000;

export default defineExtension({
  contract,
  config: [TrashSection],
  tables: [AgentRows, SpawnKeys, Marks],
  migrations: [agentTables, bin],
  commandWords: [{ word: 'agent', summary: 'the agents', usage: 'agent list|new|show|edit|apply|set|…', order: 30, module: 'agent', synonyms: agentSynonyms }],
  completions: [{ name: 'agents', fields: ['agent', 'agents'], operation: 'listAgents', rows: 'agents', value: 'name', key: 'id' }],
  activate(ctx) {
    const store = createStore(ctx.db);
    const cache = cacheRows<Agent | undefined>(ctx.clock);
    const children = cacheRows<readonly string[]>(ctx.clock);
    const spawning = ctx.hooks.define(AgentSpawning);
    const review = ctx.hooks.define(AgentReview);
    const about = { providers: ctx.services.optional(Providers), models: ctx.services.optional(Models), resolve: ctx.hooks.define(ResolveModel) };
    const modelsOf: AgentsDeps['modelsOf'] = async (listed) =>
      shownModels(
        about,
        listed.map(({ manifest }) => manifest.model),
      );
    const lastActive = rememberActivity(ctx, store);
    const halt = ctx.hooks.define(AgentHalt);
    const keptUntil = (): string | null => {
      const { days } = ctx.config.get(TrashSection);
      return days === 0 ? null : new Date(ctx.clock.now() + days * DAY_MS).toISOString();
    };
    const removing = createRemoving({
      store,
      cache,
      keptUntil,
      halt,
      trash: ctx.trash,
      system: ctx.actors.system('deleted agents'),
      purge: (agentId) => ctx.purge({ agentId }),
      events: ctx.events,
      clock: ctx.clock,
      log: ctx.log,
    });
    const deps: AgentsDeps = {
      store,
      cache,
      spawning,
      review,
      providers: about.providers,
      models: about.models,
      templates: ctx.services.optional(Templates),
      modelsOf,
      lastActive,
      removing,
      keptUntil,
      journal: ctx.journal,
      schemas: ctx.schemas,
      capabilities: ctx.capabilities,
      ids: ctx.ids,
      clock: ctx.clock,
      events: ctx.events,
    };
    const agents = createAgentsService(deps);
    const surface = {
      ...about,
      agents,
      agentOf: (actor: Actor, agentId: string) => getAgent(deps, actor, agentId),
      removing,
      store,
      children,
      lastActive,
      clock: ctx.clock,
      columns: ctx.hooks.define(AgentColumns),
      modelsOf,
      spawn: (actor: Actor, request: SpawnRequest) => spawnAgent(deps, actor, request),
      edit: async (actor: Actor, agentId: string, change: Change) => editAgent(deps, actor, checkedId(agentId), change),
      checkSpawn: (actor: Actor, request: SpawnRequest) => checkSpawn(deps, actor, request),
      checkEdit: async (actor: Actor, agentId: string, change: Change) => checkEdit(deps, actor, checkedId(agentId), change),
      setMode: async (actor: Actor, agentId: string, mode: Mode) => setMode({ ...deps, ...about }, actor, checkedId(agentId), mode),
      clone: async (actor: Actor, agentId: string, wish: CloneWish) => cloneAgent({ ...deps, log: ctx.log, workspaces: ctx.files.root('workspaces') }, actor, await agents.get(actor, agentId), wish),
      halt: (actor: Actor, agentId: string) => haltAgent({ agents, halt }, actor, agentId),
    };

    ctx.services.provide(Agents, servedAgents(deps, agents));
    ctx.routes.add(...agentRoutes(surface), ...changeRoutes(surface), ...modeAndModelRoutes(surface), ...cloneRoutes(surface), ...checkRoutes(surface), ...bulkRoutes(surface), ...profileRoutes());
    ctx.tools.add(...agentTools({ ...surface, note: async (note) => void (await ctx.db.commit([ctx.events.event(AuditRecorded, auditFact(ctx, note))])) }));
    ctx.slashCommands.add(...slashCommands({ ...agents, modelsOf }));
    ctx.hooks.tap(KernelReady, () => removing.finish());
    ctx.hooks.tap(MetricsCollect, async () => [{ name: 'svc_agents_total', help: 'Agents that there are, suspended ones among them', type: 'gauge', value: await store.count() }]);
    ctx.hooks.tap(StoragePurge, ({ ownerId }) => {
      if (ownerId !== undefined) cache.clear();
    });
    ctx.events.on(AgentChanged, ({ agentId }) => cache.changed(agentId));
    ctx.events.on(AgentKilled, ({ agentId }) => cache.changed(agentId));
    for (const changed of [AgentSpawned, AgentChanged, AgentKilled]) ctx.events.on(changed, () => children.clear());
  },
  start: (ctx) => ensureFirstAgent({ store: createStore(ctx.db), ids: ctx.ids, clock: ctx.clock, events: ctx.events }),
});

const rememberActivity = (ctx: ExtensionContext, store: AgentStore): LastActive => {
  const active = createLastActive(store, ctx.clock);
  ctx.timers.every('write-last-active', FLUSH_EVERY_MS, () => active.flush());
  ctx.onDispose('write when agents were last active', () => active.flush());
  return active;
};
