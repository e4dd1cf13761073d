/** What runs declares to other areas: the agent loop. Submit a message, follow its topic, stop it. */
import {
  Actor,
  type FrameData,
  type FrameOf,
  Need,
  Nullable,
  OneOf,
  Origin,
  type Plain,
  type Service,
  RUN_CAUSES,
  Type,
  defineAsk,
  defineEvent,
  defineFrames,
  defineGather,
  definePipe,
  defineService,
  defineStep,
  defineVeto,
  defineWork,
  method,
} from '@svc/api';
import { Agent } from '@svc/ext-agents/contract';
import { Attempt, LeftOut, ModelMessage, Parameters } from '@svc/ext-llm/contract';
import { Part, Via } from '@svc/ext-sessions/contract';
import { ClientAnswer, ClientCall, ClientCalls, ClientResult, ClientTools } from './client-tools/shapes.js';
import { Attachment } from './uploads.js';

export { Via } from '@svc/ext-sessions/contract';
export { stepOfCall } from './client-tools/client-wait.js';
export type { ClientAnswer, ClientCalls, ClientResult, ClientTools } from './client-tools/shapes.js';
export { messagesFault } from './loop/shaped-messages.js';
export { createRunEnds, type RunEnds, untilChange, untilEnd, wakeAsleep } from './run-ends.js';
export { PeerAgents, type PeerAgentsService } from './peer-agents.js';
export { Attachment, Uploads, type UploadsService } from './uploads.js';

export const Channel = OneOf(['rest', 'sse', 'ws', 'openai', 'agent', 'cli', 'internal'], { description: '`internal`: an area of the daemon sent it' });
export type Channel = Plain<typeof Channel>;

/** Why there is a run. */
export const Cause = Type.Object({ kind: OneOf(RUN_CAUSES), id: Type.Optional(Type.String({ maxLength: 200, description: 'Of the agent, the job, the webhook …' })) });
export type Cause = Plain<typeof Cause>;

export const RunDraft = Type.Object({
  agentId: Type.String(),
  sessionId: Type.Optional(Type.String()),
  parts: Type.Array(Part),
  attachments: Type.Optional(Type.Array(Attachment, { description: 'Uploads that the actor may see; their content follows the parts' })),
  door: Channel,
  via: Type.Optional(Via),
  key: Type.Optional(Type.String({ description: 'Idempotency key: the same key and body is the same run' })),
  isResend: Type.Optional(Type.Boolean({ description: 'An automatic retry by the client: attach to the run that the first request started, if there is one' })),
  systemExtra: Type.Optional(Type.String({ description: 'Prepended to the system prompt of this run only' })),
  maxTokens: Type.Optional(Type.Number()),
  temperature: Type.Optional(Type.Number()),
  parameters: Type.Optional(Parameters),
  history: Type.Optional(
    Type.Array(
      Type.Object({
        role: OneOf(['user', 'assistant']),
        parts: Type.Array(Part),
        calls: Type.Optional(Type.Array(ClientCall, { description: 'assistant: calls of tools of the sender' })),
        results: Type.Optional(Type.Array(Type.Object({ callId: Type.String(), tool: Type.String(), content: Type.String() }), { description: 'user: what these calls gave' })),
        origin: Type.Optional(Origin),
      }),
      { description: 'The whole history, which may end with results; then there are no parts. The run neither reads nor joins a conversation, waits for no other run, and can use tools' },
    ),
  ),
  clientTools: Type.Optional(ClientTools),
  clientResults: Type.Optional(Type.Array(ClientResult, { description: 'Results of calls that wait in this session, which the message takes the place of' })),
  tools: Type.Optional(Type.Array(Type.String(), { description: 'Of the tools of the agent, only these in this run: names, in which `*` stands for any text' })),
  ephemeral: Type.Optional(Type.Boolean({ description: 'A side question: it neither reads nor joins the conversation, and uses no tools. Text that begins with `/btw ` is one too' })),
  incognito: Type.Optional(Type.Boolean({ description: 'It reads the conversation; neither the message nor its answer is stored' })),
  thinking: Type.Optional(Type.Boolean({ description: 'Whether the model thinks before it answers. By default, as set for the session or in the manifest' })),
  showThinking: Type.Optional(Type.Boolean({ description: "Whether to show and store the model's reasoning. The default is the manifest's setting, which is true by default" })),
  depth: Type.Optional(Type.Integer({ description: 'Number of agents above this run' })),
  parentRunId: Type.Optional(Type.String({ description: 'The run that began it, of any kind of work. Its limits and its stop hold for this one, too' })),
  cause: Type.Optional(Cause),
  isPatient: Type.Optional(
    Type.Boolean({
      description: 'Nobody waits for it: where the daemon or the queue has no room it waits, instead of being refused. By default true for what a job, trigger, webhook, workflow, task or goal began',
    }),
  ),
  /** Who wrote the message, if it was not the sender. */
  origin: Type.Optional(Origin),
});
export type RunDraft = Plain<typeof RunDraft>;

export const Submitted = Type.Object({
  runId: Type.String(),
  topic: Type.String({ description: 'Where its frames appear' }),
  sessionId: Type.String(),
  replayed: Type.Boolean({ description: 'True when the key named a run that exists' }),
  position: Type.Integer({ description: '0 if it starts immediately' }),
  onDisconnect: OneOf(['finish', 'cancel'], { description: 'What happens to the run 2 s after its last client disconnects' }),
  leftOut: Type.Optional(Type.Array(LeftOut, { description: 'Parameters that will not be sent to the model, as far as known' })),
  after: Type.Optional(Type.String({ description: 'The frame that came last before this answer; what follows it belongs to it' })),
  /** Set if the run already waits for its sender: there is nothing to follow. */
  clientCalls: Type.Optional(ClientCalls),
});
export type Submitted = Plain<typeof Submitted>;

/** What the final frame `done` carries and the run row keeps. */
export const RunResult = Type.Object({
  response: Type.String(),
  input_tokens: Type.Integer(),
  output_tokens: Type.Integer(),
  iterations: Type.Integer(),
  cost_usd: Type.Number(),
  session_id: Type.String(),
  finish: OneOf(['stop', 'length', 'content_filter', 'cancelled', 'tool_calls'], { description: '`tool_calls`: a stateless request called tools of its sender' }),
  provider: Type.String(),
  model: Type.String(),
  left_out: Type.Optional(Type.Array(LeftOut, { description: 'What of the parameters of the request the model was asked without' })),
  client: Type.Optional(ClientCalls),
  answer_usage: Type.Optional(
    Type.Object({ input_tokens: Type.Integer(), output_tokens: Type.Integer() }, { description: 'Of the model calls since the sender gave results of its tools. Missing if it never did' }),
  ),
});
export type RunResult = Plain<typeof RunResult>;

/** An answer that needs no model: a slash command's. With `prompt` the message goes to the agent instead. */
export const CommandAnswer = Type.Object({
  command: Type.String(),
  message: Type.String(),
  data: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  prompt: Type.Optional(Type.String({ maxLength: 200_000, description: 'Instructions that the message names: they stand in the prompt of its run' })),
});
export type CommandAnswer = Plain<typeof CommandAnswer>;

const Phase = Type.Object({
  phase: OneOf(['queued', 'thinking', 'waiting', 'retrying', 'restarted', 'command', 'adjusted'], {
    description:
      '`restarted`: discard the text after the last tool event; it is sent again. `detail` says why, where it is not a restart of the daemon. `retrying`: `detail` says why and when the model is called again. `adjusted`: `left_out` lists parameters that were not sent to the model. `waiting` with `client`: the run waits for results of tools that its sender runs',
  }),
  detail: Type.Optional(Type.String()),
  attempt: Type.Optional(Type.Integer()),
  approval_id: Type.Optional(Type.String()),
  client: Type.Optional(ClientCalls),
  left_out: Type.Optional(Type.Array(LeftOut)),
});
const Failure = Type.Object(
  {
    error: Type.String(),
    code: Type.String(),
    status: Type.Integer({ description: 'The HTTP status of the same failure at the blocking route' }),
    hint: Type.Optional(Type.String()),
    retry_after_secs: Type.Optional(Type.Number()),
    attempts: Type.Optional(Type.Array(Attempt)),
  },
  { description: 'The last event, in place of done' },
);
/** Its `command` stands beside the result where a slash command answered; streams show only `usage` and `result`. */
const Done = Type.Object(
  {
    done: Type.Literal(true),
    usage: Type.Object({ input_tokens: Type.Integer(), output_tokens: Type.Integer() }),
    result: RunResult,
    command: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  },
  { description: 'The last event' },
);

/** What a run's topic carries. Exactly one of `done` and `error` ends it. */
export const RunFrames = defineFrames('runs.frames', '1.3.0', {
  frames: {
    phase: Phase,
    thinking_delta: Type.Object(
      { content: Type.String() },
      { description: "A piece of the model's thinking, if the model shows it. Discard the pieces since the last tool event after a `retrying` or `restarted` phase" },
    ),
    chunk: Type.Object({ content: Type.String(), done: Type.Literal(false) }),
    tool_use: Type.Object({ tool: Type.String(), id: Type.String() }),
    tool_input: Type.Object(
      { tool: Type.String(), id: Type.String(), input: Type.Unknown({ description: 'The arguments of the call' }) },
      { description: 'Follows tool_use. Event streams leave it out: their tool_result has the input' },
    ),
    tool_result: Type.Object({
      tool: Type.String(),
      id: Type.String(),
      input: Type.Unknown({ description: "The arguments of the call, by the tool's schema" }),
      is_error: Type.Boolean(),
      result: Type.String(),
      files: Type.Optional(
        Type.Array(Type.Object({ file_id: Type.String({ description: 'An upload: `GET /api/uploads/{file_id}`' }), filename: Type.String(), content_type: Type.String() }), {
          description: 'Files that the call gave',
        }),
      ),
      missing: Type.Optional(Type.Array(Need, { description: 'Missing permissions, as a person can grant them under `[capabilities]`' })),
    }),
    done: Done,
    error: Failure,
  },
  final: ['done', 'error'],
  joins: { thinking_delta: 'content', chunk: 'content' },
});
export type RunFrames = FrameData<typeof RunFrames>;
export type RunFrame = FrameOf<typeof RunFrames>;

const RunStatus = OneOf(['queued', 'running', 'waiting', 'done', 'failed', 'cancelled']);

export const RunInfo = Type.Object({
  id: Type.String(),
  agentId: Type.String(),
  sessionId: Type.String(),
  status: RunStatus,
  createdAt: Type.String(),
  begunAt: Nullable(Type.String(), { description: 'When a daemon first drove it; null while it is queued for the first time' }),
  result: Nullable(RunResult),
  error: Nullable(Type.Object({ code: Type.String(), message: Type.String() })),
});
export type RunInfo = Plain<typeof RunInfo>;

/** A run that no other run began: what somebody asked of an agent. */
export const Task = Type.Object({
  ...RunInfo.properties,
  ownerId: Type.String(),
  words: Type.String({ description: 'How the message begins; empty if it is not stored' }),
  channel: Type.String({ description: 'As `via` names it, else how the request came' }),
  via: Nullable(Via),
  cause: Cause,
  startedAt: Nullable(Type.String(), { description: 'When its first step began' }),
  endedAt: Nullable(Type.String()),
  waitsFor: Nullable(Type.String(), { description: 'What a waiting run waits for' }),
});
export type Task = Plain<typeof Task>;

const Count = Type.Integer();
const ByStatus = Type.Object({ queued: Count, running: Count, waiting: Count, done: Count, failed: Count, cancelled: Count });

export const LANES = ['main', 'cron', 'subagent', 'trigger'] as const;

export const QueueStanding = Type.Object({
  lanes: Type.Array(
    Type.Object({
      lane: OneOf(LANES, { description: '`cron` and `trigger`: runs that wait for room of their own. Of the rest, `subagent`: runs that another run began' }),
      capacity: Type.Integer({ description: 'How many of them each daemon drives at once' }),
      queued: Count,
      running: Count,
      waiting: Count,
      lastMinute: Type.Object({ done: Count, failed: Count, cancelled: Count }),
    }),
  ),
  capacity: Type.Integer({ description: 'How many runs each daemon drives at once, of all lanes' }),
  limits: Type.Object({ perAgent: Count, global: Count, ttlSecs: Count, pools: Type.Object({ cron: Count, trigger: Count }) }, { description: 'From [queue]; 0: no limit' }),
});
export type QueueStanding = Plain<typeof QueueStanding>;

export const Runs = defineService('runs', '1.6.0', {
  submit: method([Actor, RunDraft], Submitted, {
    what: 'sends messages to your agents, which then act on them with everything you granted to those agents (commands, files, hosts)',
    changes: true,
  }),
  /**
   * Results of tools of the sender, for the run that waits for them. The same results again give the same answer. Throws
   * `run_call_not_found`, `run_results_missing`, `run_results_twice`, `run_results_mixed`, `run_calls_answered`, `run_calls_over`, `run_result_too_large`.
   */
  answerCalls: method([Actor, ClientAnswer], Submitted, {
    what: 'sends messages to your agents, which then act on them with everything you granted to those agents (commands, files, hosts)',
    changes: true,
  }),
  get: method([Actor, Type.String()], RunInfo, { what: 'reads what your agents answered' }),
  list: method([Actor, Type.Object({ agentId: Type.Optional(Type.String()), active: Type.Optional(Type.Boolean()), limit: Type.Optional(Type.Integer()) })], Type.Array(RunInfo), {
    what: 'reads what your agents answered',
  }),
  /** Newest first. `next` is the `before` of the next page. */
  tasks: method(
    [Actor, Type.Object({ status: Type.Optional(Type.Array(RunStatus)), before: Type.Optional(Type.String()), limit: Type.Integer() })],
    Type.Object({ tasks: Type.Array(Task), next: Nullable(Type.String()) }),
    { what: 'reads what your agents were asked and answered' },
  ),
  /** Undefined for one that is not there, that the actor may not see, or that another run began. */
  task: method([Actor, Type.String()], Type.Union([Task, Type.Undefined()]), { what: 'reads what your agents were asked and answered' }),
  taskCounts: method([Actor], ByStatus, { what: 'reads how many runs your agents have' }),
  /** Of runs that the actor may see. */
  queue: method([Actor], QueueStanding, { what: 'reads how many runs your agents have' }),
  /**
   * Runs an ended task again, as a new run with the same message. A task has one retry: whoever asks again gets the same run.
   * Throws `run_not_found`, `run_not_ended`, `run_input_gone`, and what `submit` throws.
   */
  retry: method([Actor, Type.String()], Type.Object({ runId: Type.String(), replayed: Type.Boolean() }), {
    what: 'sends messages to your agents, which then act on them with everything you granted to those agents (commands, files, hosts)',
    changes: true,
  }),
  /** Cancels what runs, waits or is queued; by any channel. Answers how many. */
  stop: method(
    [
      Actor,
      Type.Object({
        runId: Type.Optional(Type.String()),
        agentId: Type.Optional(Type.String()),
        rootId: Type.Optional(Type.String({ description: 'All that this run led to, and itself: it may be work of another kind' })),
      }),
      Type.String({ description: 'Why' }),
    ],
    Type.Integer(),
    {
      what: 'stops what your agents do',
      changes: true,
    },
  ),
});
export type RunsService = Service<typeof Runs>;

/** The work of one message, from its acceptance to its answer. What it keeps as input is runs' own matter. */
export const AgentRun = defineWork('agent', '1.0.0', { input: Type.Unknown(), result: RunResult });

/** Asked before anything is queued: a slash command answers here. */
export const MessageIntercept = defineAsk('message.intercept', '1.2.0', {
  policy: 'closed',
  budgetMs: 10_000,
  remote: true,
  subject: Type.Object({ actor: Actor, agent: Agent, sessionId: Type.String(), text: Type.String(), door: Channel, via: Type.Optional(Via) }),
  answer: CommandAnswer,
});
export const RunStart = defineVeto('run.start', '1.0.0', { policy: 'closed', budgetMs: 2_000, remote: true, subject: Type.Object({ actor: Actor, agent: Agent, draft: RunDraft }) });
/** What a prompt is asked for. */
const Asked = {
  actor: Actor,
  agent: Agent,
  runId: Type.String(),
  sessionId: Type.String({ description: 'The conversation, also of a message beside it' }),
  message: Type.String({ description: 'The words of the message, without its files' }),
  via: Type.Optional(Via),
  peerId: Type.Optional(Type.String({ description: 'The sender in the channel, where a channel names one' })),
};
const MessageKind = OneOf(['normal', 'side_question', 'incognito', 'stateless'], {
  description: 'Of a side question, an incognito message and a stateless request nothing is stored once the run ends',
});
/** Asked once for each run: who answers replaces the instructions of the manifest. Identity files, goals and others still add to them. */
export const RunPrompt = defineAsk('run.prompt', '1.0.0', {
  policy: 'open',
  budgetMs: 5_000,
  remote: true,
  subject: Type.Object(Asked),
  answer: Type.Object({
    text: Type.String({ maxLength: 200_000 }),
    source: Type.Optional(Type.String({ maxLength: 200, description: 'What it is known by, such as the arm of an experiment; traces show it' })),
  }),
});
/** Adds to the system prompt of a run. Asked once for each run; the answer stands until the run ends, also after a restart. */
export const RunContext = definePipe('run.context', '1.1.0', {
  policy: 'open',
  budgetMs: 35_000,
  remote: true,
  value: Type.String(),
  context: Type.Object({ ...Asked, text: Type.String({ description: 'The prompt before anybody added to it' }) }),
});
export const Recalled = Type.Object({
  id: Type.String({ maxLength: 200, description: 'What the one who remembers knows it by' }),
  text: Type.String(),
  origin: Origin,
});
export type Recalled = Plain<typeof Recalled>;
/** What is known about a question, asked once for each message. It is stored before the question and stays there: later questions find it in the conversation. */
export const RunRecall = defineGather('run.recall', '1.2.0', {
  policy: 'open',
  budgetMs: 35_000,
  remote: true,
  subject: Type.Object({
    ...Asked,
    origin: Type.Optional(Origin),
    kind: MessageKind,
    budgetTokens: Type.Integer({ description: 'For all answers together, the best first: what does not fit is left out. A token is counted as 4 characters' }),
  }),
  answer: Type.Array(Recalled),
});

/**
 * What the model is sent of the conversation, before each call. Nothing of it is stored. What a tap returns is used only if the newest message is
 * unchanged and every tool call has its result (`messagesFault`); otherwise the conversation is sent as it is.
 */
export const RunMessages = definePipe('run.messages', '1.0.0', {
  policy: 'open',
  budgetMs: 35_000,
  remote: true,
  value: Type.Array(ModelMessage),
  context: Type.Object({ ...Asked, kind: MessageKind, system: Type.String(), contextWindowTokens: Type.Number({ description: 'What the model reads at most, its answer included' }) }),
});
/** An agent asks another one and waits: right before the message is sent, and after its answer. */
export const RunChild = defineStep('run.child', '1.0.0', {
  policy: 'open',
  budgetMs: 35_000,
  remote: true,
  subject: Type.Object({
    moment: OneOf(['start', 'end']),
    actor: Actor,
    parentId: Type.String({ description: 'The agent that asks' }),
    childId: Type.String({ description: 'The agent that is asked' }),
    parentRunId: Type.String(),
    sessionId: Type.String({ description: 'The conversation of the agent that asks' }),
    message: Type.String(),
  }),
});

/**
 * A run was stopped, and whoever drives work of another kind that it led to stops that: with `isRoot` all whose root it is, else what it
 * began itself. Answers how much that was.
 */
export const RunHalt = defineGather('run.halt', '1.0.0', {
  policy: 'open',
  budgetMs: 10_000,
  remote: true,
  subject: Type.Object({ actor: Actor, runId: Type.String(), isRoot: Type.Boolean(), why: Type.String() }),
  answer: Type.Integer(),
});

const RunFact = { runId: Type.String(), agentId: Type.String(), sessionId: Type.String({ description: 'The conversation it belongs to' }), ownerId: Type.String() };
const LIVE = { what: 'run', permission: 'runs.read', owner: 'ownerId', id: 'runId', agent: 'agentId', session: 'sessionId' } as const;
/** It was accepted: it begins at once, or `run.changed` says that it is queued. */
export const RunStarted = defineEvent('run.started', '1.1.0', Type.Object(RunFact), { ...LIVE, is: 'running' });
/** It waits its turn, goes on, waits for somebody, or has another step. */
export const RunChanged = defineEvent('run.changed', '1.0.0', Type.Object({ ...RunFact, status: OneOf(['queued', 'running', 'waiting']) }), { ...LIVE, state: 'status' });
/** A person rated its answer, or took that back. */
export const RunRated = defineEvent('run.rated', '1.1.0', Type.Object({ ...RunFact, value: Type.Optional(OneOf(['up', 'down'], { description: 'Missing when a rating was taken back' })) }), {
  ...LIVE,
  is: 'rated',
});
export const RunEnded = defineEvent('run.ended', '1.1.0', Type.Object({ ...RunFact, status: RunStatus }), { ...LIVE, state: 'status' });
/** One agent sent another a message, by a tool or in its name: what follows is the run of that message. */
export const AgentMessaged = defineEvent(
  'agent.messaged',
  '1.0.0',
  Type.Object({
    ownerId: Type.String(),
    runId: Type.String(),
    fromId: Nullable(Type.String(), { description: 'An agent; null for svc itself' }),
    toId: Type.String(),
    text: Type.String({ description: 'How it begins' }),
  }),
);
