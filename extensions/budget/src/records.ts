/** The records that the routes answer, from sums of rows and from what the gateway holds calls to. */
import type { Actor, Plain } from '@svc/api';
import type { Agent } from '@svc/ext-agents/contract';
import type { BudgetStanding, LlmService, UsageGroup } from '@svc/ext-llm/contract';
import { periodBegan } from './periods.js';
import type { AgentBudget, BudgetRecord } from './shapes.js';

export const NOTHING: UsageGroup = { inputTokens: 0, outputTokens: 0, costMicros: 0, requests: 0, estimated: 0 };

export const usd = (micros: number): number => micros / 1_000_000;

export const tokensOf = ({ inputTokens, outputTokens }: UsageGroup): number => inputTokens + outputTokens;

type Common = Omit<Plain<typeof BudgetRecord>, 'alert_threshold' | 'idle_limit_usd'>;

interface Reading {
  readonly llm: Pick<LlmService, 'report' | 'standing'>;
  readonly actor: Actor;
  readonly now: number;
}

/** What was spent are the rows that the actor may see; the status is that of the limit, whoever asks. */
const commonOf = async ({ llm, actor, now }: Reading, agentId: string | null): Promise<Common & { standing: BudgetStanding }> => {
  const whose = agentId === null ? {} : { agentId };
  const spentIn = async (period: 'hour' | 'day' | 'month'): Promise<number> => usd((await llm.report(actor, { since: periodBegan(period, now), ...whose }))[0]?.costMicros ?? 0);
  const [standing, hour, today, month] = await Promise.all([llm.standing(agentId), spentIn('hour'), spentIn('day'), spentIn('month')]);
  const of = (period: 'hour' | 'day' | 'month') => standing.costs.find((one) => one.period === period);
  return {
    hourly_limit_usd: usd(of('hour')?.limitMicros ?? 0),
    daily_limit_usd: usd(of('day')?.limitMicros ?? 0),
    monthly_limit_usd: usd(of('month')?.limitMicros ?? 0),
    hour_spent_usd: hour,
    today_spent_usd: today,
    month_spent_usd: month,
    reserved_usd: usd(standing.reservedMicros),
    daily_reset_at: of('day')?.resetAt ?? '',
    monthly_reset_at: of('month')?.resetAt ?? '',
    status: standing.status,
    standing,
  };
};

export const budgetRecord = async (reading: Reading): Promise<Plain<typeof BudgetRecord>> => {
  const { standing, ...common } = await commonOf(reading, null);
  return { ...common, idle_limit_usd: usd(standing.idleLimitMicros), alert_threshold: standing.alertThreshold };
};

export const agentBudget = async (reading: Reading, { id, name }: Pick<Agent, 'id' | 'name'>): Promise<Plain<typeof AgentBudget>> => {
  const { standing, ...common } = await commonOf(reading, id);
  const { limit, used, resetAt } = standing.tokens;
  return { agent_id: id, agent_name: name, ...common, hourly_token_limit: limit === 0 ? null : limit, hourly_tokens_used: used, hourly_reset_at: resetAt };
};
