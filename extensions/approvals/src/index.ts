import { defineExtension, matchesAny, StoragePurge, ToolBefore, ToolStart } from '@svc/api';
import { Agents } from '@svc/ext-agents/contract';
import { RunChanged, RunEnded } from '@svc/ext-runs/contract';
import { Tools } from '@svc/ext-tools/contract';
import { Llm } from '@svc/ext-llm/contract';
import { Sessions } from '@svc/ext-sessions/contract';
import { approvalTables } from '../migrations/0001_tables.js';
import { commands } from './commands.js';
import { ApprovalSection, SecondFactor } from './config.js';
import * as contract from './contract.js';
import { isInUse } from './policy/rules.js';
import { createAsShown } from './requests/as-shown.js';
import { askFor, type AskingDeps, createAsking } from './requests/asking.js';
import { createRequestStore } from './requests/store.js';
import { createTimeouts } from './requests/timeouts.js';
import { createReviews } from './review/reviews.js';
import { questionOf } from './requests/in-words.js';
import { requestRoutes } from './routes/request-routes.js';
import { approvalSlashCommands } from './slash-commands.js';
import { totpRoutes } from './routes/totp-routes.js';
import { createTotpStore } from './totp/store.js';
import { createTotp } from './totp/totp.js';

const SWEEP_MS = 10_000;
const PRUNE_MS = 3_600_000;
const DAY_MS = 86_400_000;

export default defineExtension({
  contract,
  tables: [contract.RequestRows, contract.GrantRows, contract.TotpRows, contract.AttemptRows, contract.RecoveryRows],
  migrations: [approvalTables],
  config: [ApprovalSection, SecondFactor],
  commandWords: [
    {
      word: 'approvals',
      summary: 'tool calls that wait for you',
      usage: 'approvals list|show|approve|reject|totp|…',
      order: 22,
      module: 'approvals',
      synonyms: [{ word: 'approval', means: 'approvals' }],
    },
  ],
  commands,
  activate(ctx) {
    const { clock, ids, log, actors, journal, secrets } = ctx;
    const agents = ctx.services.require(Agents);
    const tools = ctx.services.require(Tools);
    const settings = () => ctx.config.get(ApprovalSection);
    const isTotp = () => ctx.config.get(SecondFactor) === 'totp';
    const store = createRequestStore(ctx.db, clock);
    const timeouts = createTimeouts({ ctx, actors, journal, clock, store, log, settings });
    const totp = createTotp({
      db: ctx.db,
      store: createTotpStore(ctx.db, clock),
      secrets,
      ids,
      clock,
      issuer: () => settings().totp_issuer,
      graceMs: () => settings().totp_grace_period_secs * 1_000,
      isEnforced: isTotp,
    });
    const needsCode = (tool: string): boolean => isTotp() && (settings().totp_tools.length === 0 || matchesAny(settings().totp_tools, tool));
    const [llm, sessions] = [ctx.services.optional(Llm), ctx.services.optional(Sessions)];
    const reviews = createReviews({ ctx, actors, clock, store, timeouts, log, settings, needsCode, agents, closing: ctx.signal, llm: () => llm.value, sessions: () => sessions.value });
    const asking: AskingDeps = { ctx, clock, store, timeouts, agents, tools, settings, reviews };
    ctx.hooks.tap(ToolBefore, createAsking(asking), { stage: 0 });
    ctx.services.provide(contract.Approvals, {
      ask: async (request, why) => (await askFor(asking, request, why)) ?? {},
      hasAuthenticator: async (actor) => (await totp.status(actor)).confirmed,
      useCode: (actor, code) => totp.use(actor, code),
      question: async (actor, id) => {
        const row = await store.find(actor, id);
        return row?.state === 'pending' ? questionOf(row) : undefined;
      },
      waiting: async (actor) => (await store.list(actor, { state: 'pending' }, { limit: 1, offset: 0 })).total,
    });
    ctx.hooks.tap(ToolStart, createAsShown({ store, tools, agents, settings }));
    const deciding = { ctx, clock, ids, store, timeouts, totp, needsCode, remembersSession: () => settings().cache_approvals_per_session };
    ctx.slashCommands.add(...approvalSlashCommands(deciding));
    ctx.routes.add(
      ...requestRoutes({
        ...deciding,
        agents,
        isAsking: () => isInUse(settings()),
        timeoutSecs: () => settings().timeout_secs,
      }),
      ...totpRoutes(totp),
    );
    ctx.events.on(RunChanged, ({ runId, status }) => (status === 'waiting' ? timeouts.runWaits(runId) : undefined));
    // One that is done has waited for everything that it asked.
    ctx.events.on(RunEnded, ({ runId, status }) => (status === 'done' ? undefined : timeouts.runEnded(runId)));
    ctx.timers.every('look-at-requests', SWEEP_MS, async () => {
      await reviews.sweep();
      await timeouts.sweep();
    });
    ctx.timers.every('prune-decisions', PRUNE_MS, async () => {
      await ctx.db.commit([store.prune(new Date(clock.now() - settings().audit_retention_days * DAY_MS).toISOString()), store.pruneGrants()]);
    });
    ctx.hooks.tap(StoragePurge, async ({ agentId, ownerId }) => {
      if (agentId !== undefined) await timeouts.agentGone(agentId);
      if (ownerId !== undefined) await totp.forget(ownerId);
    });
  },
});
