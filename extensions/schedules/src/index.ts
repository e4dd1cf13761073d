import { AgentChanged, Agents, AgentSpawned, AgentSpawning } from '@svc/ext-agents/contract';
import { Channels } from '@svc/ext-channels/contract';
import { NoticesServed } from '@svc/ext-notices/contract';
import { createRunEnds, RunEnded, Runs } from '@svc/ext-runs/contract';
import { Sessions } from '@svc/ext-sessions/contract';
import { defineExtension, isSvcError, KernelReady } from '@svc/api';
import { scheduleTables } from '../migrations/0001_init.js';
import { fireDeliveries } from '../migrations/0002_fire-deliveries.js';
import { commands, commandWords } from './commands.js';
import { CronSessionMessages, CronSessionTokens, MaxCronJobs, SchedulesSection } from './config.js';
import * as contract from './contract.js';
import { createConversations } from './conversations.js';
import { createDeliveries } from './delivery.js';
import { createFires } from './fires.js';
import { createJobs } from './jobs.js';
import { createManifestJobs } from './manifest-job.js';
import { createNotify } from './notify.js';
import { createPlanner } from './plan.js';
import { cronRoutes } from './routes/cron.js';
import { scheduleRoutes } from './routes/schedules.js';
import { servedJobs } from './service.js';
import { jobTools } from './tools.js';
import { createFireWaits } from './waiting.js';

const TICK_MS = 1_000;
const PRUNE_MS = 3_600_000;
const DAY_MS = 86_400_000;

export default defineExtension({
  contract,
  tables: [contract.JobRows, contract.FireRows, contract.CronSessionRows, contract.FireDeliveryRows, contract.JobOriginRows],
  migrations: [scheduleTables, fireDeliveries],
  config: [SchedulesSection, MaxCronJobs, CronSessionMessages, CronSessionTokens],
  commands,
  commandWords,
  activate(ctx) {
    const { db, events, journal, clock, ids, log, actors, timers } = ctx;
    const agents = ctx.services.require(Agents);
    const runs = ctx.services.require(Runs);
    const sessions = ctx.services.require(Sessions);
    const channels = ctx.services.optional(Channels);
    const workflows = ctx.hooks.define(contract.StartWorkflow);
    const planner = createPlanner(timers);
    const settings = () => ctx.config.get(SchedulesSection);
    const jobs = createJobs({
      db,
      events,
      clock,
      ids,
      agents,
      workflows,
      planner,
      channels,
      refusalOf: (url) => ctx.egress.refusal(url),
      limits: () => ({ all: ctx.config.get(MaxCronJobs), perAgent: settings().max_jobs_per_agent }),
    });
    const conversations = createConversations({ db, ids, sessions, limits: () => ({ messages: ctx.config.get(CronSessionMessages), tokens: ctx.config.get(CronSessionTokens) }) });
    const deliveries = createDeliveries({ db, journal, clock, events, log, actors, channels, fetch: ctx.fetch, closing: ctx.signal });
    const fires = createFires({
      db,
      events,
      journal,
      clock,
      ids,
      log,
      actors,
      agents,
      runs,
      workflows,
      planner,
      conversations,
      deliveries,
      ends: createRunEnds((ended) => events.on(RunEnded, ended), log, 'A fire was not woken at the end of its run; it looks again within a minute.'),
      concurrency: () => settings().concurrency,
      closing: ctx.signal,
      notify: createNotify({ notices: ctx.services.optional(NoticesServed), agents, actors, log, closing: ctx.signal }),
    });
    const ofManifests = createManifestJobs({ actors, agents, clock, jobs, log, planner });
    ctx.hooks.tap(AgentSpawning, ({ manifest }) => ofManifests.verdict(manifest));
    for (const event of [AgentSpawned, AgentChanged]) events.on(event, ({ ownerId, agentId }) => ofManifests.reconcile(ownerId, agentId));
    ctx.services.provide(contract.Schedules, servedJobs({ db, jobs }));
    const waits = createFireWaits({ db, events: ctx.events, clock, runs });
    ctx.hooks.tap(KernelReady, () => fires.look());
    ctx.events.on(contract.JobChanged, () => fires.changed());
    ctx.timers.every('fire-jobs', TICK_MS, async () => {
      await fires.tick();
    });
    ctx.timers.every('prune-fires', PRUNE_MS, async () => {
      const before = new Date(clock.now() - settings().keep_fires_days * DAY_MS).toISOString();
      await db.commit([
        db.remove('fires', { fired_at: { lt: before }, status: ['ok', 'error', 'skipped'] }, { expect: 'any' }),
        db.remove('fire_deliveries', { updated_at: { lt: before }, status: ['sent', 'failed', 'unknown'] }, { expect: 'any' }),
      ]);
    });
    const conversation: Parameters<typeof cronRoutes>[0]['conversation'] = async (actor, job) => {
      const row = job.agent_id === null ? undefined : await db.as(actor).first<{ session_id: string }>({ from: 'cron_sessions', where: { agent_id: job.agent_id } });
      const agent = row && job.agent_id !== null ? await agents.find(actor, job.agent_id) : undefined;
      if (!row || !agent) return { messages: 0, tokens: 0 };
      const found = await Promise.all([sessions.get(actor, row.session_id), sessions.context(actor, { id: agent.id, sessionId: agent.sessionId }, row.session_id)]).catch((error: unknown) => {
        if (isSvcError(error) && error.status === 404) return undefined;
        throw error;
      });
      return found ? { messages: found[0].seq, tokens: found[1].usedTokens } : { messages: 0, tokens: 0 };
    };
    const deps = { jobs, fires, waits, db, clock, timers, conversation };
    ctx.routes.add(...scheduleRoutes(deps), ...cronRoutes(deps));
    ctx.tools.add(...jobTools({ jobs, channels }));
  },
});
