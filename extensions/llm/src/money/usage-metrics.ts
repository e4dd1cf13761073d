/** What models were used for lately, as metrics: of this database, whichever daemon made the calls. */
import type { Actors, Clock, Metric } from '@svc/api';
import type { AgentsService } from '@svc/ext-agents/contract';
import type { UsageStore, UsedBy } from '../store.js';

const MICROS_PER_USD = 1_000_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** A scrape each few seconds need not read the day again. */
const KEEP_MS = 15_000;
/** Lines of `svc_tokens`; the agents and models that used least share one. */
const MAX_LINES = 500;

export interface UsageMetricsDeps {
  readonly store: Pick<UsageStore, 'since'>;
  readonly agents: Pick<AgentsService, 'find'>;
  readonly actors: Pick<Actors, 'system'>;
  readonly clock: Pick<Clock, 'now' | 'mono'>;
}

export const createUsageMetrics = (deps: UsageMetricsDeps): (() => Promise<Metric[]>) => {
  let kept: { readonly at: number; readonly metrics: Promise<Metric[]> } | undefined;
  return () => {
    const at = deps.clock.mono();
    if (!kept || at - kept.at >= KEEP_MS) {
      const metrics = collect(deps);
      kept = { at, metrics };
      // A failure is told to whoever asked, and not again.
      metrics.catch(() => {
        kept = undefined;
      });
    }
    return kept.metrics;
  };
};

const collect = async (deps: UsageMetricsDeps): Promise<Metric[]> => {
  const now = deps.clock.now();
  const [hour, today] = await Promise.all([deps.store.since(now - HOUR_MS), deps.store.since(now - (now % DAY_MS))]);
  const sum = (rows: readonly UsedBy[], pick: (row: UsedBy) => number): number => rows.reduce((total, row) => total + pick(row), 0);
  const gauge = (name: string, help: string, value: number): Metric => ({ name, help, type: 'gauge', value, personal: true });
  return [
    ...(await tokenLines(deps, hour)),
    gauge(
      'svc_tokens_input',
      'Tokens sent to models in the last hour',
      sum(hour, (row) => row.inputTokens),
    ),
    gauge(
      'svc_tokens_output',
      'Tokens that models answered with in the last hour',
      sum(hour, (row) => row.outputTokens),
    ),
    gauge(
      'svc_llm_calls',
      'Model calls that were answered in the last hour',
      sum(hour, (row) => row.calls),
    ),
    gauge('svc_cost_usd_today', 'What model calls cost since midnight UTC, in US dollars, by the prices of the catalog', sum(today, (row) => row.costMicros) / MICROS_PER_USD),
  ];
};

const tokenLines = async ({ agents, actors }: UsageMetricsDeps, hour: readonly UsedBy[]): Promise<Metric[]> => {
  const tokens = (row: UsedBy): number => row.inputTokens + row.outputTokens;
  const sorted = [...hour].sort((a, b) => tokens(b) - tokens(a));
  const line = (value: number, labels: Readonly<Record<string, string>>): Metric => ({
    name: 'svc_tokens',
    help: 'Tokens used in the last hour, sent and answered, by agent and model',
    type: 'gauge',
    value,
    labels,
    personal: true,
  });
  const named = await Promise.all(
    sorted.slice(0, MAX_LINES).map(async (row) => {
      const agent = await agents.find(actors.system('metrics'), row.agentId);
      return line(tokens(row), { agent: agent?.name ?? row.agentId, agent_id: row.agentId, provider: row.provider, model: row.model });
    }),
  );
  const rest = sorted.slice(MAX_LINES).reduce((total, row) => total + tokens(row), 0);
  return rest > 0 ? [...named, line(rest, { agent: 'others', agent_id: '', provider: '', model: '' })] : named;
};
