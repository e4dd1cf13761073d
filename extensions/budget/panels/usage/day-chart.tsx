/** Cost and tokens by day, whole or by model or agent. */
import { Chart, type ChartSeries, type ChartTone, count, money, type OutputOf } from '@svc/kit';
import { t } from './words.js';

type Usage = OutputOf<'listUsageByDay'>;
type Group = NonNullable<Usage['groups']>[number];
type Measure = 'cost_usd' | 'tokens';

const DAY_SECONDS = 86_400;
const TONES: readonly ChartTone[] = ['accent', 'good', 'warn'];

const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);

/** `limit` is that of a day, in US dollars; 0 where there is none. `nameOf` says what a group is called. */
export const DayChart = ({ usage, limit, nameOf }: { usage: Usage; limit: number; nameOf: (group: Group) => string }) => {
  const { days } = usage;
  const starts = days.map(({ date }) => `${date}T00:00:00.000Z`);
  const cost = seriesOf(usage, 'cost_usd', money, nameOf);
  const most: ChartSeries = { label: t('limit_of_day'), values: days.map(() => limit), tone: 'bad', kind: 'line', total: money(limit) };
  return (
    <div class="usage-charts">
      <Chart label={t('cost')} starts={starts} intervalSeconds={DAY_SECONDS} series={limit > 0 ? [...cost, most] : cost} format={money} />
      <Chart label={t('tokens')} starts={starts} intervalSeconds={DAY_SECONDS} series={seriesOf(usage, 'tokens', count, nameOf)} format={count} />
    </div>
  );
};

const seriesOf = ({ days, groups }: Usage, measure: Measure, format: (value: number) => string, nameOf: (group: Group) => string): ChartSeries[] => {
  const whole = days.map((day) => day[measure]);
  if (groups === undefined) return [{ label: t(measure === 'tokens' ? 'tokens' : 'cost'), values: whole, tone: 'accent', kind: 'bars', total: format(sum(whole)) }];
  const rest = whole.map((value, index) => Math.max(0, value - sum(groups.map((group) => group[measure][index] ?? 0))));
  const stack = (label: string, values: readonly number[], tone: ChartTone): ChartSeries => ({ label, values, tone, kind: 'stack', total: format(sum(values)) });
  return [...groups.map((group, index) => stack(nameOf(group), group[measure], TONES[index] ?? 'accent')), ...(hasRest(rest, whole) ? [stack(t('others'), rest, 'muted')] : [])];
};

/** Sums of fractions differ by less than a millionth. */
const hasRest = (rest: readonly number[], whole: readonly number[]): boolean => sum(rest) > sum(whole) / 1_000_000;
