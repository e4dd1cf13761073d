/** What was used, what it cost, and how much it may. */
import { type Actor, type Clock, Field, isUuid, OneOf, reply, type RouteDecl, routeGroup, type SettingsView, type Static, timelineOf, TimelinePeriod, Type } from '@svc/api';
import type { Agent, AgentsService } from '@svc/ext-agents/contract';
import type { LlmService, UsageGroup } from '@svc/ext-llm/contract';
import { budgetErrors } from './errors.js';
import { lastDays, periodBegan, USAGE_PERIODS } from './periods.js';
import { agentBudget, budgetRecord, NOTHING, tokensOf, usd } from './records.js';
import {
  AgentBudget,
  AgentBudgetChange,
  AgentSpending,
  BudgetChange,
  BudgetRecord,
  ChangedBudget,
  DayGroup,
  DayUsage,
  LEAST_USD,
  ModelUsage,
  PeriodQuery,
  UsageInterval,
  UsageSummary,
  UsageTotal,
} from './shapes.js';

export interface BudgetDeps {
  readonly agents: Pick<AgentsService, 'find' | 'list' | 'edit'>;
  readonly llm: Pick<LlmService, 'report' | 'standing'>;
  readonly settings: Pick<SettingsView, 'set'>;
  readonly clock: Clock;
}

const route = routeGroup({ area: 'budget' });
const HOUR_MS = 3_600_000;
const EVER = new Date(0).toISOString();
const MAX_DAYS = 366;
/** Groups that a chart tells apart. */
const MOST_GROUPS = 3;
const AgentPath = Type.Object({ id: Type.String({ minLength: 1, maxLength: 200, description: 'Id or name of the agent', examples: ['assistant'] }) });

/** Throws `budget_agent_not_found`, and `budget_agent_unknown` where it is no id either. */
const agentOf = async ({ agents }: Pick<BudgetDeps, 'agents'>, actor: Parameters<AgentsService['find']>[0], idOrName: string): Promise<Agent> => {
  const agent = await agents.find(actor, idOrName);
  if (!agent) throw isUuid(idOrName) ? budgetErrors.agent_not_found(idOrName) : budgetErrors.agent_unknown(idOrName);
  return agent;
};

const ModelsQuery = Type.Object({
  period: Type.Optional(OneOf(USAGE_PERIODS)),
  days: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_DAYS, description: 'The last days in UTC, as in /api/usage/daily' })),
  agent_id: Type.Optional(Field.reference('agents', { description: 'Of this agent alone' })),
});

const sinceOf = ({ period, days }: Static<typeof ModelsQuery>, now: number): string => {
  if (days !== undefined) return `${lastDays(days, now)[0]}T00:00:00.000Z`;
  return period === undefined ? EVER : periodBegan(period, now);
};

type Asked = Omit<Parameters<LlmService['report']>[1], 'by'>;

/** One for each date. */
const usageOfDays = async (llm: Pick<LlmService, 'report'>, actor: Actor, dates: readonly string[], asked: Asked): Promise<UsageGroup[]> => {
  const byDate = new Map((await llm.report(actor, { ...asked, by: 'day' })).map((group) => [group.start?.slice(0, 10), group]));
  return dates.map((date) => byDate.get(date) ?? NOTHING);
};

/** The dearest models or agents, each with one sum for each date. */
const groupsOfDays = async (
  llm: Pick<LlmService, 'report'>,
  actor: Actor,
  dates: readonly string[],
  { by, ...asked }: Asked & { readonly by: 'model' | 'agent' },
): Promise<Array<Static<typeof DayGroup>>> => {
  const dearest = (await llm.report(actor, { ...asked, by })).slice(0, MOST_GROUPS);
  return Promise.all(
    dearest.map(async ({ provider = '', model = '', agentId = '' }) => {
      const days = await usageOfDays(llm, actor, dates, by === 'agent' ? { ...asked, agentId } : { ...asked, model: { provider, model } });
      return { ...(by === 'agent' ? { agent_id: agentId } : { provider, model }), cost_usd: days.map(({ costMicros }) => usd(costMicros)), tokens: days.map(tokensOf) };
    }),
  );
};

export const usageRoutes = (deps: BudgetDeps): RouteDecl[] => [...sumRoutes(deps), ...timeRoutes(deps)];

const sumRoutes = ({ llm, clock }: BudgetDeps): RouteDecl[] => [
  route({
    id: 'getUsage',
    method: 'GET',
    path: '/api/usage',
    summary: 'Get token usage and cost',
    description: 'The sum over the model calls of a period. Owners and admins see those of all agents; others those of their own.',
    cost: 3,
    query: PeriodQuery,
    responses: { 200: UsageTotal },
    handler: async ({ actor, query: { period = 'day' } }) => {
      const since = periodBegan(period, clock.now());
      const [[all = NOTHING], agents] = await Promise.all([llm.report(actor, { since }), llm.report(actor, { since, by: 'agent' })]);
      return reply(200, {
        period,
        total_input_tokens: all.inputTokens,
        total_output_tokens: all.outputTokens,
        total_cost_usd: usd(all.costMicros),
        request_count: all.requests,
        active_agents: agents.length,
        estimated_count: all.estimated,
      });
    },
  }),
  route({
    id: 'getUsageSummary',
    method: 'GET',
    path: '/api/usage/summary',
    summary: 'Get today’s usage and the hourly quota',
    description:
      'What was used since midnight UTC, and how many tokens in the last 60 minutes beside the default limit of an agent. Owners and admins see the calls of all agents; others those of their own.',
    cost: 3,
    responses: { 200: UsageSummary },
    handler: async ({ actor }) => {
      const now = clock.now();
      const [[today = NOTHING], [hour = NOTHING], { defaultTokensPerHour: limit }] = await Promise.all([
        llm.report(actor, { since: periodBegan('day', now) }),
        llm.report(actor, { since: periodBegan('hour', now) }),
        llm.standing(null),
      ]);
      return reply(200, {
        today: { input_tokens: today.inputTokens, output_tokens: today.outputTokens, cost_usd: usd(today.costMicros), requests: today.requests },
        quota: { hourly_token_limit: limit === 0 ? null : limit, hourly_tokens_used: tokensOf(hour), hourly_reset_at: new Date(now + HOUR_MS).toISOString() },
      });
    },
  }),
  route({
    id: 'listUsageByModel',
    method: 'GET',
    path: '/api/usage/by-model',
    summary: 'List usage by model',
    description: 'The model that cost most comes first. Without `period` and `days`, all calls count; with both, those of `days`. With `agent_id`, the calls of this agent alone.',
    cost: 3,
    query: ModelsQuery,
    responses: { 200: Type.Object({ models: Type.Array(ModelUsage), total: Type.Integer() }) },
    handler: async ({ actor, query }) => {
      const groups = await llm.report(actor, { since: sinceOf(query, clock.now()), by: 'model', ...(query.agent_id === undefined ? {} : { agentId: query.agent_id }) });
      const models = groups.map(({ provider = '', model = '', inputTokens, outputTokens, costMicros, requests }) => ({
        provider,
        model,
        input_tokens: inputTokens,
        output_tokens: outputTokens,
        cost_usd: usd(costMicros),
        request_count: requests,
      }));
      return reply(200, { models, total: models.length });
    },
  }),
];

const timeRoutes = ({ llm, clock }: BudgetDeps): RouteDecl[] => [
  route({
    id: 'listUsageByDay',
    method: 'GET',
    path: '/api/usage/daily',
    summary: 'List usage by day',
    description:
      'The last days in UTC, the oldest first, with those on which no model was called. With `agent_id`, the calls of this agent alone. With `group_by`, also the three models or agents that cost most, each day by day.',
    cost: 3,
    query: Type.Object({
      days: Type.Optional(Type.Integer({ default: 7, minimum: 1, maximum: MAX_DAYS })),
      agent_id: Type.Optional(Field.reference('agents', { description: 'Of this agent alone' })),
      group_by: Type.Optional(OneOf(['model', 'agent'])),
    }),
    responses: {
      200: Type.Object({
        days: Type.Array(DayUsage),
        today_cost_usd: Type.Number(),
        first_event_date: Type.Union([Type.String(), Type.Null()], { description: 'The first of these days with a call' }),
        groups: Type.Optional(Type.Array(DayGroup, { maxItems: MOST_GROUPS, description: 'With `group_by`: the dearest first. The others are what is left of the days' })),
      }),
    },
    handler: async ({ actor, query: { days: count = 7, agent_id, group_by: by } }) => {
      const dates = lastDays(count, clock.now());
      const asked = { since: `${dates[0]}T00:00:00.000Z`, ...(agent_id === undefined ? {} : { agentId: agent_id }) };
      const days = (await usageOfDays(llm, actor, dates, asked)).map((group, index) => {
        const date = dates[index] ?? '';
        return { date, cost_usd: usd(group.costMicros), tokens: tokensOf(group), input_tokens: group.inputTokens, output_tokens: group.outputTokens, calls: group.requests };
      });
      return reply(200, {
        days,
        today_cost_usd: days.at(-1)?.cost_usd ?? 0,
        first_event_date: days.find(({ calls }) => calls > 0)?.date ?? null,
        ...(by === undefined ? {} : { groups: await groupsOfDays(llm, actor, dates, { ...asked, by }) }),
      });
    },
  }),
  route({
    id: 'getUsageTimeline',
    method: 'GET',
    path: '/api/usage/timeline',
    summary: 'Get usage over time',
    description: 'Tokens and cost of model calls in intervals of equal length, the oldest first, also those without a call. Owners and admins see the calls of all agents; others those of their own.',
    cost: 3,
    query: Type.Object({ period: Type.Optional(TimelinePeriod), agent_id: Type.Optional(Field.reference('agents', { description: 'Of this agent alone' })) }),
    responses: { 200: Type.Object({ period: TimelinePeriod, interval_seconds: Type.Integer(), intervals: Type.Array(UsageInterval) }) },
    handler: async ({ actor, query: { period = 'day', agent_id } }) => {
      const { interval, intervalSeconds, starts } = timelineOf(period, clock.now());
      const groups = await llm.report(actor, { since: starts[0] ?? EVER, by: interval, ...(agent_id === undefined ? {} : { agentId: agent_id }) });
      const byStart = new Map(groups.map((group) => [group.start, group]));
      const intervals = starts.map((start) => {
        const group = byStart.get(start) ?? NOTHING;
        return { start, input_tokens: group.inputTokens, output_tokens: group.outputTokens, cost_usd: usd(group.costMicros), calls: group.requests };
      });
      return reply(200, { period, interval_seconds: intervalSeconds, intervals });
    },
  }),
];

export const budgetRoutes = (deps: BudgetDeps): RouteDecl[] => {
  const { agents, llm, settings, clock } = deps;
  const all = (actor: Parameters<LlmService['report']>[0]) => budgetRecord({ llm, actor, now: clock.now() });
  return [
    route({
      id: 'getBudget',
      method: 'GET',
      path: '/api/budget',
      summary: 'Get the budget of all agents',
      description: 'What all agents together may spend, and have spent. A person who is no owner or admin sees what their own agents spent.',
      responses: { 200: BudgetRecord },
      handler: async ({ actor }) => reply(200, await all(actor)),
    }),
    route({
      id: 'updateBudget',
      method: 'PUT',
      path: '/api/budget',
      summary: 'Update the budget of all agents',
      description: 'Writes the limits below `[budget]` of config.toml. They hold from the next model call on: a call that may cost more than is left is refused with 429 `budget_exceeded`.',
      permission: 'budget.admin',
      audit: 'budget_changed',
      auditCategory: 'settings',
      errors: [403, 409, 423, 500],
      body: BudgetChange,
      examples: {
        'five dollars a day': { daily_limit_usd: 5 },
        'five dollars a day, a hundred a month': { daily_limit_usd: 5, monthly_limit_usd: 100 },
        'no limit in a month, and a warning at half of the others': { monthly_limit_usd: 0, alert_threshold: 0.5 },
      },
      responses: { 200: ChangedBudget },
      handler: async ({ actor, body }) => {
        refuseTooSmall(body);
        const { hourly_limit_usd: hourly_limit, daily_limit_usd: daily_limit, monthly_limit_usd: monthly_limit, idle_limit_usd: idle_limit, alert_threshold } = body;
        const warnings = new Set<string>();
        for (const [key, value] of Object.entries({ hourly_limit, daily_limit, monthly_limit, idle_limit, alert_threshold })) {
          if (value === undefined || value === null) continue;
          const { path, applied, failed } = await settings.set(`budget.${key}`, value);
          if (failed !== undefined) throw budgetErrors.not_set(path, failed);
          // A value that brings a problem of its own is refused before it is written.
          for (const problem of applied?.problems ?? []) warnings.add(problem);
        }
        return reply(200, { ...(await all(actor)), warnings: [...warnings] });
      },
    }),
    route({
      id: 'listAgentBudgets',
      method: 'GET',
      path: '/api/budget/agents',
      summary: 'List what each agent spent',
      description: 'The one that spent most comes first. Deleted agents are listed as long as their owner is there.',
      responses: { 200: Type.Array(AgentSpending) },
      handler: async ({ actor }) => {
        const [ever, today, known] = await Promise.all([
          llm.report(actor, { since: EVER, by: 'agent' }),
          llm.report(actor, { since: periodBegan('day', clock.now()), by: 'agent' }),
          agents.list(actor),
        ]);
        const names = new Map(known.map(({ id, name }) => [id, name]));
        const spentToday = new Map(today.map(({ agentId, costMicros }) => [agentId, costMicros]));
        const spent = ever.map(({ agentId = '', costMicros }) => ({
          agent_id: agentId,
          agent_name: names.get(agentId) ?? null,
          total_cost_usd: usd(costMicros),
          today_cost_usd: usd(spentToday.get(agentId) ?? 0),
        }));
        const called = new Set(ever.map(({ agentId }) => agentId));
        const others = known.filter(({ id }) => !called.has(id)).map(({ id, name }) => ({ agent_id: id, agent_name: name, total_cost_usd: 0, today_cost_usd: 0 }));
        return reply(200, [...spent, ...others]);
      },
    }),
    route({
      id: 'getAgentBudget',
      method: 'GET',
      path: '/api/budget/agents/{id}',
      summary: 'Get the budget of an agent',
      description: 'What an agent may spend by its manifest, what it has spent, and when a limit begins anew. 0 means no limit.',
      params: AgentPath,
      errors: [404],
      responses: { 200: AgentBudget },
      handler: async ({ actor, params: { id } }) => reply(200, await agentBudget({ llm, actor, now: clock.now() }, await agentOf(deps, actor, id))),
    }),
    route({
      id: 'updateAgentBudget',
      method: 'PUT',
      path: '/api/budget/agents/{id}',
      summary: 'Update the budget of an agent',
      description: 'Changes the limits below `[resources]` of its manifest. They hold from its next model call on.',
      audit: 'agent_budget_changed',
      errors: [403, 404, 409],
      params: AgentPath,
      body: AgentBudgetChange,
      examples: {
        'a dollar a day': { daily_limit_usd: 1 },
        'ten cents in 60 minutes, twenty dollars a month': { hourly_limit_usd: 0.1, monthly_limit_usd: 20 },
        'fifty thousand tokens in 60 minutes': { max_llm_tokens_per_hour: 50_000 },
      },
      responses: { 200: AgentBudget },
      handler: async ({ actor, params: { id }, body }) => {
        refuseTooSmall(body);
        const { daily_limit_usd: day, monthly_limit_usd: month, hourly_limit_usd: hour, max_llm_tokens_per_hour: tokens } = body;
        const resources = { max_cost_per_hour_usd: hour, max_cost_per_day_usd: day, max_cost_per_month_usd: month, max_llm_tokens_per_hour: tokens };
        const said = Object.fromEntries(Object.entries(resources).filter(([, value]) => value !== undefined && value !== null));
        const known = await agentOf(deps, actor, id);
        const agent = Object.keys(said).length === 0 ? known : (await agents.edit(actor, known.id, { manifest: { resources: said } })).agent;
        return reply(200, await agentBudget({ llm, actor, now: clock.now() }, agent));
      },
    }),
  ];
};

const refuseTooSmall = (body: Readonly<Record<string, unknown>>): void => {
  for (const [name, value] of Object.entries(body)) if (name.endsWith('_usd') && typeof value === 'number' && value > 0 && value < LEAST_USD) throw budgetErrors.too_small(name, value);
};
