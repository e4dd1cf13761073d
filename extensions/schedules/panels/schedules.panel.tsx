/** Jobs at set times: when each is due next, how it did, and what it did. One job has its own address: `#/schedules/ID`. */
import {
  addressOf,
  ago,
  Badge,
  Button,
  type Column,
  confirmed,
  daemon,
  dateTime,
  definePanel,
  Empty,
  FormDialog,
  may,
  notify,
  type OutputOf,
  PanelBody,
  PanelHead,
  type PanelProps,
  Select,
  Shown,
  Table,
  TextArea,
  TextField,
  type Tone,
  language,
  useFresh,
  useLoaded,
  useState,
} from '@svc/kit';
import { cronWords } from './schedules/cron-words.js';
import { Week } from './schedules/week.js';
import { t } from './schedules/words.js';

type Job = OutputOf<'listCronJobs'>['jobs'][number];
type Fire = OutputOf<'listCronFires'>['fires'][number];

const TONES: Readonly<Record<Fire['status'], Tone>> = { running: 'info', ok: 'good', error: 'bad', skipped: 'quiet' };
const DELIVERED: Readonly<Record<Fire['deliveries'][number]['status'], Tone>> = { waiting: 'info', sent: 'good', failed: 'bad', unknown: 'warn' };
const ANSWER_CHARS = 200;

const Schedules = ({ path: [id] }: PanelProps) => (id === undefined ? <AllJobs /> : <OneJob id={id} />);

const Moment = ({ at }: { at: string }) => (
  <time dateTime={at} title={dateTime(at)}>
    {Date.parse(at) > Date.now() ? dateTime(at) : ago(at, Date.now())}
  </time>
);

/** With its words, where it has any. */
const Times = ({ text }: { text: string }) => {
  const words = cronWords(text, language.value);
  return (
    <>
      <code>{text}</code> {words !== undefined && <span class="muted">{words}</span>}
    </>
  );
};

const AllJobs = () => {
  const [isCreating, setCreating] = useState(false);
  const jobs = useLoaded('schedules', (signal) => daemon.call('listCronJobs', {}, { signal }));
  useFresh(() => jobs.reload(), ['schedules.changed']);
  return (
    <>
      <PanelHead
        title={t('title')}
        note={t('note')}
        actions={
          may('schedules.write') && (
            <Button kind="primary" icon="plus" onPress={() => setCreating(true)}>
              {t('create')}
            </Button>
          )
        }
      />
      <PanelBody>
        {(jobs.data?.jobs.length ?? 0) > 0 && <Week jobs={jobs.data?.jobs ?? []} />}
        <Shown of={jobs} lines={8}>
          {({ jobs: rows }) =>
            rows.length === 0 ? (
              <Empty icon="clock" title={t('none')}>
                <p>{t('none_text')}</p>
              </Empty>
            ) : (
              <Table label={t('table')} columns={columnsOf(() => jobs.reload())} rows={rows} keyOf={({ id }) => id} hrefOf={({ id }) => addressOf('schedules', [id])} />
            )
          }
        </Shown>
      </PanelBody>
      {isCreating && <JobForm onClose={() => setCreating(false)} onSaved={() => jobs.reload()} />}
    </>
  );
};

const columnsOf = (reload: () => void): ReadonlyArray<Column<Job>> => [
  { id: 'job', title: t('job'), cell: ({ name }) => <bdi>{name}</bdi> },
  { id: 'times', title: t('times'), cell: ({ schedule_text: text }) => <Times text={text} /> },
  { id: 'next', title: t('next'), cell: ({ enabled, next_run: next }) => (enabled ? next === null ? t('never') : <Moment at={next} /> : <Badge tone="quiet">{t('off')}</Badge>) },
  { id: 'last', title: t('last'), isMinor: true, cell: ({ last_status: last }) => last !== null && <Badge tone={last === 'ok' ? 'good' : last.startsWith('error') ? 'bad' : 'quiet'}>{last}</Badge> },
  { id: 'actions', title: t('actions'), align: 'end', cell: (job) => may('schedules.write') && <Actions job={job} reload={reload} /> },
];

const Actions = ({ job: { id, name, enabled }, reload }: { job: Job; reload: () => void }) => {
  const toggle = async (): Promise<void> => {
    await daemon.call('enableCronJob', { id, body: { enabled: !enabled } });
    reload();
  };
  const run = async (): Promise<void> => {
    const answer = await daemon.call('runSchedule', { id });
    notify(answer.status === 'waiting' ? t('waits') : t('ran', { answer: (answer.response ?? answer.output ?? '').slice(0, ANSWER_CHARS) }));
    reload();
  };
  const remove = async (): Promise<void> => {
    if (!(await confirmed({ title: t('delete'), text: t('sure', { name }), action: t('delete'), isDangerous: true }))) return;
    await daemon.call('deleteCronJob', { id });
    reload();
  };
  return (
    <>
      <Button small onPress={run}>
        {t('run')}
      </Button>
      <Button small onPress={toggle}>
        {t(enabled ? 'disable' : 'enable')}
      </Button>
      <Button small onPress={remove}>
        {t('delete')}
      </Button>
    </>
  );
};

const PLACES = ['none', 'last_channel', 'channel', 'email', 'webhook'] as const;
type Place = (typeof PLACES)[number];
/** Of these, a person says which. */
const NAMED: ReadonlySet<Place> = new Set(['channel', 'email', 'webhook']);

const deliveryOf = (place: Place, to: string): { delivery?: string } => {
  if (place === 'none') return {};
  return { delivery: place === 'last_channel' ? place : place === 'email' ? `email:${to.trim()}` : to.trim() };
};

const JobForm = ({ onClose, onSaved }: { onClose: () => void; onSaved: () => void }) => {
  const agents = useLoaded('agents of schedules', (signal) => daemon.call('listAgents', {}, { signal }));
  const [agent, setAgent] = useState('');
  const [cron, setCron] = useState('0 9 * * 1-5');
  const [zone, setZone] = useState(Intl.DateTimeFormat().resolvedOptions().timeZone);
  const [prompt, setPrompt] = useState('');
  const [place, setPlace] = useState<Place>('none');
  const [to, setTo] = useState('');
  const names = agents.data?.agents.map(({ name }) => ({ value: name, label: name })) ?? [];
  const save = async (): Promise<void> => {
    const isCron = cron.trim().split(/\s+/).length === 5;
    await daemon.call('createSchedule', { body: { agent_id: agent || (names[0]?.value ?? ''), cron, prompt, ...(isCron ? { tz: zone } : {}), ...deliveryOf(place, to) } });
    onSaved();
    onClose();
  };
  return (
    <FormDialog title={t('create')} action={t('save')} onSubmit={save} onClose={onClose} canSubmit={prompt.trim() !== '' && cron.trim() !== '' && (!NAMED.has(place) || to.trim() !== '')}>
      <Select label={t('agent')} value={agent} onValue={setAgent} options={names} />
      <TextField label={t('cron')} hint={cronWords(cron, language.value) ?? t('cron_hint')} value={cron} onValue={setCron} isNeeded />
      <TextField label={t('zone')} value={zone} onValue={setZone} />
      <TextArea label={t('prompt')} value={prompt} onValue={setPrompt} rows={4} isNeeded />
      <Select label={t('delivery')} value={place} onValue={(value) => setPlace(value as Place)} options={PLACES.map((value) => ({ value, label: t(`to_${value}`) }))} />
      {NAMED.has(place) && <TextField label={t('place')} hint={t(`hint_${place as 'channel' | 'email' | 'webhook'}`)} value={to} onValue={setTo} isNeeded />}
    </FormDialog>
  );
};

const OneJob = ({ id }: { id: string }) => {
  const job = useLoaded(`schedule ${id}`, (signal) => daemon.call('getCronJob', { id }, { signal }));
  const fires = useLoaded(`fires ${id}`, (signal) => daemon.call('listCronFires', { id }, { signal }));
  useFresh(() => {
    job.reload();
    fires.reload();
  }, ['schedules.changed']);
  return (
    <>
      <PanelHead back={{ href: addressOf('schedules'), label: t('back') }} title={job.data?.name ?? t('title')} note={job.data?.schedule_text} />
      <PanelBody>
        <Shown of={fires} lines={8}>
          {({ fires: rows }) => (rows.length === 0 ? <Empty icon="clock" title={t('fires_none')} /> : <Table label={t('fires')} columns={fireColumns} rows={rows} keyOf={(fire) => fire.id} />)}
        </Shown>
      </PanelBody>
    </>
  );
};

const fireColumns: ReadonlyArray<Column<Fire>> = [
  { id: 'at', title: t('at'), cell: ({ fired_at: at }) => <Moment at={at} /> },
  { id: 'state', title: t('state'), cell: ({ status }) => <Badge tone={TONES[status]}>{status}</Badge> },
  { id: 'why', title: t('why'), cell: ({ reason, output }) => <bdi>{reason ?? output ?? ''}</bdi> },
  {
    id: 'deliveries',
    title: t('deliveries'),
    isMinor: true,
    cell: ({ deliveries }) =>
      deliveries.map(({ to, status, reason }) => (
        <div key={to}>
          <bdi>{to}</bdi> <Badge tone={DELIVERED[status]}>{t(`is_${status}`)}</Badge> {reason !== null && <span class="muted">{reason}</span>}
        </div>
      )),
  },
];

export const panel = definePanel({ view: Schedules });
