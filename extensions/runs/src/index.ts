import { defineExtension, systemActor } from '@svc/api';
import { agentSendTool } from './agent-send.js';
import { type LoopDeps, driveRun } from './agent-loop.js';
import { createCircularWaits } from './circular-wait.js';
import { RunsSection } from './config.js';
import { createDispatcher } from './dispatcher.js';
import { createEndKeeper, LOOK_EVERY_MS } from './endings.js';
import { reachedBy } from './frames.js';
import { createRepeats } from './repeats.js';
import { messageRoutes } from './routes.js';
import { RUN_KIND, type RunInput, WRITERS } from './run-input.js';
import { createRunsService } from './service.js';
import { SOCKET_ID, broadcastAgents, chatSocket } from './socket.js';
import { cancelUnwatched } from './stopping.js';
import { createWatchKeeper } from './unwatched.js';

const AGENTS_UPDATED_MS = 5_000;

export default defineExtension({
  config: { runs: RunsSection },
  activate(ctx) {
    const agents = ctx.services.require('agents');
    const sessions = ctx.services.require('sessions');
    const llm = ctx.services.require('llm');
    const tools = ctx.services.require('tools');
    const config = () => ctx.config.get('runs');
    const intercept = ctx.hooks.define('message.intercept', { kind: 'ask', policy: 'closed', budgetMs: 10_000 });
    const startHook = ctx.hooks.define('run.start', { kind: 'veto', policy: 'closed', budgetMs: 2_000 });
    const context = ctx.hooks.define('run.context', { kind: 'pipe', policy: 'open', budgetMs: 30_000 });

    const loop: LoopDeps = {
      journal: ctx.journal,
      streams: ctx.streams,
      events: ctx.events,
      clock: ctx.clock,
      ids: ctx.ids,
      log: ctx.log,
      agents,
      sessions,
      llm,
      tools,
      endSurvivors: (key) => ctx.endSurvivors(key),
      get maxIterations() {
        return config().max_iterations;
      },
      isLeaving: () => isLeaving(ctx),
      closing: ctx.signal,
      system: async ({ agent, input, run, actor }) => {
        const base = [agent.manifest.model.system_prompt, input.systemExtra ?? ''].filter((text) => text !== '').join('\n\n');
        return context.isEmpty() ? base : context.call(base, { actor, agent, runId: run.id, text: base });
      },
    };
    const later = (ms: number, fn: () => void | Promise<void>): void => {
      if (!ctx.signal.aborted) ctx.timers.after(ms, fn);
    };
    const watch = createWatchKeeper({ streams: ctx.streams, log: ctx.log, later, cancel: (runId) => cancelUnwatched(loop, runId) });
    const own = createDispatcher({
      journal: ctx.journal,
      streams: ctx.streams,
      log: ctx.log,
      maxActive: () => config().max_active,
      hold: (label) => ctx.hold(label),
      later,
      pause: (ms) => ctx.clock.sleep(ms, ctx.signal).catch(() => undefined), // the generation closes: its runs are handed on
      drive: (run) => {
        if ((run.input as RunInput).unwatched === 'cancel' && run.wait === null) watch.keep(run.id);
        return driveRun(loop, run);
      },
      restore: async (run) => {
        const cutOff = run.steps.some((step) => step.kind === 'model' && step.status === 'intent');
        const here = ctx.streams.here(run.id);
        // Nobody held the run since its topic was written here: it goes on as it is, unless text of an open step has to be voided.
        const isNext = here?.token === run.token - 1 && here.seq > 0 && !here.ended;
        if (isNext && !cutOff) return ctx.streams.open(run.id, { attempt: here.attempt, token: run.token, writers: WRITERS });
        // Numbers begin anew, so the attempt must be one that no client has seen: the token grows with each claim, and 1 was the first life's.
        const reached = reachedBy(run.steps);
        ctx.streams.open(run.id, { attempt: run.token + 1, token: run.token, writers: WRITERS, ...(reached ? { reached } : {}) });
        if (run.steps.length > 0) ctx.streams.publish(run.id, { type: 'phase', data: { phase: 'restarted', attempt: run.attempt } });
      },
    });
    const endings = createEndKeeper({ journal: ctx.journal, streams: ctx.streams, log: ctx.log, later, isDriven: (runId) => own.active.has(runId) });
    ctx.events.on('run.ended', ({ runId }) => endings.ended(runId));
    ctx.timers.every(LOOK_EVERY_MS, () => endings.look());
    const repeats = createRepeats({ journal: ctx.journal, clock: ctx.clock });
    for (const changed of ['provider.changed', 'config.changed', 'agent.changed'] as const) ctx.events.on(changed, () => repeats.forget());
    const runs = createRunsService({ ...loop, dispatcher: own, intercept, startHook, watch, repeats, config });

    ctx.services.provide('runs', runs);
    ctx.routes.add(...messageRoutes({ runs, agents, sessions, journal: ctx.journal, streams: ctx.streams }));
    ctx.sockets.add(chatSocket({ runs, agents, sessions, journal: ctx.journal, streams: ctx.streams, log: ctx.log }));
    ctx.tools.add(agentSendTool({ runs, agents, streams: ctx.streams, circles: createCircularWaits(loop), deadline: (signal) => ctx.clock.sleep(config().child_timeout_secs * 1_000, signal) }));
    ctx.hooks.tap('storage.purge', async ({ agentId, ownerId }) => {
      if (agentId !== undefined) await runs.stop(systemActor('purge'), { agentId }, 'the agent was killed');
      else if (ownerId !== undefined) await runs.stop({ id: 'system:purge', role: 'user', ownerId }, {}, 'the owner left');
    });
    ctx.events.on('agent.changed', async ({ agentId }) => {
      const system = systemActor('runs');
      const agent = await agents.get(system, agentId).catch(() => undefined); // one that is gone has no runs left
      if (agent?.state === 'Suspended') await runs.stop(system, { agentId }, 'the agent was suspended');
    });
    ctx.hooks.tap('metrics.collect', () => [{ name: 'svc_runs_active', help: 'Runs that this process drives', type: 'gauge', value: own.active.size }]);
    ctx.timers.every(AGENTS_UPDATED_MS, () => broadcastAgents({ agents }, ctx.sockets.connections(SOCKET_ID)));
    ctx.journal.onReady(RUN_KIND, () => own.poke());
    ctx.timers.after(0, () => own.poke());
  },
});

/** A draining lifetime lets nobody in: that is how a generation learns that it is being replaced. */
function isLeaving(ctx: { signal: AbortSignal; hold(label: string): { release(): void } | null }): boolean {
  if (ctx.signal.aborted) return true;
  const hold = ctx.hold('step');
  hold?.release();
  return hold === null;
}
