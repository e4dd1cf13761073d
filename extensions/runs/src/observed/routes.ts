/** What can be seen of an agent's work after the fact. */
import { type Clock, type Journal, type JournalRun, Nullable, OneOf, reply, type RouteDecl, routeGroup, type Static, Type, Uuid, UuidText } from '@svc/api';
import type { AgentsService } from '@svc/ext-agents/contract';
import type { LlmService } from '@svc/ext-llm/contract';
import type { SessionsService } from '@svc/ext-sessions/contract';
import { runErrors } from '../errors.js';
import { inputOf, RUN_KIND } from '../run-input.js';
import { AgentFigures, figuresOf } from './agent-figures.js';
import { LogLine, logLines, OUTCOMES } from './log-lines.js';
import { DecisionTrace, RecalledText, RunStep, TracedRun, traceOf } from './traces.js';

export interface ObservedDeps {
  readonly agents: AgentsService;
  readonly sessions: SessionsService;
  readonly llm: LlmService;
  readonly journal: Journal;
  readonly clock: Pick<Clock, 'now'>;
}

const route = routeGroup({ area: 'runs', errors: [404] });
const AgentPath = Type.Object({ id: UuidText('Agent id') });
const DEFAULT_LINES = 100;
const MAX_LINES = 1_000;
const MAX_OFFSET = 20_000;
const DEFAULT_RECEIPTS = 50;
const MAX_RECEIPTS = 500;

export const observedRoutes = (deps: ObservedDeps): RouteDecl[] => [listTraces(deps), getAgentMetrics(deps), listAgentLogs(deps), listDeliveries(deps)];

const listTraces = (deps: ObservedDeps): RouteDecl =>
  route({
    id: 'listAgentTraces',
    method: 'GET',
    path: '/api/agents/{id}/traces',
    summary: "Get a run's decisions: tool calls and steps over time",
    description:
      'Of the newest message of the agent, or of the run that is named. `traces` has one record for each tool call; `steps` has model calls too, with times, tokens and money, as a timeline needs them. ' +
      'An active run shows its steps so far. For side questions and incognito messages, only the names of the tools are stored, not arguments and results.',
    cost: 2,
    params: AgentPath,
    query: Type.Object({ run_id: Type.Optional(Type.String({ format: 'uuid', description: 'A run of the agent; the header x-svc-run of an answer names it' })) }),
    responses: {
      200: Type.Object({
        agent_id: Uuid,
        run: Nullable(TracedRun),
        traces: Type.Array(DecisionTrace),
        recalled: Type.Array(RecalledText, { description: 'What was recalled for the message, before the model was asked' }),
        steps: Type.Array(RunStep),
      }),
    },
    handler: async ({ actor, params, query }) => {
      const agent = await deps.agents.get(actor, params.id);
      const run = query.run_id === undefined ? await newestRun(deps, actor, agent.id) : await deps.journal.get(actor, query.run_id);
      if (query.run_id !== undefined && (run?.kind !== RUN_KIND || run.subject !== agent.id)) throw runErrors.not_found(query.run_id);
      return reply(200, { agent_id: agent.id, ...(run ? await traceOf(deps, actor, run) : { run: null, traces: [], recalled: [], steps: [] }) });
    },
  });

const newestRun = async ({ journal }: ObservedDeps, actor: Parameters<Journal['get']>[0], agentId: string): Promise<JournalRun | undefined> =>
  (await journal.list({ actor, kind: RUN_KIND, subject: agentId, limit: 1 }))[0];

const getAgentMetrics = (deps: ObservedDeps): RouteDecl =>
  route({
    id: 'getAgentMetrics',
    method: 'GET',
    path: '/api/agents/{id}/metrics',
    summary: "Get an agent's usage",
    description:
      'Tokens, calls and cost are totals since the agent was created. Messages, tool calls, errors and the average time cover its newest 10,000 messages; `counted_messages` is the number covered. ' +
      'Fields named `session_…` are for its current session.',
    cost: 5,
    params: AgentPath,
    responses: { 200: AgentFigures },
    handler: async ({ actor, params }) => reply(200, await figuresOf(deps, actor, await deps.agents.get(actor, params.id))),
  });

const listAgentLogs = (deps: ObservedDeps): RouteDecl =>
  route({
    id: 'listAgentLogs',
    method: 'GET',
    path: '/api/agents/{id}/logs',
    summary: "List an agent's log lines, newest first",
    description:
      'Each message, model call, tool call and end of a run is a line. They are made from the journal, so they survive restarts and go when ended runs are forgotten. Lines of the daemon itself are at `/api/logs/stream`.',
    cost: 5,
    params: AgentPath,
    query: Type.Object({
      n: Type.Optional(Type.Integer({ minimum: 1, description: `How many, ${DEFAULT_LINES} when left out; more than ${MAX_LINES} is ${MAX_LINES}` })),
      limit: Type.Optional(Type.Integer({ minimum: 1, description: 'The same by the name that lists share' })),
      level: Type.Optional(OneOf(OUTCOMES, { description: 'Only lines with this outcome. At most the newest 2,000 messages are searched' })),
      offset: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_OFFSET, description: 'How many of the newest to leave out' })),
    }),
    responses: { 200: Type.Object({ agent_id: Uuid, count: Type.Integer(), offset: Type.Integer(), logs: Type.Array(LogLine) }) },
    handler: async ({ actor, params, query }) => {
      const agent = await deps.agents.get(actor, params.id);
      const { offset = 0, level } = query;
      const n = Math.min(query.n ?? query.limit ?? DEFAULT_LINES, MAX_LINES);
      const logs = await logLines(deps.journal, actor, { agentId: agent.id, limit: n, offset, outcome: level });
      return reply(200, { agent_id: agent.id, count: logs.length, offset, logs });
    },
  });

const Receipt = Type.Object(
  {
    message_id: Uuid,
    direction: OneOf(['inbound', 'outbound']),
    channel: Type.String({ description: 'Channel of the message: rest, sse, ws, openai, agent or cli' }),
    recipient: Type.String({ description: "The agent's name" }),
    session_id: Uuid,
    status: OneOf(['sent', 'delivered', 'failed', 'best_effort'], { description: '`sent`: accepted and queued; `delivered`: the agent works on it, or has; `failed`: its run failed or was stopped' }),
    timestamp: Type.String({ format: 'date-time' }),
    error: Nullable(Type.String()),
  },
  { 'x-name': 'Delivery' },
);

const listDeliveries = (deps: ObservedDeps): RouteDecl =>
  route({
    id: 'listDeliveries',
    method: 'GET',
    path: '/api/agents/{id}/deliveries',
    summary: 'List messages received by an agent',
    description: 'The newest first. `message_id` is the id of the run that the message began, as in the header x-svc-run and in `traces?run_id=`.',
    cost: 2,
    params: AgentPath,
    query: Type.Object({ limit: Type.Optional(Type.Integer({ minimum: 1, description: `${DEFAULT_RECEIPTS} when left out; more than ${MAX_RECEIPTS} is ${MAX_RECEIPTS}` })) }),
    responses: { 200: Type.Object({ agent_id: Uuid, count: Type.Integer(), receipts: Type.Array(Receipt) }) },
    handler: async ({ actor, params, query }) => {
      const agent = await deps.agents.get(actor, params.id);
      const runs = await deps.journal.list({ actor, kind: RUN_KIND, subject: agent.id, limit: Math.min(query.limit ?? DEFAULT_RECEIPTS, MAX_RECEIPTS) });
      const receipts = runs.map((run) => receiptOf(run, agent.name));
      return reply(200, { agent_id: agent.id, count: receipts.length, receipts });
    },
  });

const receiptOf = (run: JournalRun, agentName: string): Static<typeof Receipt> => {
  const { door, sessionId, beside } = inputOf(run);
  return {
    message_id: run.id,
    direction: 'inbound',
    channel: door,
    recipient: agentName,
    session_id: beside?.sessionId ?? sessionId,
    status: run.status === 'queued' ? 'sent' : run.status === 'failed' || run.status === 'cancelled' ? 'failed' : 'delivered',
    timestamp: run.createdAt,
    error: run.error?.message ?? null,
  };
};
