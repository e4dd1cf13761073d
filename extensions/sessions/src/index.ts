import { Llm } from '@svc/ext-llm/contract';
import { AgentColumns, Agents } from '@svc/ext-agents/contract';
import { type ExtensionContext, type SecurityLook, SecurityReport, defineExtension, securityProbe, whenKnown } from '@svc/api';
import { sessionTables } from '../migrations/0001_tables.js';
import { createBranchStore } from './branching/branch-store.js';
import { createBranching } from './branching/branching.js';
import { createVersionStore } from './branching/version-store.js';
import { type Catalogue, type CatalogueDeps, createCatalogue } from './catalogue/catalogue.js';
import { createCatalogueStore } from './catalogue/catalogue-store.js';
import { cleanUp } from './closing/cleanup.js';
import { cleanRegularly } from './closing/cleanup-work.js';
import { openClosing } from './closing/open-closing.js';
import { createClosingStore } from './closing/closing-store.js';
import { type CompactionDeps, type Compactor, createCompactor } from './compaction/compaction.js';
import { SessionSection } from './config.js';
import { EntriesRead, SessionActive, SessionChanged, SessionCompacting, Sessions, SessionSent } from './contract.js';
import * as contract from './contract.js';
import { createListing } from './listing.js';
import { projectEntries } from './projection.js';
import { agentHistoryRoutes } from './routes/agent-history.js';
import { agentSessionRoutes } from './routes/agent-sessions.js';
import type { SessionRouteDeps } from './routes/route-deps.js';
import { versionRoutes } from './routes/branch.js';
import { sessionRoutes } from './routes/sessions.js';
import { modelRoute } from './routes/model.js';
import { shareRoutes } from './routes/shares.js';
import { tagRoutes } from './routes/tags.js';
import { titleRoute } from './routes/title.js';
import { createSearchStore } from './search/search-store.js';
import { servedSessions } from './served-sessions.js';
import { createSessionsService, type ChangeEvents } from './service.js';
import { createDrawnPages } from './sharing/drawn-pages.js';
import { DrawnTexts } from './workers/drawn-texts-worker.js';
import { createShareStore } from './sharing/share-store.js';
import { createSharing } from './sharing/sharing.js';
import { slashCommands } from './slash-commands.js';
import { createSessionStore, type SessionStore } from './store.js';
import { createTitler, type Titler, type TitlingDeps } from './titling/titling.js';
import { ClosedRows, EntryRows, SaidRows, SessionRows, ShareRows, ShelfRows, SpanRows } from './tables.js';

/** Entries that one compaction reads at most. */
const MAX_COMPACTED_ENTRIES = 5_000;
/** In which the first answer must stand. */
const TITLED_ENTRIES = 40;
const GIVE_BACK_MS = 10_000;
/** What another process said, or one that stopped, is found after this long. */
const POLL_MS = 60_000;
const FIRST_POLL_MS = 2_000;

export default defineExtension({
  contract,
  tables: [SessionRows, EntryRows, ClosedRows, ShelfRows, SpanRows, SaidRows, ShareRows],
  migrations: [sessionTables],
  workers: [DrawnTexts],
  config: [SessionSection],
  commandWords: [
    {
      word: 'sessions',
      hub: 'chat',
      summary: 'conversations',
      usage: 'sessions list|show|search|…',
      order: 31,
      module: 'sessions',
      synonyms: [
        { word: 'sessions', means: 'sessions list', runs: true },
        { word: 'reset sessions', means: 'sessions delete SESSION…' },
        { word: 'session', means: 'sessions' },
      ],
    },
  ],
  activate(ctx) {
    const store = createSessionStore(ctx.db);
    const agents = ctx.services.require(Agents);
    const llm = ctx.services.optional(Llm);
    const goingOn = ctx.hooks.define(SessionActive);
    const later = onceEach(ctx);
    const changeEvents: ChangeEvents = ({ id, agentId, ownerId }, change) => [ctx.events.event(SessionChanged, { ...(id === undefined ? {} : { sessionId: id }), agentId, ownerId, change })];
    const catalogue = openCatalogue(ctx, store, later('read-what-was-said'));
    const { forget, rest, gone, ...sessions } = createSessionsService({
      store,
      clock: ctx.clock,
      ids: ctx.ids,
      projected: (...seen) => compactor.consider(...seen),
      said: catalogue.touched,
      compactNow: (ref) => compactor.now(ref),
      changeEvents,
    });
    const compactor = openCompactor(ctx, { store, sessions, agents, llm, forget });
    const listing = createListing({ db: ctx.db, goingOn });
    const settings = () => ctx.config.get(SessionSection);
    const closingStore = createClosingStore(ctx.db);
    const { bin, closing } = openClosing(ctx, { store: closingStore, agents, sessions, catalogue, gone, changeEvents, later });
    const cleaning = { store: closingStore, actors: ctx.actors, closing, agents, listing, clock: ctx.clock, config: settings };
    const service = servedSessions({ sessions, agents, llm, sent: ctx.hooks.define(SessionSent), catalogue, closing, listing });
    ctx.services.provide(Sessions, { ...service, counts: sessions.counts });
    ctx.hooks.tap(AgentColumns, ({ actor, agents: listed, since }) =>
      whenKnown(
        sessions.counts(
          actor,
          listed.map(({ id }) => id),
          since,
        ),
        (counts) => ({ sessions: counts }),
      ),
    );
    ctx.slashCommands.add(...slashCommands({ agents, sessions: service, commit: (writes) => ctx.db.commit(writes), clock: ctx.clock, log: ctx.log }));
    ctx.timers.every('give-back-logs', GIVE_BACK_MS, rest);
    lookAgain(ctx, catalogue, closing);
    cleanRegularly(ctx, cleaning);
    const shares = createShareStore(ctx.db);
    const deps: SessionRouteDeps = {
      sessions: service,
      agents,
      store,
      listing,
      catalogue,
      closing,
      bin,
      closingStore,
      search: createSearchStore(ctx.db, (ownerId) => ctx.actors.only('search', ownerId)),
      branch: createBranching({ store: createBranchStore(ctx.db), agents, goingOn, sessions, commit: (writes) => ctx.db.commit(writes), said: catalogue.touched }),
      titler: openTitler(ctx, { store, agents, llm, changeEvents }),
      resolveModel: async (model) => void (await llm.value?.resolve(model)),
      versions: createVersionStore(ctx.db),
      shares,
      drawnPages: createDrawnPages({ workers: ctx.workers, log: ctx.log }),
      sharing: createSharing({ store, shares, clock: ctx.clock, ids: ctx.ids, settings }),
      clock: ctx.clock,
      settings,
      cleanUp: () => cleanUp(cleaning),
      changeEvents,
      commit: (writes) => ctx.db.commit(writes),
    };
    ctx.routes.add(
      ...agentSessionRoutes(deps),
      ...agentHistoryRoutes(deps),
      ...sessionRoutes(deps),
      ...versionRoutes(deps),
      ...shareRoutes(deps),
      ...tagRoutes(deps),
      titleRoute(deps),
      modelRoute(deps),
    );
    ctx.hooks.tap(SecurityReport, securityProbe('session_repair', lookAtRepair));
  },
});

/** A timer that is named once and may be asked for while it waits: then it fires once. */
const onceEach = (ctx: ExtensionContext) => (name: string) => {
  let isSet = false;
  return (ms: number, fn: () => Promise<void>): void => {
    if (isSet || ctx.signal.aborted) return;
    isSet = true;
    ctx.timers.after(name, ms, () => {
      isSet = false;
      return fn();
    });
  };
};

/** Of the daemons on this database one reads for all (K4). */
const openCatalogue = (ctx: ExtensionContext, { entries }: Pick<SessionStore, 'entries'>, later: CatalogueDeps['later']): Catalogue => {
  const self = ctx.ids.uuid();
  const catalogue = createCatalogue({
    store: createCatalogueStore(ctx.db),
    commit: (writes) => ctx.db.commit(writes),
    entries,
    later,
    mono: ctx.clock.mono,
    self,
    notify: () => ctx.events.publish(EntriesRead, { by: self }),
    log: ctx.log,
  });
  ctx.events.on(EntriesRead, ({ by }) => catalogue.receivedFrom(by));
  return catalogue;
};

const openCompactor = (ctx: ExtensionContext, { store, ...deps }: Pick<CompactionDeps, 'sessions' | 'agents' | 'llm' | 'forget'> & { readonly store: SessionStore }): Compactor =>
  createCompactor({
    ...deps,
    journal: ctx.journal,
    actors: ctx.actors,
    log: ctx.log,
    hold: (label) => ctx.hold(label),
    closing: ctx.signal,
    asked: ctx.hooks.define(SessionCompacting),
    load: async (sessionId) => {
      const summary = await store.lastSummary(sessionId);
      const entries = (await store.entries(sessionId, summary?.coversThrough ?? 0, MAX_COMPACTED_ENTRIES)).filter((entry) => entry.kind !== 'summary');
      return summary ? [summary, ...entries] : entries;
    },
  });

const openTitler = (ctx: ExtensionContext, { store, ...deps }: Pick<TitlingDeps, 'agents' | 'llm' | 'changeEvents'> & { readonly store: SessionStore }): Titler =>
  createTitler({
    ...deps,
    journal: ctx.journal,
    actors: ctx.actors,
    log: ctx.log,
    closing: ctx.signal,
    config: () => ctx.config.get(SessionSection),
    beginning: (sessionId) => store.entries(sessionId, 0, TITLED_ENTRIES),
    setTitle: store.setTitle,
    titleOf: store.titleOf,
  });

/** What an earlier life has left, or another process leaves. */
const lookAgain = (ctx: ExtensionContext, catalogue: Catalogue, closing: { sweep(): Promise<void> }): void => {
  const look = async (): Promise<void> => {
    await catalogue.look();
    await closing.sweep();
  };
  ctx.timers.after('look-for-what-was-left', FIRST_POLL_MS, look);
  ctx.timers.every('look-for-what-others-left', POLL_MS, look);
};

/** What a model is sent of a log that ends in a tool call without a result: a result that says so stands behind it. */
function lookAtRepair(): SecurityLook {
  const { messages } = projectEntries(
    [
      { kind: 'user', runId: null, parts: [{ type: 'text', text: 'probe' }], seq: 1, at: '' },
      { kind: 'tool_call', runId: null, callId: 'probe', tool: 'probe', args: {}, seq: 2, at: '' },
    ],
    1_000,
  );
  const isPaired = messages.at(-1)?.parts.some((part) => part.type === 'tool_result' && part.id === 'probe') ?? false;
  return isPaired
    ? { state: 'active', detail: 'A conversation that broke off in a tool call was sent to the model with a result for that call.' }
    : { state: 'failed', detail: 'A conversation that broke off in a tool call was sent to the model without a result.' };
}
