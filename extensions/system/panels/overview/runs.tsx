/** What was asked of agents lately, and what became of it. */
import { addressOf, ago, Badge, type Column, count, daemon, duration, type IconName, LinkButton, money, type OutputOf, Section, Shown, Table, type Tone, useFresh, useLoaded } from '@svc/kit';
import { t } from './words.js';

type Run = OutputOf<'listRuns'>['runs'][number];
type Status = Run['status'];

const SHOWN = 6;
const TONES: Readonly<Record<Status, readonly [Tone, IconName]>> = {
  running: ['info', 'activity'],
  waiting: ['warn', 'clock'],
  queued: ['quiet', 'clock'],
  failed: ['bad', 'circle-x'],
  cancelled: ['quiet', 'circle-stop'],
  done: ['good', 'circle-check'],
};

const StatusBadge = ({ status }: { status: Status }) => {
  const [tone, icon] = TONES[status];
  return (
    <Badge tone={tone} icon={icon}>
      {t(`run_${status}`)}
    </Badge>
  );
};

const lastedOf = ({ started_at, ended_at }: Run): string => duration(Math.max(0, (ended_at === null ? Date.now() : Date.parse(ended_at)) - Date.parse(started_at)));

const columns = (): ReadonlyArray<Column<Run>> => [
  { id: 'when', title: t('run_when'), cell: ({ started_at }) => ago(started_at) },
  { id: 'agent', title: t('agent'), cell: ({ agent_name }) => <bdi class="run-agent">{agent_name ?? t('gone_agent')}</bdi> },
  {
    id: 'status',
    title: t('run_status'),
    cell: (run) => (
      <span class="run-status">
        <StatusBadge status={run.status} />
        {run.error !== null && <span>{run.error.message}</span>}
        {run.waiting !== null && <span>{run.waiting.reason}</span>}
      </span>
    ),
  },
  { id: 'steps', title: t('run_steps'), align: 'end', isMinor: true, cell: ({ step_count }) => count(step_count) },
  { id: 'tokens', title: t('tokens_column'), align: 'end', isMinor: true, cell: ({ input_tokens, output_tokens }) => count(input_tokens + output_tokens) },
  { id: 'cost', title: t('cost'), align: 'end', cell: ({ cost_usd }) => money(cost_usd) },
  { id: 'lasted', title: t('run_lasted'), align: 'end', cell: lastedOf },
];

export const Runs = ({ isOffered }: { isOffered: (panel: string) => boolean }) => {
  const runs = useLoaded('newest runs', (signal) => daemon.call('listRuns', { limit: SHOWN }, { signal }));
  useFresh(runs.reload, ['run']);
  const canOpen = isOffered('runs');
  return (
    <Section
      title={t('runs')}
      actions={
        canOpen && (
          <LinkButton small icon="activity" href={addressOf('runs')}>
            {t('runs_all')}
          </LinkButton>
        )
      }
    >
      <Shown of={runs}>
        {({ runs: rows }) =>
          rows.length === 0 ? (
            <p class="muted">{t('no_runs')}</p>
          ) : (
            <Table label={t('runs_table')} columns={columns()} rows={rows} keyOf={({ run_id }) => run_id} hrefOf={({ run_id }) => (canOpen ? addressOf('runs', [run_id]) : undefined)} />
          )
        }
      </Shown>
    </Section>
  );
};
