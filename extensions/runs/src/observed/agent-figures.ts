/** Sums of one agent: of the journal and of what its model calls used. */
import { type Actor, type Clock, type Journal, Nullable, type Static, Type, Uuid } from '@svc/api';
import type { Agent } from '@svc/ext-agents/contract';
import type { LlmService } from '@svc/ext-llm/contract';
import { RUN_KIND, toMicrosUsd } from '../run-input.js';

const MAX_COUNTED = 10_000;
/** Runs of a session whose tokens are summed; their ids are a question to the database each few hundred. */
const MAX_SESSION_RUNS = 1_000;

export const AgentFigures = Type.Object(
  {
    agent_id: Uuid,
    name: Type.String(),
    state: Type.String(),
    uptime_secs: Type.Integer({ description: 'Since the agent was made' }),
    message_count: Type.Integer(),
    counted_messages: Type.Integer({ description: 'Messages that the counts here are of: the newest 10,000 at most' }),
    token_usage: Type.Object({ session_tokens: Type.Integer(), total_input_tokens: Type.Integer(), total_output_tokens: Type.Integer(), total_tokens: Type.Integer() }),
    tool_calls: Type.Object({ session_tool_calls: Type.Integer(), total_tool_calls: Type.Integer() }),
    cost_usd: Type.Number(),
    call_count: Type.Integer({ description: 'Model calls' }),
    error_count: Type.Integer({ description: 'Messages whose run failed' }),
    avg_response_time_ms: Nullable(Type.Number(), { description: 'From acceptance to answer; null before the first answer' }),
  },
  { 'x-name': 'AgentMetrics' },
);

export interface FigureDeps {
  readonly journal: Journal;
  readonly llm: LlmService;
  readonly clock: Pick<Clock, 'now'>;
}

export const figuresOf = async ({ journal, llm, clock }: FigureDeps, actor: Actor, agent: Agent): Promise<Static<typeof AgentFigures>> => {
  const filter = { actor, kind: RUN_KIND, subject: agent.id };
  const inSession = { ...filter, lane: agent.sessionId };
  const [all, session, total, runs] = await Promise.all([
    journal.summary({ ...filter, limit: MAX_COUNTED }),
    journal.summary({ ...inSession, limit: MAX_SESSION_RUNS }),
    llm.usage(actor, { agentId: agent.id }),
    journal.list({ ...inSession, limit: MAX_SESSION_RUNS }),
  ]);
  const ofSession = await llm.usage(actor, { agentId: agent.id, runIds: runs.map(({ id }) => id) });
  return {
    agent_id: agent.id,
    name: agent.name,
    state: agent.state,
    uptime_secs: Math.max(0, Math.floor((clock.now() - Date.parse(agent.createdAt)) / 1_000)),
    message_count: all.runs,
    counted_messages: all.runs,
    token_usage: {
      session_tokens: ofSession.inputTokens + ofSession.outputTokens,
      total_input_tokens: total.inputTokens,
      total_output_tokens: total.outputTokens,
      total_tokens: total.inputTokens + total.outputTokens,
    },
    tool_calls: { session_tool_calls: session.steps.tool ?? 0, total_tool_calls: all.steps.tool ?? 0 },
    cost_usd: toMicrosUsd(total.costMicros),
    call_count: total.requests,
    error_count: all.byStatus.failed ?? 0,
    avg_response_time_ms: all.meanMs,
  };
};
