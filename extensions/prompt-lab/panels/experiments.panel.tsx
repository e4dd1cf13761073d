/** What is drawn by hand of experiments: one alone, with its arms as numbers and as bars with their intervals over time. */
import { Badge, Chart, count, daemon, duration, Empty, money, type OutputOf, Section, Shown, Table, useFresh, useLoaded } from '@svc/kit';
import type { CollectionSlots, Item } from '@svc/kit/collection';
import { t } from './experiments/words.js';

type Experiment = OutputOf<'getPromptExperiment'>;
type Numbers = OutputOf<'getPromptMetrics'>;
type Arm = Numbers['metrics'][number];

const percent = (share: number): string => `${Math.round(share)} %`;
const intervalOf = ({ interval }: Pick<Arm, 'interval'>): string => (interval ? `${percent(100 * interval.low)} – ${percent(100 * interval.high)}` : t('too_few'));

const OneExperiment = ({ item }: { item: Item }) => {
  const one = item as unknown as Experiment;
  const loaded = useLoaded(`prompt metrics ${one.id}`, (signal) => daemon.call('getPromptMetrics', { id: one.id }, { signal }));
  useFresh(loaded.reload, ['prompts', 'run']);
  return (
    <Shown of={loaded} lines={8}>
      {(numbers) => <Arms one={one} numbers={numbers} />}
    </Shown>
  );
};

const Arms = ({ one, numbers: { metrics, over_time: course } }: { one: Experiment; numbers: Numbers }) => (
  <>
    <Section title={t('arms')}>
      <Table
        label={t('numbers')}
        rows={metrics}
        keyOf={({ variant_id: id }) => id}
        columns={[
          {
            id: 'name',
            title: t('arm'),
            cell: ({ variant_id: id, variant_name: name }: Arm) => (
              <>
                <bdi>{name}</bdi> {id === one.winner_variant_id && <Badge tone="good">{t('winner')}</Badge>}
              </>
            ),
          },
          { id: 'runs', title: t('runs'), align: 'end', cell: ({ impressions }: Arm) => count(impressions) },
          { id: 'wins', title: t('wins'), align: 'end', cell: ({ wins }: Arm) => count(wins) },
          { id: 'share', title: t('share'), align: 'end', cell: ({ impressions, success_rate: rate }: Arm) => (impressions === 0 ? '–' : percent(rate)) },
          { id: 'interval', title: t('interval'), align: 'end', cell: intervalOf },
          { id: 'cost', title: t('cost'), align: 'end', cell: ({ total_cost_usd: cost }: Arm) => money(cost) },
          { id: 'time', title: t('time'), align: 'end', cell: ({ avg_latency_ms: ms }: Arm) => duration(ms) },
        ]}
      />
    </Section>
    <Section title={t('over_time')}>
      {course.starts.length === 0 ? (
        <Empty icon="activity" title={t('no_runs')}>
          <p>{t('no_runs_text')}</p>
        </Empty>
      ) : (
        metrics.map((arm) => <Course key={arm.variant_id} arm={arm} course={course} />)
      )}
    </Section>
  </>
);

const Course = ({ arm, course: { starts, interval_seconds: seconds, arms } }: { arm: Arm; course: Numbers['over_time'] }) => {
  const points = arms.find(({ variant_id: id }) => id === arm.variant_id)?.points ?? [];
  return (
    <Chart
      label={t('course_of', { name: arm.variant_name })}
      starts={starts}
      intervalSeconds={seconds}
      format={percent}
      series={[
        { label: t('share'), values: points.map(({ share }) => share), tone: 'accent', kind: 'bars', total: percent(arm.success_rate) },
        { label: t('at_least'), values: points.map(({ low }) => low), tone: 'muted', kind: 'line', total: arm.interval ? percent(100 * arm.interval.low) : '–' },
        { label: t('at_most'), values: points.map(({ high }) => high), tone: 'muted', kind: 'line', total: arm.interval ? percent(100 * arm.interval.high) : '–' },
      ]}
    />
  );
};

export const slots: CollectionSlots = { detail: (item) => <OneExperiment key={String(item.id)} item={item} /> };
