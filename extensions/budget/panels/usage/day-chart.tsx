/** Cost by day as bars. Those who cannot see them read the same in the table below. */
import { type Column, count, Fold, money, type OutputOf, Table } from '@svc/kit';
import { t } from './words.js';

type Day = OutputOf<'listUsageByDay'>['days'][number];

export const DayChart = ({ days }: { days: readonly Day[] }) => {
  const most = Math.max(...days.map(({ cost_usd: cost }) => cost), 0);
  const heightOf = (cost: number): string => (most === 0 ? '1px' : `${(cost / most) * 100}%`);
  return (
    <>
      <div class="usage-days" aria-hidden="true">
        {days.map(({ date, cost_usd: cost, calls }) => (
          <span class="usage-day" key={date} title={`${date}: ${money(cost)}, ${t('calls', { count: count(calls) })}`}>
            <span class={cost === 0 ? 'usage-bar is-empty' : 'usage-bar'} style={{ height: heightOf(cost) }} />
          </span>
        ))}
      </div>
      <div class="usage-ends muted small-text" aria-hidden="true">
        <span>{days[0]?.date}</span>
        <span>{days.at(-1)?.date}</span>
      </div>
      <Fold summary={t('days_table', { count: days.length })}>
        <Table label={t('days_table', { count: days.length })} columns={columns()} rows={[...days].reverse().filter(({ calls }) => calls > 0)} keyOf={({ date }) => date} />
      </Fold>
    </>
  );
};

const columns = (): ReadonlyArray<Column<Day>> => [
  { id: 'day', title: t('day'), cell: ({ date }) => date },
  { id: 'cost', title: t('cost'), align: 'end', cell: ({ cost_usd: cost }) => money(cost) },
  { id: 'tokens', title: t('tokens'), align: 'end', cell: ({ tokens }) => count(tokens) },
  { id: 'calls', title: t('calls_column'), align: 'end', isMinor: true, cell: ({ calls }) => count(calls) },
];
