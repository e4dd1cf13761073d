/** The numbers of an experiment. */
import type { Course, Criteria, Experiment, Metric, TrialRow } from './contract.js';

export const MIN_RUNS = 30;
const Z = 1.959964;

/** Wilson's interval of a share, with 95 % confidence. */
export const wilson = (wins: number, runs: number): { low: number; high: number } => {
  const share = wins / runs;
  const scale = 1 + Z ** 2 / runs;
  const middle = share + Z ** 2 / (2 * runs);
  const spread = Z * Math.sqrt((share * (1 - share)) / runs + Z ** 2 / (4 * runs ** 2));
  return { low: Math.max(0, (middle - spread) / scale), high: Math.min(1, (middle + spread) / scale) };
};

const isWin = (trial: TrialRow, criteria: Criteria): boolean =>
  trial.status === 'done' &&
  (trial.meets !== 0 || !criteria.require_non_empty) &&
  (trial.tool_errors === 0 || !criteria.require_no_tool_errors) &&
  (criteria.require_user_helpful ? trial.rating === 'up' : trial.rating !== 'down');

export const metricsOf = ({ variants, success_criteria: criteria }: Pick<Experiment, 'variants' | 'success_criteria'>, trials: readonly TrialRow[]): Metric[] =>
  variants.map(({ id, name }) => {
    const own = trials.filter((trial) => trial.variant_id === id && trial.status !== 'running' && trial.status !== 'gone');
    const runs = own.length;
    const wins = own.filter((trial) => isWin(trial, criteria)).length;
    const cost = own.reduce((sum, trial) => sum + trial.cost_usd, 0);
    const latency = runs === 0 ? 0 : own.reduce((sum, trial) => sum + trial.latency_ms, 0) / runs;
    return {
      ...{ variant_id: id, variant_name: name, impressions: runs, wins, cost_usd: cost, latency_ms: latency },
      ...{ total_requests: runs, successful_requests: wins, failed_requests: runs - wins, success_rate: runs === 0 ? 0 : (100 * wins) / runs },
      ...{ avg_latency_ms: latency, avg_cost_usd: runs === 0 ? 0 : cost / runs, total_cost_usd: cost },
      interval: runs < MIN_RUNS ? null : wilson(wins, runs),
    };
  });

const PERCENT = 100;
const MAX_POINTS = 24;
const SHORTEST_SECONDS = 60;

/** How the shares came about: at each time the runs up to then. */
export const courseOf = (experiment: Pick<Experiment, 'variants' | 'success_criteria'>, trials: readonly TrialRow[]): Course => {
  const times = trials.map(({ created_at }) => Date.parse(created_at)).toSorted((a, b) => a - b);
  const [first] = times;
  const last = times.at(-1);
  if (first === undefined || last === undefined) return { starts: [], interval_seconds: SHORTEST_SECONDS, arms: [] };
  const seconds = Math.max(SHORTEST_SECONDS, Math.ceil((last - first + 1) / 1_000 / MAX_POINTS));
  const starts = Array.from({ length: Math.floor((last - first) / (seconds * 1_000)) + 1 }, (_, at) => first + at * seconds * 1_000);
  const upTo = starts.map((start) =>
    metricsOf(
      experiment,
      trials.filter(({ created_at }) => Date.parse(created_at) < start + seconds * 1_000),
    ),
  );
  return {
    starts: starts.map((start) => new Date(start).toISOString()),
    interval_seconds: seconds,
    arms: experiment.variants.map(({ id }, at) => ({
      variant_id: id,
      points: upTo.map((metrics) => {
        const { impressions = 0, success_rate: share = 0, interval = null } = metrics[at] ?? {};
        return { runs: impressions, share: impressions === 0 ? null : share, low: interval && PERCENT * interval.low, high: interval && PERCENT * interval.high };
      }),
    })),
  };
};

/** The best variant, if it is certain that it is. */
export const winnerOf = (metrics: readonly Metric[]): string | null => {
  const [best, next] = metrics.toSorted((one, other) => other.success_rate - one.success_rate);
  return best?.interval && next?.interval && best.interval.low > next.interval.high ? best.variant_id : null;
};
