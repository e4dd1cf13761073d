/** Cost and tokens by day. */
import { Chart, type ChartSeries, count, money, type OutputOf } from '@svc/kit';
import { t } from './words.js';

type Day = OutputOf<'listUsageByDay'>['days'][number];

const DAY_SECONDS = 86_400;

const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);

/** `limit` is that of a day, in US dollars; 0 where there is none. */
export const DayChart = ({ days, limit }: { days: readonly Day[]; limit: number }) => {
  const starts = days.map(({ date }) => `${date}T00:00:00.000Z`);
  const [cost, tokens] = [days.map((day) => day.cost_usd), days.map((day) => day.tokens)];
  const spent: ChartSeries = { label: t('cost'), values: cost, tone: 'accent', kind: 'bars', total: money(sum(cost)) };
  const most: ChartSeries = { label: t('limit_of_day'), values: days.map(() => limit), tone: 'bad', kind: 'line', total: money(limit) };
  return (
    <div class="usage-charts">
      <Chart label={t('cost')} starts={starts} intervalSeconds={DAY_SECONDS} series={limit > 0 ? [spent, most] : [spent]} format={money} />
      <Chart
        label={t('tokens')}
        starts={starts}
        intervalSeconds={DAY_SECONDS}
        series={[{ label: t('tokens'), values: tokens, tone: 'accent', kind: 'bars', total: count(sum(tokens)) }]}
        format={count}
      />
    </div>
  );
};
