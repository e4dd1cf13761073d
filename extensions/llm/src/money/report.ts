/** What was used and what is left, as people are shown it. */
import { micros } from './limits.js';
import { type Actor, type Clock, type Db, intervalSql, type Scalar, startOf, type TimelineInterval } from '@svc/api';
import type { BudgetStanding, UsageGroup } from '../contract.js';
import type { Budget } from '../config.js';
import type { Scope } from '../store.js';
import type { Ledgers } from './quota-ledger.js';
import type { Limits } from './limits.js';
import { PERIODS } from './thresholds.js';

export interface Asked {
  readonly since: string;
  readonly by?: 'model' | 'agent' | TimelineInterval;
  readonly agentId?: string;
  readonly model?: { readonly provider: string; readonly model: string };
}

/** Groups of a report at most: the rest are those that cost least. */
const MAX_GROUPS = 1_000;

const GROUPS = {
  model: { columns: 'provider, model', order: 'cost DESC, provider, model' },
  agent: { columns: 'agent_id', order: 'cost DESC, agent_id' },
} as const;

const groupsBy = (by: NonNullable<Asked['by']>): { readonly columns: string; readonly named: string; readonly order: string } => {
  if (by === 'model' || by === 'agent') return { ...GROUPS[by], named: GROUPS[by].columns };
  const columns = intervalSql('at', by);
  return { columns, named: `${columns} AS start`, order: `${columns} DESC` };
};

type Sum = number | string | null;
interface Row {
  readonly provider?: string;
  readonly model?: string;
  readonly agent_id?: string;
  readonly start?: string;
  readonly input: Sum;
  readonly output: Sum;
  readonly cost: Sum;
  readonly requests: Sum;
  readonly estimates: Sum;
}

export const reportOf = (db: Db) => {
  const sums = `SUM(input_tokens) AS input, SUM(output_tokens) AS output, SUM(cost_micros) AS cost, COUNT(*) AS requests, SUM(estimated) AS estimates FROM ${db.table('usage')}`;
  return async (actor: Actor, { since, by, ...only }: Asked): Promise<UsageGroup[]> => {
    const { where, args } = whereOf(since, only);
    const reader = db.as(actor);
    if (by === undefined) return (await reader.read<Row>(`SELECT ${sums} WHERE ${where}`, args)).map(groupOf);
    const { columns, named, order } = groupsBy(by);
    return (await reader.read<Row>(`SELECT ${named}, ${sums} WHERE ${where} GROUP BY ${columns} ORDER BY ${order} LIMIT ?`, [...args, MAX_GROUPS])).map(groupOf);
  };
};

const whereOf = (since: string, { agentId, model }: Pick<Asked, 'agentId' | 'model'>): { readonly where: string; readonly args: readonly Scalar[] } => ({
  where: ['at >= ?', ...(agentId === undefined ? [] : ['agent_id = ?']), ...(model === undefined ? [] : ['provider = ?', 'model = ?'])].join(' AND '),
  args: [since, ...(agentId === undefined ? [] : [agentId]), ...(model === undefined ? [] : [model.provider, model.model])],
});

/** PostgreSQL gives sums as text. */
const groupOf = ({ provider, model, agent_id, start, input, output, cost, requests, estimates }: Row): UsageGroup => ({
  ...(provider === undefined ? {} : { provider }),
  ...(model === undefined ? {} : { model }),
  ...(agent_id === undefined ? {} : { agentId: agent_id }),
  ...(start === undefined ? {} : { start: startOf(start) }),
  inputTokens: Number(input ?? 0),
  outputTokens: Number(output ?? 0),
  costMicros: Number(cost ?? 0),
  requests: Number(requests ?? 0),
  estimated: Number(estimates ?? 0),
});

export const standingOf = async ({ ledgers, clock }: { ledgers: Ledgers; clock: Clock }, scope: Scope, limits: Limits, budget: Budget): Promise<BudgetStanding> => {
  const ledger = await ledgers.fresh(scope);
  const now = clock.now();
  const caps = { hour: limits.costPerHour, day: limits.costPerDay, month: limits.costPerMonth };
  const hour = ledger.lastHour(now, 'costMicros');
  const tokens = ledger.lastHour(now, 'tokens');
  const used = { hour: { used: hour.used, endsAt: freeAtOnce(hour, now) }, day: ledger.thisDay(now), month: ledger.thisMonth(now) };
  const costs = PERIODS.map((period) => ({ period, limitMicros: caps[period], usedMicros: used[period].used, resetAt: iso(used[period].endsAt) }));
  const shares = [...costs.map(({ limitMicros, usedMicros }) => share(usedMicros, limitMicros)), share(tokens.used, limits.tokensPerHour)];
  const nearest = Math.max(...shares);
  return {
    costs,
    reservedMicros: ledger.onTheirWay().costMicros,
    tokens: { limit: limits.tokensPerHour, used: tokens.used, resetAt: iso(freeAtOnce(tokens, now)) },
    status: nearest >= 1 ? 'exceeded' : nearest >= budget.alert_threshold && nearest > 0 ? 'warning' : 'ok',
    alertThreshold: budget.alert_threshold,
    idleLimitMicros: micros(budget.idle_limit),
    defaultTokensPerHour: budget.default_max_llm_tokens_per_hour,
  };
};

const share = (used: number, limit: number): number => (limit > 0 ? used / limit : 0);

/** When the oldest of it no longer counts; now, where there is none. */
const freeAtOnce = ({ used, freeAt }: { used: number; freeAt(limit: number): number }, now: number): number => (used === 0 ? now : freeAt(used));

const iso = (ms: number): string => new Date(ms).toISOString();
