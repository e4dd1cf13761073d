/** Runs, their duration, tokens and cost over time. Each chart belongs to an extension, and is left out where that is off. */
import { Chart, type ChartSeries, count, daemon, duration, keep, kept, money, type OutputOf, Section, Select, Shown, useFresh, useLoaded, useState } from '@svc/kit';
import { t } from './words.js';

type RunTimeline = OutputOf<'getRunTimeline'>;
type UsageTimeline = OutputOf<'getUsageTimeline'>;
type Period = RunTimeline['period'];

const PERIODS = ['hour', 'day', 'week', 'month'] as const satisfies readonly Period[];
const KEPT = 'svc.overview.period';

const chosenBefore = (): Period => PERIODS.find((period) => period === kept(KEPT)) ?? 'day';

const sum = (values: ReadonlyArray<number | null>): number => values.reduce<number>((all, value) => all + (value ?? 0), 0);

const runSeries = ({ intervals }: RunTimeline): ChartSeries[] => {
  const [runs, failed] = [intervals.map((one) => one.runs), intervals.map((one) => one.failed)];
  return [
    { label: t('chart_runs'), values: runs, tone: 'accent', kind: 'bars', total: count(sum(runs)) },
    { label: t('chart_failed'), values: failed, tone: 'bad', kind: 'bars', total: count(sum(failed)) },
  ];
};

const latest = (values: ReadonlyArray<number | null>): string => {
  const last = values.findLast((value) => value !== null);
  return last === undefined || last === null ? '–' : t('chart_latest', { value: duration(last) });
};

const durationSeries = ({ intervals }: RunTimeline): ChartSeries[] => {
  const [median, p95] = [intervals.map((one) => one.median_ms), intervals.map((one) => one.p95_ms)];
  return [
    { label: t('chart_median'), values: median, tone: 'accent', kind: 'line', total: latest(median) },
    { label: t('chart_p95'), values: p95, tone: 'warn', kind: 'line', total: latest(p95) },
  ];
};

/** The output stands in front of the sum of both. */
const tokenSeries = ({ intervals }: UsageTimeline): ChartSeries[] => {
  const [all, output] = [intervals.map((one) => one.input_tokens + one.output_tokens), intervals.map((one) => one.output_tokens)];
  return [
    { label: t('tokens_column'), values: all, tone: 'accent', kind: 'bars', total: count(sum(all)) },
    { label: t('chart_output'), values: output, tone: 'good', kind: 'bars', total: count(sum(output)) },
  ];
};

const costSeries = ({ intervals }: UsageTimeline): ChartSeries[] => {
  const cost = intervals.map((one) => one.cost_usd);
  return [{ label: t('cost'), values: cost, tone: 'accent', kind: 'bars', total: money(sum(cost)) }];
};

interface FigureProps {
  readonly title: string;
  readonly of: RunTimeline | UsageTimeline;
  readonly series: readonly ChartSeries[];
  readonly format: (value: number) => string;
}

const Figure = ({ title, of, series, format }: FigureProps) => (
  <div class="overview-chart" role="group" aria-label={title}>
    <h3>{title}</h3>
    <Chart label={title} starts={of.intervals.map(({ start }) => start)} intervalSeconds={of.interval_seconds} series={series} format={format} />
  </div>
);

const RunCharts = ({ period }: { period: Period }) => {
  const runs = useLoaded(`runs of a ${period}`, (signal) => daemon.call('getRunTimeline', { period }, { signal }));
  useFresh(runs.reload, ['run']);
  return (
    <Shown of={runs}>
      {(of) => (
        <>
          <Figure title={t('runs_chart')} of={of} series={runSeries(of)} format={count} />
          <Figure title={t('duration_chart')} of={of} series={durationSeries(of)} format={duration} />
        </>
      )}
    </Shown>
  );
};

const UsageCharts = ({ period }: { period: Period }) => {
  const usage = useLoaded(`usage of a ${period}`, (signal) => daemon.call('getUsageTimeline', { period }, { signal }));
  useFresh(usage.reload, ['run']);
  return (
    <Shown of={usage}>
      {(of) => (
        <>
          <Figure title={t('tokens_chart')} of={of} series={tokenSeries(of)} format={count} />
          <Figure title={t('cost_chart')} of={of} series={costSeries(of)} format={money} />
        </>
      )}
    </Shown>
  );
};

export const Activity = ({ withRuns, withUsage }: { withRuns: boolean; withUsage: boolean }) => {
  const [period, setPeriod] = useState(chosenBefore);
  if (!withRuns && !withUsage) return null;
  const choose = (chosen: string): void => {
    keep(KEPT, chosen);
    setPeriod(chosenBefore);
  };
  return (
    <Section title={t('activity')} actions={<Select bare label={t('period')} value={period} options={PERIODS.map((value) => ({ value, label: t(`period_${value}`) }))} onValue={choose} />}>
      <div class="overview-charts">
        {withRuns && <RunCharts period={period} />}
        {withUsage && <UsageCharts period={period} />}
      </div>
    </Section>
  );
};
