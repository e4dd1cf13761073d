import { ErrorBody, Type, defineExtension, defineRoute, reply } from '@svc/api';
import { init } from '../migrations/0001_init.js';
import { COMPACTION_KIND, createCompactor } from './compaction.js';
import type {} from './contract.js';
import { History, historyOf } from './history.js';
import { projectEntries } from './projection.js';
import { createSessionsService } from './service.js';
import { createSessionStore } from './store.js';

/** Entries a history answer shows at most, newest kept. */
const MAX_HISTORY_ENTRIES = 5_000;

export default defineExtension({
  migrations: [init],
  activate(ctx) {
    const store = createSessionStore(ctx.db);
    const agents = ctx.services.require('agents');
    const { forget, ...sessions } = createSessionsService({ store, clock: ctx.clock, ids: ctx.ids, projected: (...seen) => compactor.consider(...seen) });
    const compactor = createCompactor({
      journal: ctx.journal,
      sessions,
      agents,
      llm: ctx.services.optional('llm'),
      log: ctx.log,
      hold: (label) => ctx.hold(label),
      closing: ctx.signal,
      forget,
      load: async (sessionId) => {
        const summary = await store.lastSummary(sessionId);
        const entries = (await store.entries(sessionId, summary?.coversThrough ?? 0, MAX_HISTORY_ENTRIES)).filter((entry) => entry.kind !== 'summary');
        return summary ? [summary, ...entries] : entries;
      },
    });
    ctx.services.provide('sessions', sessions);
    ctx.journal.onReady(COMPACTION_KIND, () => compactor.resume());
    ctx.timers.after(0, () => compactor.resume());
    ctx.routes.add(
      defineRoute({
        id: 'sessions.current',
        method: 'GET',
        path: '/api/agents/{id}/session',
        summary: "The agent's current conversation",
        auth: 'bearer',
        permission: 'sessions.read',
        cost: 2,
        params: Type.Object({ id: Type.String() }),
        query: Type.Object({ session_id: Type.Optional(Type.String()) }),
        responses: { 200: History, 400: ErrorBody, 404: ErrorBody },
        handler: async (req) => {
          const agent = await agents.get(req.actor, req.params.id);
          const ref = await sessions.ensure(req.actor, agent.id, req.query.session_id ?? agent.sessionId);
          const row = ref.seq === 0 ? undefined : await store.find(req.actor, ref.id);
          const entries = ref.seq === 0 ? [] : await store.entries(ref.id, Math.max(0, ref.seq - MAX_HISTORY_ENTRIES), MAX_HISTORY_ENTRIES);
          return reply(200, historyOf({ id: ref.id, agentId: agent.id, label: row?.label ?? null }, entries));
        },
      }),
    );
    ctx.hooks.tap('storage.purge', async ({ agentId, ownerId }) => {
      if (agentId !== undefined) await store.purgeAgent(agentId);
      else if (ownerId !== undefined) await store.purgeOwner(ownerId);
    });
    ctx.hooks.tap('security.report', () => ({ name: 'session_repair', state: repairWorks() ? 'active' : 'failed', detail: 'a call without a result is answered in the projection' }));
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
