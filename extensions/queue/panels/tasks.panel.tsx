/** What was asked of agents and how far it is: filtered by state, cancelled, retried. The filter is in the address: `#/tasks?state=failed`. */
import {
  address,
  addressOf,
  ago,
  Badge,
  Button,
  type Column,
  confirmed,
  count,
  daemon,
  dateTime,
  definePanel,
  Empty,
  type IconName,
  may,
  notify,
  type OutputOf,
  PanelBody,
  PanelHead,
  Select,
  setQuery,
  Shown,
  Stat,
  Stats,
  Table,
  type Tone,
  useFresh,
  useLoaded,
  useOffered,
  useState,
} from '@svc/kit';
import { t } from './tasks/words.js';

type Task = OutputOf<'listTasks'>['tasks'][number];
type State = Task['status'];

const PAGE = 50;
const MAX_SHOWN = 200;
const STATES: readonly State[] = ['pending', 'in_progress', 'completed', 'failed', 'cancelled'];
const LOOKS: Readonly<Record<State, readonly [Tone, IconName]>> = {
  pending: ['quiet', 'clock'],
  in_progress: ['info', 'play'],
  completed: ['good', 'check'],
  failed: ['bad', 'circle-alert'],
  cancelled: ['quiet', 'ban'],
};

const Tasks = () => {
  const state = STATES.find((one) => one === address.value.query.state);
  const [limit, setLimit] = useState(PAGE);
  const queue = useLoaded('queue', (signal) => daemon.call('getQueueStatus', {}, { signal }));
  const tasks = useLoaded(`tasks ${state} ${limit}`, (signal) => daemon.call('listTasks', { limit, ...(state ? { status: state } : {}) }, { signal }));
  const reload = (): void => {
    queue.reload();
    tasks.reload();
  };
  useFresh(reload, ['run']);
  return (
    <>
      <PanelHead title={t('title')} note={t('note')} />
      <PanelBody>
        <div class="stack">
          <Shown of={queue}>{(now) => <Figures queue={now} />}</Shown>
          <Select
            label={t('state')}
            value={state ?? ''}
            onValue={(value) => setQuery({ state: value })}
            options={[{ value: '', label: t('any') }, ...STATES.map((one) => ({ value: one, label: t(one) }))]}
          />
          <Shown of={tasks} lines={12}>
            {({ tasks: rows, next }) => (
              <>
                {rows.length === 0 ? <Nothing isFiltered={state !== undefined} /> : <List rows={rows} onChanged={reload} />}
                {next !== null && limit < MAX_SHOWN && (
                  <div>
                    <Button onPress={() => setLimit(MAX_SHOWN)}>{t('older')}</Button>
                  </div>
                )}
              </>
            )}
          </Shown>
        </div>
      </PanelBody>
    </>
  );
};

const Figures = ({ queue: { lanes, depth, throughput, config } }: { queue: OutputOf<'getQueueStatus'> }) => (
  <Stats>
    <Stat label={t('active')} value={count(lanes.reduce((sum, { active }) => sum + active, 0))} note={t('of_capacity', { capacity: count(config.max_active) })} />
    <Stat label={t('depth')} value={count(depth)} note={config.max_depth_global === 0 ? t('no_limit') : t('of_limit', { limit: count(config.max_depth_global) })} />
    <Stat label={t('done_minute')} value={count(throughput.completed_last_minute)} note={t('failed_minute', { count: count(throughput.failed_last_minute) })} />
  </Stats>
);

const Nothing = ({ isFiltered }: { isFiltered: boolean }) =>
  isFiltered ? (
    <Empty icon="search" title={t('none_like')}>
      <Button onPress={() => setQuery({ state: undefined })}>{t('clear')}</Button>
    </Empty>
  ) : (
    <Empty icon="check" title={t('none')}>
      <p>{t('none_text')}</p>
    </Empty>
  );

const List = ({ rows, onChanged }: { rows: readonly Task[]; onChanged: () => void }) => {
  const isOffered = useOffered();
  return <Table label={t('table')} columns={columnsOf(onChanged)} rows={rows} keyOf={({ id }) => id} hrefOf={({ id }) => (isOffered('runs') ? addressOf('runs', [id]) : undefined)} />;
};

const titleOf = ({ title }: Task): string => title || t('untitled');

const columnsOf = (onChanged: () => void): ReadonlyArray<Column<Task>> => [
  { id: 'task', title: t('task'), cell: (task) => <bdi class={task.title === '' ? 'muted' : undefined}>{titleOf(task)}</bdi> },
  { id: 'state', title: t('state'), cell: (task) => <StateCell task={task} /> },
  { id: 'agent', title: t('agent'), isMinor: true, cell: ({ agent_name: name }) => <bdi>{name ?? t('gone')}</bdi> },
  {
    id: 'created',
    title: t('created'),
    cell: ({ created_at: at }) => (
      <time dateTime={at} title={dateTime(at)}>
        {ago(at, Date.now())}
      </time>
    ),
  },
  { id: 'actions', title: t('actions'), align: 'end', cell: (task) => may('runs.send') && <Action task={task} onChanged={onChanged} /> },
];

const StateCell = ({ task: { status, waits_for: waits, error } }: { task: Task }) => {
  const [tone, icon] = LOOKS[status];
  const why = waits === null ? error?.message : t('waits', { what: waits });
  return (
    <>
      <Badge tone={tone} icon={icon}>
        {t(status)}
      </Badge>
      {why !== undefined && <div class="muted">{why}</div>}
    </>
  );
};

const Action = ({ task, onChanged }: { task: Task; onChanged: () => void }) => {
  const isOpen = task.completed_at === null;
  const cancel = async (): Promise<void> => {
    if (!(await confirmed({ title: t('cancel_title'), text: t('cancel_text'), action: t('cancel_action'), isDangerous: true }))) return;
    await daemon.call('cancelTask', { id: task.id });
    notify(t('cancelled_now'));
    onChanged();
  };
  const retry = async (): Promise<void> => {
    const { replayed } = await daemon.call('retryTask', { id: task.id });
    notify(t(replayed ? 'retried_before' : 'retried'));
    onChanged();
  };
  return (
    <Button kind="quiet" aria-label={t(isOpen ? 'cancel_named' : 'retry_named', { title: titleOf(task) })} onPress={isOpen ? cancel : retry}>
      {t(isOpen ? 'cancel' : 'retry')}
    </Button>
  );
};

export const panel = definePanel({ view: Tasks });
