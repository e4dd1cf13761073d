/** Backups: create, delete, restore, and what runs now. */
import {
  ago,
  Badge,
  Button,
  bytes,
  type Column,
  confirmed,
  daemon,
  dateTime,
  definePanel,
  Empty,
  IconButton,
  type OutputOf,
  PanelBody,
  PanelHead,
  Shown,
  Table,
  useEffect,
  useLoaded,
  useState,
} from '@svc/kit';
import { t } from './backups/words.js';

type List = OutputOf<'listBackups'>;
type Backup = List['backups'][number];

/** How often progress is asked for while something runs. */
const PROGRESS_MS = 700;
/** Many gigabytes on a slow disk. */
const LONG_MS = 3_600_000;

const Backups = () => {
  const loaded = useLoaded('backups', (signal) => daemon.call('listBackups', {}, { signal }));
  const [said, setSaid] = useState<string>();
  const [isWaiting, setWaiting] = useState(false);
  const isBusy = isWaiting || (loaded.data?.running ?? null) !== null;
  useEffect(() => {
    if (!isBusy) return undefined;
    const timer = setInterval(loaded.reload, PROGRESS_MS);
    return () => clearInterval(timer);
  }, [isBusy]);
  const doing = async (work: () => Promise<string | undefined>): Promise<void> => {
    setWaiting(true);
    setSaid(undefined);
    try {
      setSaid(await work());
    } finally {
      setWaiting(false);
      loaded.reload();
    }
  };
  const create = () => doing(async () => t('created', { file: (await daemon.call('createBackup', {}, { timeoutMs: LONG_MS })).filename }));
  return (
    <>
      <PanelHead
        title={t('title')}
        note={t('note')}
        actions={
          <Button kind="primary" icon="plus" disabled={isBusy} onPress={create}>
            {t('create')}
          </Button>
        }
      />
      <PanelBody>
        <div class="stack">
          <p role="status">{loaded.data?.running ? progressOf(loaded.data.running) : (said ?? '')}</p>
          <Shown of={loaded} lines={6}>
            {(list) => (
              <>
                <Notes of={list} />
                {list.backups.length === 0 ? (
                  <Empty icon="history" title={t('none')}>
                    <p>{t('none_text')}</p>
                  </Empty>
                ) : (
                  <Table label={t('table')} columns={columnsOf(Date.now(), isBusy, doing)} rows={list.backups} keyOf={({ filename }) => filename} />
                )}
              </>
            )}
          </Shown>
        </div>
      </PanelBody>
    </>
  );
};

const progressOf = ({ kind, step }: NonNullable<List['running']>): string => t('running', { what: t(kind === 'backup' ? 'creating' : 'restoring'), step: t(`step_${step}`) });

const scheduleText = ({ cron, every_hours: hours, keep, next_at: next, time_zone: zone }: List['schedule']): string => {
  if (next === null) return t('no_schedule');
  return cron === '' ? t('schedule', { hours, keep, next: dateTime(next) }) : t('schedule_at', { cron, zone, keep, next: dateTime(next) });
};

const Notes = ({ of: { last_restore: last, schedule } }: { of: List }) => (
  <div class="stack">
    <p class="muted">{scheduleText(schedule)}</p>
    {last && (
      <p>
        <Badge tone={last.status === 'restored' ? 'good' : 'bad'}>{t(`is_${last.status}`)}</Badge>{' '}
        {last.status === 'restored'
          ? t('restored', { file: last.filename, when: dateTime(last.at), safety: last.safety_backup ?? t('no_safety') })
          : t('reverted', { file: last.filename, when: dateTime(last.at), reason: last.reason ?? '' })}
      </p>
    )}
  </div>
);

type Doing = (work: () => Promise<string | undefined>) => Promise<void>;

const remove = async ({ filename }: Backup, doing: Doing): Promise<void> => {
  if (await confirmed({ title: t('remove_title'), text: t('remove_text', { file: filename }), action: t('remove_action'), isDangerous: true }))
    await doing(async () => {
      await daemon.call('deleteBackup', { filename });
      return undefined;
    });
};

const restore = async ({ created_at: at, filename }: Backup, doing: Doing): Promise<void> => {
  if (await confirmed({ title: t('restore_title'), text: t('restore_text', { when: dateTime(at) }), action: t('restore_action'), isDangerous: true }))
    await doing(async () => {
      await daemon.call('restoreBackup', { body: { filename } }, { timeoutMs: LONG_MS });
      return t('restarting');
    });
};

const columnsOf = (now: number, isBusy: boolean, doing: Doing): ReadonlyArray<Column<Backup>> => [
  {
    id: 'backup',
    title: t('backup'),
    cell: ({ filename, problem }) => (
      <>
        <bdi>{filename}</bdi> {problem !== null && <Badge tone="bad">{t('unusable')}</Badge>}
        {problem !== null && <div class="muted small-text">{problem}</div>}
      </>
    ),
  },
  {
    id: 'when',
    title: t('when'),
    cell: ({ created_at: at }) => (
      <time dateTime={at} title={dateTime(at)}>
        {ago(at, now)}
      </time>
    ),
  },
  { id: 'size', title: t('size'), cell: ({ size_bytes: size }) => bytes(size) },
  { id: 'content', title: t('content'), isMinor: true, cell: ({ components }) => <span class="muted small-text">{components.join(', ')}</span> },
  {
    id: 'actions',
    title: t('actions'),
    cell: (backup) => (
      <div class="row">
        <IconButton icon="rotate-ccw" label={t('restore', { file: backup.filename })} disabled={isBusy || backup.problem !== null} onPress={() => restore(backup, doing)} />
        <IconButton icon="trash-2" label={t('remove', { file: backup.filename })} disabled={isBusy} onPress={() => remove(backup, doing)} />
      </div>
    ),
  },
];

export const panel = definePanel({ view: Backups });
