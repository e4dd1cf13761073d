import { CommandFolders, Tools, ToolTransform } from './contract.js';
import * as contract from './contract.js';
import { AgentReview, Agents } from '@svc/ext-agents/contract';
import { AuditRecorded, auditFact, CheckpointTake, ToolAfter, ToolBefore, ToolMissed, ToolGrants, ToolList, ToolStart, defineExtension } from '@svc/api';
import { consentOf, createReach } from './builtin/command-start.js';
import { toolTables } from '../migrations/0001_tables.js';
import { builtinTools } from './builtin/builtin-tools.js';
import { createWorkspaces } from './builtin/workspace.js';
import { missingTools } from './missing-tools.js';
import { openProcesses } from './processes/area-processes.js';
import { ArtifactPieces, ArtifactRows } from './artifacts/artifact-rows.js';
import { createArtifacts } from './artifacts/artifacts.js';
import { readArtifactTool } from './artifacts/read-artifact.js';
import { lazyTools } from './lazy/lazy-tools.js';
import { ProcessRows } from './processes/process-rows.js';
import { PROCESS_COMPANIONS, processTools } from './processes/process-tools.js';
import { agentToolRoutes } from './routes/agent-tool-routes.js';
import { type ToolRouteDeps, toolRoutes } from './routes/tool-routes.js';
import { callDirectly } from './direct-call.js';
import { LazyToolsAbove, ToolInvokeSection, ToolResultsSection, ToolTimeoutSecs, ToolTimeouts } from './settings/config.js';
import { LocationUrl, SearchCacheMinutes, SearchTimeoutSecs, WEB_SETTINGS } from './settings/web-config.js';
import { chooseSearch } from './web-search/search-choice.js';
import { webSearchTool } from './web-search/web-search.js';
import { PageText } from './workers/page-text-worker.js';
import { SearchLines, SiftEntries } from './workers/search-workers.js';
import { createDirectTools, createToolsService, type ToolsDeps } from './service.js';
import { createToolRegistry } from './tool-registry.js';
import { LOCATION_LACK, locationTool } from './builtin/location-get.js';

const PRUNE_MS = 3_600_000;

export default defineExtension({
  contract,
  tables: [ProcessRows, ArtifactRows, ArtifactPieces],
  migrations: [toolTables],
  workers: [PageText, SiftEntries, SearchLines],
  config: [ToolInvokeSection, ToolTimeoutSecs, ToolTimeouts, ToolResultsSection, LazyToolsAbove, ...WEB_SETTINGS, LocationUrl],
  commandWords: [{ word: 'tool', hub: 'agents', summary: 'list and call tools', usage: 'tool list|call', order: 33, module: 'tool', synonyms: [{ word: 'tools', means: 'tool list', runs: true }] }],
  activate(ctx) {
    const choice = chooseSearch(ctx);
    const locationUrl = (): string => ctx.config.get(LocationUrl);
    const registry = createToolRegistry(ctx.kernel, ctx.hooks.use(ToolList), {
      unavailable: (name) => (name === 'web_search' && choice.now() === undefined ? choice.lack() : name === 'location_get' && locationUrl() === '' ? LOCATION_LACK : undefined),
      companionOf: (name) => (PROCESS_COMPANIONS.has(name) ? 'process_start' : undefined),
    });
    const agents = ctx.services.require(Agents);
    ctx.hooks.tap(AgentReview, async ({ manifest }) => (manifest.capabilities.shell.length === 0 ? [] : consentOf(await ctx.sandbox())));
    ctx.hooks.tap(AgentReview, ({ manifest }) => missingTools(manifest.capabilities, registry.names()));
    const reachOf = createReach(ctx.hooks.define(CommandFolders));
    const results = () => ctx.config.get(ToolResultsSection);
    const artifacts = createArtifacts({ db: ctx.db, clock: ctx.clock, limits: results });
    ctx.timers.every('prune-artifacts', PRUNE_MS, () => artifacts.prune());
    const deps: ToolsDeps = {
      registry,
      agents,
      before: ctx.hooks.use(ToolBefore),
      missed: ctx.hooks.use(ToolMissed),
      grants: ctx.hooks.use(ToolGrants),
      start: ctx.hooks.use(ToolStart),
      after: ctx.hooks.use(ToolAfter),
      transform: ctx.hooks.define(ToolTransform),
      checkpoint: ctx.hooks.use(CheckpointTake),
      workspaces: createWorkspaces(ctx.files.root('workspaces')),
      schemas: ctx.schemas,
      clock: ctx.clock,
      timeSettings: () => ({ defaultSecs: ctx.config.get(ToolTimeoutSecs), byName: ctx.config.get(ToolTimeouts) }),
      spilling: { artifacts, threshold: () => results().spill_threshold_bytes },
      lazyAbove: () => ctx.config.get(LazyToolsAbove),
      log: ctx.log,
    };
    const tools = createToolsService(deps);
    const direct: ToolRouteDeps = {
      registry,
      actors: ctx.actors,
      agents,
      tools: createDirectTools(deps),
      ids: ctx.ids,
      settings: () => ctx.config.get(ToolInvokeSection),
      note: async (note) => void (await ctx.db.commit([ctx.events.event(AuditRecorded, auditFact(ctx, note))])),
    };
    ctx.services.provide(Tools, {
      ...tools,
      invoke: (actor, { name, args, allow }, options) => callDirectly(direct, { actor, name, args, agentId: undefined, signal: options?.signal ?? new AbortController().signal, log: ctx.log, allow }),
      invokable: async () => ({ allowlist: direct.settings().enabled ? [...direct.settings().allowlist] : [] }),
    });
    ctx.routes.add(...toolRoutes(direct), ...agentToolRoutes({ agents, registry }));
    const search = webSearchTool({
      choice,
      fetch: (url, init) => ctx.fetch(url, init),
      clock: ctx.clock,
      settings: () => ({ timeoutSecs: ctx.config.get(SearchTimeoutSecs), cacheMinutes: ctx.config.get(SearchCacheMinutes) }),
    });
    ctx.tools.add(
      ...builtinTools(ctx, reachOf),
      readArtifactTool(artifacts),
      ...lazyTools(async ({ actor, agentId }) => (agentId === '' ? [] : tools.list(actor, agentId, (await agents.get(actor, agentId)).manifest))),
      search,
      locationTool({ fetch: (url, init) => ctx.fetch(url, init), url: locationUrl }),
      ...processTools({ processes: openProcesses(ctx, agents, reachOf), clock: ctx.clock }),
    );
  },
});
