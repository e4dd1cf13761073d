import { Llm } from '@svc/ext-llm/contract';
import { Agents } from '@svc/ext-agents/contract';
import { SecurityReport, defineExtension } from '@svc/api';
import { init } from '../migrations/0001_init.js';
import { thinking } from '../migrations/0002_thinking.js';
import { createCompactor } from './compaction.js';
import { Sessions } from './contract.js';
import * as contract from './contract.js';
import { projectEntries } from './projection.js';
import { sessionRoutes } from './routes.js';
import { createSessionsService } from './service.js';
import { createSessionStore } from './store.js';
import { EntryRows, SessionRows } from './tables.js';

/** Entries that one compaction reads at most. */
const MAX_COMPACTED_ENTRIES = 5_000;
const GIVE_BACK_MS = 10_000;

export default defineExtension({
  contract,
  tables: [SessionRows, EntryRows],
  migrations: [init, thinking],
  activate(ctx) {
    const store = createSessionStore(ctx.db);
    const agents = ctx.services.require(Agents);
    const { forget, rest, ...sessions } = createSessionsService({
      store,
      clock: ctx.clock,
      ids: ctx.ids,
      projected: (...seen) => compactor.consider(...seen),
      compactNow: (ref) => compactor.now(ref),
    });
    const compactor = createCompactor({
      journal: ctx.journal,
      sessions,
      agents,
      llm: ctx.services.optional(Llm),
      log: ctx.log,
      hold: (label) => ctx.hold(label),
      closing: ctx.signal,
      forget,
      load: async (sessionId) => {
        const summary = await store.lastSummary(sessionId);
        const entries = (await store.entries(sessionId, summary?.coversThrough ?? 0, MAX_COMPACTED_ENTRIES)).filter((entry) => entry.kind !== 'summary');
        return summary ? [summary, ...entries] : entries;
      },
    });
    ctx.services.provide(Sessions, sessions);
    ctx.timers.every('give-back-logs', GIVE_BACK_MS, rest);
    ctx.routes.add(...sessionRoutes({ sessions, agents, store, commit: (writes) => ctx.db.commit(writes) }));
    ctx.hooks.tap(SecurityReport, () => ({ name: 'session_repair', state: repairWorks() ? 'active' : 'failed', detail: 'a call without a result is answered in the projection' }));
  },
});

/** Projects a log with an unpaired call and looks whether it came out paired. */
function repairWorks(): boolean {
  const { messages } = projectEntries(
    [
      { kind: 'user', runId: null, parts: [{ type: 'text', text: 'probe' }], seq: 1, at: '' },
      { kind: 'tool_call', runId: null, callId: 'probe', tool: 'probe', args: {}, seq: 2, at: '' },
    ],
    1_000,
  );
  return messages.at(-1)?.parts.some((part) => part.type === 'tool_result' && part.id === 'probe') ?? false;
}
