/** Cost and tokens by day. */
import { Chart, count, money, type OutputOf } from '@svc/kit';
import { t } from './words.js';

type Day = OutputOf<'listUsageByDay'>['days'][number];

const DAY_SECONDS = 86_400;

const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);

export const DayChart = ({ days }: { days: readonly Day[] }) => {
  const starts = days.map(({ date }) => `${date}T00:00:00.000Z`);
  const [cost, tokens] = [days.map((day) => day.cost_usd), days.map((day) => day.tokens)];
  return (
    <div class="usage-charts">
      <Chart label={t('cost')} starts={starts} intervalSeconds={DAY_SECONDS} series={[{ label: t('cost'), values: cost, tone: 'accent', kind: 'bars', total: money(sum(cost)) }]} format={money} />
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
