/** `svc usage` and `svc budget`: all of it is data. */
import type { CommandDecl, CommandWordDecl } from '@svc/api';

export const commandWords: readonly CommandWordDecl[] = [
  { word: 'usage', summary: 'tokens and cost by period, model and day', usage: 'usage total|models|days', order: 34 },
  {
    word: 'budget',
    summary: 'what agents may spend, and have spent',
    usage: 'budget show|set|agents|agent|limit',
    order: 35,
    synonyms: ['cost', 'usage-cost'].map((word) => ({ word, means: 'usage total', runs: true, takesArguments: true })),
  },
];

const usd = (field: string, title: string) => ({ field, title, format: 'usd' }) as const;
const tokens = (field: string, title: string) => ({ field, title, format: 'number' }) as const;
const limit = (field: string, title: string) => ({ field, title, format: 'usd', zero: 'no limit' }) as const;
const IDLE = limit('idle_limit_usd', 'limit without a person');
const LIMITS = [
  'status',
  limit('daily_limit_usd', 'limit of a day'),
  usd('today_spent_usd', 'spent today'),
  limit('monthly_limit_usd', 'limit of a month'),
  usd('month_spent_usd', 'spent this month'),
  limit('hourly_limit_usd', 'limit of 60 minutes'),
  usd('hour_spent_usd', 'spent in 60 minutes'),
  usd('reserved_usd', 'reserved now'),
];

export const commands: readonly CommandDecl[] = [
  {
    command: 'usage total',
    summary: 'show tokens and cost of a period',
    operation: 'getUsage',
    args: ['period'],
    output: {
      kind: 'record',
      fields: [
        'period',
        usd('total_cost_usd', 'cost'),
        tokens('total_input_tokens', 'input tokens'),
        tokens('total_output_tokens', 'output tokens'),
        tokens('request_count', 'calls'),
        'active_agents',
        tokens('estimated_count', 'of them estimated'),
      ],
    },
  },
  {
    command: 'usage models',
    summary: 'list usage by model',
    operation: 'listUsageByModel',
    args: ['period'],
    output: {
      kind: 'table',
      rows: 'models',
      empty: 'No model was called.',
      columns: [{ field: 'model' }, { field: 'provider' }, usd('cost_usd', 'COST'), tokens('input_tokens', 'INPUT'), tokens('output_tokens', 'OUTPUT'), tokens('request_count', 'CALLS')],
    },
  },
  {
    command: 'usage days',
    summary: 'list usage by day',
    operation: 'listUsageByDay',
    args: ['days'],
    output: { kind: 'table', rows: 'days', empty: 'No model was called.', columns: [{ field: 'date' }, usd('cost_usd', 'COST'), tokens('tokens', 'TOKENS'), tokens('calls', 'CALLS')] },
  },
  { command: 'budget show', summary: 'show the limits of all agents and what they spent', operation: 'getBudget', output: { kind: 'record', fields: [...LIMITS, IDLE] } },
  { command: 'budget set', summary: 'set the limits of all agents', operation: 'updateBudget', output: { kind: 'record', fields: [...LIMITS, IDLE] } },
  {
    command: 'budget agents',
    summary: 'list what each agent spent',
    operation: 'listAgentBudgets',
    output: {
      kind: 'table',
      empty: 'There are no agents.',
      columns: [{ field: 'agent_name', title: 'AGENT' }, usd('total_cost_usd', 'TOTAL'), usd('today_cost_usd', 'TODAY'), { field: 'agent_id', title: 'ID', givesWay: true }],
    },
  },
  {
    command: 'budget agent',
    summary: 'show the limits of an agent and what it spent',
    operation: 'getAgentBudget',
    args: ['id'],
    output: { kind: 'record', fields: ['agent_name', ...LIMITS, 'hourly_token_limit', 'hourly_tokens_used'] },
  },
  {
    command: 'budget limit',
    summary: 'set the limits of an agent',
    operation: 'updateAgentBudget',
    args: ['id'],
    output: { kind: 'record', fields: ['agent_name', ...LIMITS, 'hourly_token_limit', 'hourly_tokens_used'] },
  },
];
