import { AgentRun, MessageIntercept, RunChild, RunContext, RunEnded, RunFrames, RunHalt, RunMessages, RunPrompt, RunRecall, RunStart, Runs, PeerAgents, Uploads } from './contract.js';
import * as contract from './contract.js';
import { Tools } from '@svc/ext-tools/contract';
import { Llm, type LlmService } from '@svc/ext-llm/contract';
import { Sessions } from '@svc/ext-sessions/contract';
import { AgentChanged, Agents } from '@svc/ext-agents/contract';
import { ConfigChanged, type ExtensionContext, type LeasedRun, DoctorCheck, MetricsCollect, StoragePurge, type Streams, atOnce, defineExtension } from '@svc/api';
import { ProviderChanged } from '@svc/ext-providers/contract';
import { agentSendTool } from './agent-send.js';
import { createCheckCircuit } from './loop/check-circuit.js';
import { type LoopDeps, type LoopEnd, driveRun } from './loop/agent-loop.js';
import { createCircularWaits } from './loop/circular-wait.js';
import { poolsOf, QueueSection, RootsSection, RunsSection, ThinkingSection } from './config.js';
import { createFirstSteps } from './loop/first-step.js';
import { createEndKeeper, POLL_EVERY_MS } from './loop/endings.js';
import { reachedBy } from './frames/frames.js';
import { LanguageSetting, languageLine } from './loop/language.js';
import { createPrompts, type Prompts } from './loop/prompt.js';
import { createSent } from './loop/sent.js';
import { createRepeats } from './loop/repeats.js';
import { showFrames } from './frames/projections.js';
import { runMetrics } from './observed/run-metrics.js';
import { createRollingCount } from './observed/rolling-count.js';
import { oneRunRoutes } from './observed/one-run.js';
import { observedRoutes } from './observed/routes.js';
import { runListRoutes } from './observed/run-lists.js';
import { runTimelineRoute } from './observed/run-timeline.js';
import { messageRoutes } from './routes.js';
import { inputOf } from './run-input.js';
import { ratings as ratingTables } from '../migrations/0001_ratings.js';
import { createRatings } from './ratings/ratings.js';
import { RatingRows } from './ratings/rating-rows.js';
import { ratingRoutes } from './ratings/routes.js';
import { createRoom } from './room.js';
import { createRunsService } from './service.js';
import { clientWaitOf } from './client-tools/client-wait.js';
import { serveAreasBelow } from './serving.js';
import { wouldSend } from './loop/would-send.js';
import { slashCommands } from './slash-commands.js';
import { SOCKET_ID, broadcastAgents, chatSocket } from './socket.js';
import { cancelUnwatched } from './stopping.js';
import { createWaitLimit } from './tasks/queue-limits.js';
import { createWatchKeeper } from './unwatched.js';

const AGENTS_UPDATED_MS = 5_000;
const LOOK_FOR_WAITED_MS = 5_000;

export default defineExtension({
  contract,
  tables: [RatingRows],
  migrations: [ratingTables],
  config: [RunsSection, ThinkingSection, QueueSection, RootsSection, LanguageSetting],
  commandWords: [
    {
      word: 'chat',
      hub: 'chat',
      summary: 'chat with an agent',
      usage: 'chat [AGENT]',
      order: 20,
      module: 'chat',
      synonyms: ['tui', 'agent chat'].map((word) => ({ word, means: 'chat', runs: true, takesArguments: true })),
    },
    {
      word: 'message',
      hub: 'chat',
      summary: 'send one message, print the answer',
      usage: 'message AGENT TEXT…',
      order: 21,
      module: 'message',
      synonyms: [...['ask', 'send', 'agent message'].map((word) => ({ word, means: 'message', runs: true, takesArguments: true })), { word: 'agent --message', means: 'message AGENT TEXT' }],
    },
  ],
  activate(ctx) {
    const agents = ctx.services.require(Agents);
    const sessions = ctx.services.require(Sessions);
    const llm = ctx.services.require(Llm);
    const tools = ctx.services.require(Tools);
    const uploads = ctx.services.optional(Uploads);
    const config = () => ctx.config.get(RunsSection);
    const limits = () => ctx.config.get(QueueSection);
    const intercept = ctx.hooks.define(MessageIntercept);
    const startHook = ctx.hooks.define(RunStart);

    const toolCalls = createRollingCount(ctx.clock);
    const checks = createCheckCircuit(ctx.clock);
    const sent = createSent();
    const loop: LoopDeps = {
      checks,
      toolCalls,
      journal: ctx.journal,
      streams: ctx.streams,
      events: ctx.events,
      clock: ctx.clock,
      ids: ctx.ids,
      log: ctx.log,
      actors: ctx.actors,
      agents,
      sessions,
      llm,
      tools,
      uploads,
      halt: ctx.hooks.define(RunHalt),
      roots: () => ctx.config.get(RootsSection),
      endSurvivors: (key) => ctx.endSurvivors(key),
      clientToolsSecs: () => config().client_tools_timeout_secs,
      get maxIterations() {
        return config().max_iterations;
      },
      get maxMessages() {
        return config().max_history_messages;
      },
      get thinking() {
        return ctx.config.get(ThinkingSection);
      },
      isLeaving: () => isLeaving(ctx),
      closing: ctx.signal,
      sent,
      prompts: promptsOf(ctx, llm),
    };
    const later =
      (name: string) =>
      (ms: number, fn: () => void | Promise<void>): void => {
        if (!ctx.signal.aborted) ctx.timers.after(name, ms, fn);
      };
    const watch = createWatchKeeper({ streams: ctx.streams, log: ctx.log, later: later('look-for-unwatched'), cancel: (runId) => cancelUnwatched(loop, runId) });
    const firstSteps = createFirstSteps(loop);
    const worker = ctx.journal.worker(AgentRun, {
      concurrency: () => config().max_active,
      pools: () => poolsOf(limits()),
      drive: (run) =>
        untilHandedOn(ctx.streams, run, async () => {
          if (inputOf(run).unwatched === 'cancel' && (run.wait === null || clientWaitOf(run)?.turn)) watch.keep(run.id);
          return driveRun(loop, run, firstSteps.take(run));
        }),
      resume: async (run) => {
        try {
          showAgain(ctx.streams, run);
        } catch (cause) {
          ctx.streams.letGo(run.id, run.token);
          throw cause;
        }
      },
    });
    const endings = createEndKeeper({ actors: ctx.actors, journal: ctx.journal, streams: ctx.streams, log: ctx.log, later: later('look-at-end'), isDriven: (runId) => worker.active.has(runId) });
    ctx.events.on(RunEnded, ({ runId }) => endings.ended(runId));
    ctx.timers.every('look-for-ends', POLL_EVERY_MS, () => endings.look());
    const repeats = createRepeats({ journal: ctx.journal, clock: ctx.clock });
    for (const changed of [ProviderChanged, ConfigChanged, AgentChanged]) ctx.events.on(changed, () => repeats.forget());
    const runs = createRunsService({ ...loop, worker, room: createRoom(worker, () => config().max_active), firstSteps, intercept, startHook, watch, repeats, config, limits });

    ctx.services.provide(Runs, runs);
    serveAreasBelow(ctx, { runs, agents: atOnce(agents), sent, wouldSend: (agentId) => wouldSend({ ...loop, actors: ctx.actors }, agentId) });
    showFrames(ctx.streams);
    const ratings = createRatings(ctx);
    ctx.routes.add(
      ...messageRoutes({ runs, actors: ctx.actors, agents, sessions, journal: ctx.journal, streams: ctx.streams }),
      ...observedRoutes({ agents, sessions, llm, journal: ctx.journal, clock: ctx.clock }),
      ...runListRoutes({ agents, sessions, journal: ctx.journal, ratings }),
      ...ratingRoutes({ agents, sessions, journal: ctx.journal, ratings, clock: ctx.clock }),
      runTimelineRoute({ agents, journal: ctx.journal, clock: ctx.clock }),
      ...oneRunRoutes({ agents, journal: ctx.journal, runs }),
    );
    ctx.sockets.add(chatSocket({ runs, actors: ctx.actors, agents, sessions, journal: ctx.journal, streams: ctx.streams, log: ctx.log }));
    const deadline = (signal: AbortSignal) => ctx.clock.sleep(config().child_timeout_secs * 1_000, signal);
    ctx.tools.add(agentSendTool({ ctx, child: ctx.hooks.define(RunChild), runs, agents, deadline, peers: ctx.services.optional(PeerAgents), circles: createCircularWaits(loop) }));
    ctx.slashCommands.add(...slashCommands({ agents, sessions, llm, runs, commit: (writes) => ctx.db.commit(writes) }));
    ctx.hooks.tap(StoragePurge, async ({ agentId, ownerId }) => {
      if (agentId !== undefined) await runs.stop(ctx.actors.system('purge'), { agentId }, 'the agent was killed');
      else if (ownerId !== undefined) await runs.stop(ctx.actors.only('purge', ownerId), {}, 'the owner left');
    });
    ctx.events.on(AgentChanged, async ({ agentId }) => {
      const system = ctx.actors.system('suspended agents');
      const agent = await agents.find(system, agentId); // one that is gone has no runs left
      if (agent?.state === 'Suspended') await runs.stop(system, { agentId }, 'the agent was suspended');
    });
    ctx.hooks.tap(DoctorCheck, checks.findings);
    ctx.hooks.tap(MetricsCollect, () => runMetrics({ runs, actors: ctx.actors, toolCalls, driven: worker.active.size }));
    const endWaited = createWaitLimit(loop);
    ctx.timers.every('end-what-waited-too-long', LOOK_FOR_WAITED_MS, () => endWaited(limits()));
    ctx.timers.every('tell-agents', AGENTS_UPDATED_MS, () => broadcastAgents({ agents }, ctx.sockets.connections(SOCKET_ID)));
  },
});

/** What a client may already have seen of a run that begins another attempt. */
function showAgain(streams: Streams, run: LeasedRun): void {
  const cutOff = run.steps.some((step) => step.kind === 'model' && step.status === 'intent');
  const here = streams.here(run.id);
  // Nobody held the run since its topic was written here: it goes on as it is, unless text of an open step has to be voided.
  const isNext = here?.token === run.token - 1 && here.seq > 0 && !here.ended;
  if (isNext && !cutOff) {
    streams.open(RunFrames, run.id, { attempt: here.attempt, token: run.token });
    return;
  }
  // Numbers begin anew, so the attempt must be one that no client has seen: the token grows with each claim, and 1 was the first life's.
  const reached = reachedBy(run.steps);
  streams.open(RunFrames, run.id, { attempt: run.token + 1, token: run.token, ...(reached ? { reached } : {}) });
  if (run.steps.length > 0) streams.publish(RunFrames, run.id, 'phase', { phase: 'restarted', attempt: run.attempt });
}

/** Whoever claims a run that has not ended here writes its topic, perhaps in another process. */
async function untilHandedOn(streams: Pick<Streams, 'letGo'>, run: LeasedRun, drive: () => Promise<LoopEnd>): Promise<void> {
  let end: LoopEnd | undefined;
  try {
    end = await drive();
  } finally {
    if (end !== 'ended') streams.letGo(run.id, run.token);
  }
}

/** A draining lifetime lets nobody in: that is how a generation learns that it is being replaced. */
function isLeaving(ctx: { signal: AbortSignal; hold(label: string): { release(): void } | null }): boolean {
  if (ctx.signal.aborted) return true;
  const hold = ctx.hold('step');
  hold?.release();
  return hold === null;
}

const promptsOf = (ctx: ExtensionContext, llm: LlmService): Prompts =>
  createPrompts({
    base: ctx.hooks.define(RunPrompt),
    context: ctx.hooks.define(RunContext),
    recall: ctx.hooks.define(RunRecall),
    messages: ctx.hooks.define(RunMessages),
    llm,
    log: ctx.log,
    language: () => languageLine(ctx.config.get(LanguageSetting)),
    maxRecallTokens: () => ctx.config.get(RunsSection).recall_max_tokens,
  });
