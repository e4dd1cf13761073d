import { Agents } from '@svc/ext-agents/contract';
import { Llm } from '@svc/ext-llm/contract';
import { RunEnded, RunRecall } from '@svc/ext-runs/contract';
import { Sessions } from '@svc/ext-sessions/contract';
import { cacheRows, ConfigChanged, defineExtension, DoctorCheck, HealthProbe, MetricsCollect, StorageMoved, StoragePurge } from '@svc/api';
import { memoryTables } from '../migrations/0001_tables.js';
import { commandWords } from './commands.js';
import { MemorySection, ProactiveSection } from './config.js';
import * as contract from './contract.js';
import { createExtractor } from './extraction/extraction.js';
import { factsIn } from './extraction/rules.js';
import { type AllDeps, createMemories } from './memory.js';
import { memoryFindings, memoryMetrics, memoryProbe } from './health.js';
import { own } from './memory-deps.js';
import { recallFor } from './recall/recall.js';
import { eraseRecalled } from './recall/erase-recalled.js';
import { createSeen } from './recall/seen.js';
import { servedMemory } from './served-memory.js';
import { agentRoutes } from './routes/agent-routes.js';
import { entryRoutes } from './routes/entry-routes.js';
import { kvRoutes } from './routes/kv-routes.js';
import { createCanary } from './search/canary.js';
import { createIndexer } from './search/indexing.js';
import { createEmbedding } from './search/embedding.js';
import { memorySlashCommands } from './slash-commands.js';
import { knowledgeTools } from './tools/knowledge-tools.js';
import { kvTools } from './tools/kv-tools.js';
import { wikiTools } from './tools/wiki-tools.js';

const HOUR_MS = 3_600_000;
/** After the start, which nobody waits for. */
const FIRST_INDEX_MS = 20_000;

export default defineExtension({
  contract,
  tables: [contract.EntryRows, contract.HistoryRows, contract.TermRows, contract.VectorRows, contract.KvRows, contract.EntityRows, contract.EdgeRows, contract.RecallRows],
  migrations: [memoryTables],
  config: [MemorySection, ProactiveSection],
  commandWords,
  activate(ctx) {
    const settings = { memory: () => ctx.config.get(MemorySection), proactive: () => ctx.config.get(ProactiveSection) };
    const embedding = createEmbedding({
      embedder: ctx.services.optional(contract.Embedder),
      llm: ctx.services.optional(Llm),
      memory: settings.memory,
      mono: () => ctx.clock.mono(),
      swapped: () => void indexer.pokeAll().catch((cause: unknown) => ctx.log.warn('vectors of another model could not be begun', { cause })),
    });
    const sessions = ctx.services.require(Sessions);
    const indexer = createIndexer({ journal: ctx.journal, actors: ctx.actors, db: ctx.db, events: ctx.events, clock: ctx.clock, embedding, log: ctx.log, closing: ctx.signal });
    const deps: AllDeps = {
      ...settings,
      db: ctx.db,
      events: ctx.events,
      actors: ctx.actors,
      agents: ctx.services.require(Agents),
      clock: ctx.clock,
      ids: ctx.ids,
      log: ctx.log,
      embedding,
      poke: (ownerId) => {
        // The built-in embedder has answered already.
        if (embedding.kind() === 'provider') indexer.poke(ownerId);
      },
      eraseRecalled: (actor, rows) => eraseRecalled({ db: ctx.db, actors: ctx.actors, sessions }, actor, rows),
    };
    const memories = createMemories(deps);
    ctx.services.provide(contract.Memory, servedMemory(memories));
    const routeDeps = {
      ...deps,
      memories,
      extract: (messages: Parameters<typeof factsIn>[0]) => factsIn(messages, settings.proactive().extraction_threshold),
      reindex: indexer.reindex,
      llmExtraction: () => settings.proactive().extraction_model !== undefined,
    };
    ctx.routes.add(...kvRoutes({ agents: deps.agents, kv: memories.kv }), ...entryRoutes(routeDeps), ...agentRoutes(routeDeps));
    ctx.tools.add(...kvTools(memories.kv), ...knowledgeTools(memories.graph), ...wikiTools(memories));
    ctx.slashCommands.add(...memorySlashCommands(memories));
    const seen = createSeen(sessions);
    const extractor = createExtractor({ ...deps, ...settings, journal: ctx.journal, sessions, llm: ctx.services.optional(Llm), memories, closing: ctx.signal });
    const filled = cacheRows<boolean>(ctx.clock);
    const hasEntries = (ownerId: string) =>
      filled.read(
        ownerId,
        async () =>
          (await own(deps, { ownerId }).first({ from: 'entries', columns: ['place'] })) !== undefined || (await own(deps, { ownerId }).first({ from: 'edges', columns: ['id'] })) !== undefined,
      );
    const noted = async ({ ownerId }: { readonly ownerId: string }, sessionId: string, rows: ReadonlyArray<Pick<contract.EntryRow, 'place'>>) => {
      await ctx.db.commit([
        ctx.db.upsert(
          'recalls',
          ['place', 'session_id'],
          rows.map(({ place }) => ({ place, session_id: sessionId, owner_id: ownerId, at: ctx.clock.iso() })),
        ),
      ]);
    };
    ctx.hooks.tap(RunRecall, (question) => {
      extractor.asked(question);
      return recallFor({ ...deps, memories, seen, noted, hasEntries }, question);
    });
    ctx.events.on(RunEnded, (run) => extractor.ended(run));
    ctx.events.on(contract.MemoryChanged, (change) => {
      memories.changed(change);
      filled.changed(change.ownerId);
    });
    ctx.hooks.tap(StorageMoved, async () => {
      memories.forget();
      seen.forget();
    });
    ctx.hooks.tap(StoragePurge, async () => {
      memories.forget();
      seen.forget();
    });
    const canary = createCanary({ db: ctx.db, actors: ctx.actors, memories, log: ctx.log });
    const health = { db: ctx.db, embedding, canary, share: memories.share };
    ctx.hooks.tap(DoctorCheck, () => memoryFindings(health));
    ctx.hooks.tap(HealthProbe, () => memoryProbe(health));
    ctx.hooks.tap(MetricsCollect, () => memoryMetrics(health));
    // Another embedder: its vectors are made in the background.
    ctx.events.on(ConfigChanged, ({ sections }) => (sections.includes('memory') ? indexer.pokeAll() : undefined));
    ctx.timers.after('index-memory', FIRST_INDEX_MS, async () => {
      await indexer.pokeAll();
      await canary.look();
    });
    ctx.timers.every('sweep-memory', HOUR_MS, async () => {
      await memories.upkeep.decay();
      await memories.upkeep.cleanup();
      await indexer.pokeAll();
      await canary.look();
    });
  },
});
