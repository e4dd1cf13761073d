/** What agents told their owner: newest first, marked as read, deleted. */
import {
  addressOf,
  ago,
  Badge,
  Button,
  type Column,
  daemon,
  dateTime,
  definePanel,
  Empty,
  may,
  notify,
  type OutputOf,
  PanelBody,
  PanelHead,
  Shown,
  Table,
  useFresh,
  useLoaded,
  useOffered,
  useState,
} from '@svc/kit';
import { t } from './notices/words.js';

type Notice = OutputOf<'listNotices'>['notices'][number];

const PAGE = 50;
const MAX_SHOWN = 200;

const NoticeList = () => {
  const [limit, setLimit] = useState(PAGE);
  const isOffered = useOffered();
  const notices = useLoaded(`notices ${limit}`, (signal) => daemon.call('listNotices', { limit }, { signal }));
  useFresh(() => notices.reload(), ['notice']);
  return (
    <>
      <PanelHead title={t('title')} note={t('note')} />
      <PanelBody>
        <Shown of={notices} lines={12}>
          {({ notices: rows, total }) =>
            rows.length === 0 ? (
              <Empty icon="check" title={t('none')}>
                <p>{t('none_text')}</p>
              </Empty>
            ) : (
              <div class="stack">
                <Table
                  label={t('table')}
                  columns={columnsOf(() => notices.reload())}
                  rows={rows}
                  keyOf={({ id }) => id}
                  hrefOf={({ run_id: run }) => (isOffered('runs') ? addressOf('runs', [run]) : undefined)}
                />
                {total > rows.length && limit < MAX_SHOWN && (
                  <div>
                    <Button onPress={() => setLimit(MAX_SHOWN)}>{t('older')}</Button>
                  </div>
                )}
              </div>
            )
          }
        </Shown>
      </PanelBody>
    </>
  );
};

const columnsOf = (onChanged: () => void): ReadonlyArray<Column<Notice>> => [
  {
    id: 'notice',
    title: t('notice'),
    cell: ({ reason, summary }) => (
      <>
        <bdi>{reason}</bdi>
        <div class="muted">
          <bdi>{summary}</bdi>
        </div>
      </>
    ),
  },
  { id: 'state', title: t('state'), cell: ({ read_at: read }) => <Badge tone={read === null ? 'info' : 'quiet'}>{t(read === null ? 'unread' : 'read')}</Badge> },
  { id: 'agent', title: t('agent'), isMinor: true, cell: ({ agent_name: name }) => <bdi>{name || t('gone')}</bdi> },
  {
    id: 'sent',
    title: t('sent'),
    cell: ({ created_at: at }) => (
      <time dateTime={at} title={dateTime(at)}>
        {ago(at, Date.now())}
      </time>
    ),
  },
  { id: 'actions', title: t('actions'), align: 'end', cell: (notice) => may('notices.write') && <Actions notice={notice} onChanged={onChanged} /> },
];

const Actions = ({ notice: { id, read_at: read }, onChanged }: { notice: Notice; onChanged: () => void }) => {
  const mark = async (): Promise<void> => {
    await daemon.call('readNotice', { id });
    onChanged();
  };
  const remove = async (): Promise<void> => {
    await daemon.call('deleteNotice', { id });
    notify(t('deleted'));
    onChanged();
  };
  return (
    <>
      {read === null && (
        <Button small onPress={mark}>
          {t('mark')}
        </Button>
      )}
      <Button small onPress={remove}>
        {t('delete')}
      </Button>
    </>
  );
};

export const panel = definePanel({ view: NoticeList });
