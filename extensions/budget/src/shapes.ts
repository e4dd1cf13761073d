/** What the routes of usage and budgets take and answer. Money is in US dollars, exact to the micro-dollar. */
import { Nullable, OneOf, Type } from '@svc/api';
import { USAGE_PERIODS } from './periods.js';

const Usd = (description: string) => Type.Number({ minimum: 0, description });
const Tokens = Type.Integer({ minimum: 0 });

export const PeriodQuery = Type.Object({
  period: Type.Optional(OneOf(USAGE_PERIODS, { default: 'day', description: 'The last 60 minutes, today (UTC), the last 7 days, or this month (UTC)' })),
});

export const UsageTotal = Type.Object(
  {
    period: OneOf(USAGE_PERIODS),
    total_input_tokens: Tokens,
    total_output_tokens: Tokens,
    total_cost_usd: Usd('Sum over all calls'),
    request_count: Type.Integer({ description: 'Model calls' }),
    active_agents: Type.Integer({ description: 'Agents that called a model' }),
    estimated_count: Type.Integer({ description: 'Calls whose cost or tokens are estimates' }),
  },
  { 'x-name': 'UsageTotal' },
);

export const UsageSummary = Type.Object(
  {
    today: Type.Object({ input_tokens: Tokens, output_tokens: Tokens, cost_usd: Usd('Since midnight UTC'), requests: Type.Integer() }),
    quota: Type.Object({
      hourly_token_limit: Nullable(Type.Integer(), { description: 'Of an agent that names no max_llm_tokens_per_hour ([budget] default_max_llm_tokens_per_hour); null: no limit' }),
      hourly_tokens_used: Tokens,
      hourly_reset_at: Type.String({ description: 'When the hour that began with this request ends: what was used until now no longer counts then' }),
    }),
  },
  { 'x-name': 'UsageSummary' },
);

export const ModelUsage = Type.Object(
  { provider: Type.String(), model: Type.String(), input_tokens: Tokens, output_tokens: Tokens, cost_usd: Usd('Sum'), request_count: Type.Integer() },
  { 'x-name': 'ModelUsage' },
);

export const DayUsage = Type.Object(
  { date: Type.String({ description: '`2026-01-31`, UTC' }), cost_usd: Usd('Sum'), tokens: Tokens, input_tokens: Tokens, output_tokens: Tokens, calls: Type.Integer() },
  { 'x-name': 'DayUsage' },
);

export const DayGroup = Type.Object(
  {
    provider: Type.Optional(Type.String()),
    model: Type.Optional(Type.String()),
    agent_id: Type.Optional(Type.String()),
    cost_usd: Type.Array(Usd('Of each of the days, in their order')),
    tokens: Type.Array(Tokens, { description: 'Of each of the days, in their order' }),
  },
  { 'x-name': 'DayGroup' },
);

export const UsageInterval = Type.Object(
  { start: Type.String({ format: 'date-time', description: 'When the interval began' }), input_tokens: Tokens, output_tokens: Tokens, cost_usd: Usd('Sum'), calls: Type.Integer() },
  { 'x-name': 'UsageInterval' },
);

const limits = {
  hourly_limit_usd: Type.Number({ description: 'In 60 minutes; 0: no limit' }),
  daily_limit_usd: Type.Number({ description: 'In a day (UTC); 0: no limit' }),
  monthly_limit_usd: Type.Number({ description: 'In a month (UTC); 0: no limit' }),
};
const spent = {
  hour_spent_usd: Usd('In the last 60 minutes'),
  today_spent_usd: Usd('Since midnight UTC'),
  month_spent_usd: Usd('Since the month began, UTC'),
  reserved_usd: Usd('The most that model calls on their way may cost'),
  daily_reset_at: Type.String(),
  monthly_reset_at: Type.String(),
  status: OneOf(['ok', 'warning', 'exceeded'], { description: 'Of the limit that is nearest; `warning` from alert_threshold on' }),
};

const budget = {
  ...limits,
  ...spent,
  idle_limit_usd: Usd('Of each agent, in turns that no person began, since a person last wrote to it; 0: no limit'),
  alert_threshold: Type.Number({ description: 'A share of a limit, 0 to 1' }),
};
export const BudgetRecord = Type.Object(budget, { 'x-name': 'Budget' });
export const ChangedBudget = Type.Object(
  { ...budget, warnings: Type.Array(Type.String(), { description: 'What is wrong in config.toml elsewhere; the limits hold all the same' }) },
  { 'x-name': 'ChangedBudget' },
);

export const AgentBudget = Type.Object(
  {
    agent_id: Type.String(),
    agent_name: Type.String(),
    ...limits,
    ...spent,
    hourly_token_limit: Nullable(Type.Integer(), { description: 'null: no limit' }),
    hourly_tokens_used: Tokens,
    hourly_reset_at: Type.String({ description: 'When the oldest of these tokens no longer counts' }),
  },
  { 'x-name': 'AgentBudget' },
);

export const AgentSpending = Type.Object(
  {
    agent_id: Type.String(),
    agent_name: Nullable(Type.String(), { description: 'null: the agent was deleted' }),
    total_cost_usd: Usd('Since its first call'),
    today_cost_usd: Usd('Since midnight UTC'),
  },
  { 'x-name': 'AgentSpending' },
);

/** Less is not counted, and would be no limit at all. */
export const LEAST_USD = 0.000001;

const Limit = (period: string) => Type.Optional(Nullable(Type.Number({ minimum: 0, maximum: 1_000_000_000 }), { description: `US dollars ${period}; 0: no limit. Left out or null: unchanged` }));
const LIMITS = { daily_limit_usd: Limit('in a day (UTC)'), monthly_limit_usd: Limit('in a month (UTC)'), hourly_limit_usd: Limit('in 60 minutes') };

export const BudgetChange = Type.Object(
  {
    ...LIMITS,
    idle_limit_usd: Limit('of each agent, in turns that no person began, since a person last wrote to it'),
    alert_threshold: Type.Optional(Nullable(Type.Number({ minimum: 0, maximum: 1 }), { description: 'The share of a limit from which its status is `warning`' })),
  },
  { minProperties: 1, additionalProperties: false },
);
export const AgentBudgetChange = Type.Object(
  { ...LIMITS, max_llm_tokens_per_hour: Type.Optional(Nullable(Type.Integer({ minimum: 0 }), { description: 'Tokens in 60 minutes; 0: as [budget] says' })) },
  { minProperties: 1, additionalProperties: false },
);
