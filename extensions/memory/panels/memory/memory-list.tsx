/** What svc knows about you: searched as you type, by agent and level, added, brought in and out. */
import {
  address,
  addressOf,
  ago,
  Badge,
  Button,
  type Column,
  count,
  daemon,
  dateTime,
  Empty,
  may,
  type OutputOf,
  PanelBody,
  PanelHead,
  saveFile,
  SearchField,
  Select,
  setQuery,
  Shown,
  Stat,
  Stats,
  Table,
  useEffect,
  useFresh,
  useLoaded,
  useState,
} from '@svc/kit';
import { AddForm, ImportForm } from './forms.js';
import { t } from './words.js';

type Entry = OutputOf<'listMemories'>['memories'][number];
type Found = Entry & { readonly why?: ReadonlyArray<'words' | 'vector' | 'relation' | 'time'> };
type Level = Entry['level'];

const LEVELS: readonly Level[] = ['user', 'agent', 'session'];
const PAGE = 50;
const MAX_SHOWN = 100;
const MAX_AGENTS = 500;
const TYPING_MS = 200;

export const MemoryList = () => {
  const { agent: agentId = '', level: asked = '', archive = '' } = address.value.query;
  const isArchive = archive === 'yes';
  const level = LEVELS.find((one) => one === asked);
  const [typed, setTyped] = useState('');
  const [q, setQ] = useState('');
  const [offset, setOffset] = useState(0);
  const [form, setForm] = useState<'add' | 'import'>();
  useEffect(() => {
    const timer = setTimeout(() => setQ(typed.trim()), TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  useEffect(() => setOffset(0), [agentId, level, q, archive]);
  const agents = useLoaded('memory agents', (signal) => daemon.call('listAgents', { limit: MAX_AGENTS }, { signal }), ['agent']);
  const stats = useLoaded('memory stats', (signal) => daemon.call('getMemoryStats', {}, { signal }));
  const list = useLoaded(`memory ${agentId} ${level} ${q} ${offset} ${archive}`, (signal) => load({ agentId, level, q, offset, isArchive }, signal));
  const reload = (): void => {
    stats.reload();
    list.reload();
  };
  useFresh(reload, ['memory']);
  const names = new Map(agents.data?.items.map(({ id, name }) => [id, name]));
  return (
    <>
      <PanelHead title={t('title')} note={t('note')} />
      <PanelBody>
        <div class="stack">
          <Shown of={stats}>{(now) => <Figures stats={now} />}</Shown>
          <div class="memory-filters">
            <SearchField label={t('search')} placeholder={t('search_hint')} value={typed} onValue={setTyped} />
            <Select
              label={t('agent')}
              value={agentId}
              onValue={(value) => setQuery({ agent: value })}
              options={[{ value: '', label: t('all_agents') }, ...(agents.data?.items ?? []).map(({ id, name }) => ({ value: id, label: name }))]}
            />
            <Select
              label={t('level')}
              value={level ?? ''}
              onValue={(value) => setQuery({ level: value })}
              options={[{ value: '', label: t('any') }, ...LEVELS.map((one) => ({ value: one, label: t(one) }))]}
            />
            <Select
              label={t('kept_in')}
              value={archive}
              onValue={(value) => setQuery({ archive: value })}
              options={[
                { value: '', label: t('live') },
                { value: 'yes', label: t('archived') },
              ]}
            />
          </div>
          <div class="memory-actions">
            {may('memory.write') && <Button onPress={() => setForm('add')}>{t('add')}</Button>}
            {agentId !== '' && may('memory.write') && <Button onPress={() => setForm('import')}>{t('import')}</Button>}
            {agentId !== '' && <Button onPress={() => exportAll(agentId)}>{t('export')}</Button>}
            {agentId !== '' && (
              <a class="button" href={addressOf('memory', ['graph', agentId])}>
                {t('graph')}
              </a>
            )}
          </div>
          {isArchive && q === '' ? (
            <Empty icon="brain" title={t('archived')}>
              <p>{t('archive_hint')}</p>
            </Empty>
          ) : (
            <Shown of={list} lines={12}>
              {({ rows, total }) => <Rows rows={rows} total={total} offset={offset} names={names} onPage={setOffset} isSearch={q !== ''} />}
            </Shown>
          )}
          {may('system.read') && <RecallHealth />}
        </div>
      </PanelBody>
      {form === 'add' && <AddForm agentId={agentId} onClose={() => setForm(undefined)} onDone={reload} />}
      {form === 'import' && <ImportForm agentId={agentId} onClose={() => setForm(undefined)} onDone={reload} />}
    </>
  );
};

const load = async (
  { agentId, level, q, offset, isArchive }: { agentId: string; level: Level | undefined; q: string; offset: number; isArchive: boolean },
  signal: AbortSignal,
): Promise<{ rows: readonly Found[]; total: number }> => {
  const narrowed = level === undefined ? {} : { level };
  if (q !== '') {
    const { memories } = await daemon.call(
      'searchMemories',
      { q, limit: MAX_SHOWN, ...narrowed, ...(agentId === '' ? {} : { agent_id: agentId }), ...(isArchive ? { archive: true } : {}) },
      { signal },
    );
    return { rows: memories, total: memories.length };
  }
  const page = { limit: PAGE, offset, ...narrowed };
  const { memories, total } = await (agentId === '' ? daemon.call('listMemories', page, { signal }) : daemon.call('listAgentMemories', { id: agentId, ...page }, { signal }));
  return { rows: memories, total };
};

/** How well entries are found: who makes vectors, of how many, and the last trouble. */
const RecallHealth = () => {
  const health = useLoaded('memory health', (signal) => daemon.call('getHealthDetail', {}, { signal }));
  const check = health.data?.checks.find(({ name }) => name === 'memory');
  if (check === undefined) return null;
  return (
    <p class="muted small-text">
      <Badge tone={check.status === 'ok' ? 'good' : 'warn'}>{t(check.status === 'ok' ? 'recall_good' : 'recall_bad')}</Badge> {check.detail}
    </p>
  );
};

const Figures = ({ stats }: { stats: OutputOf<'getMemoryStats'> }) => (
  <Stats>
    <Stat label={t('total')} value={count(stats.total)} note={t(stats.proactive_enabled ? 'learns' : 'learns_not')} />
    <Stat label={t('user')} value={count(stats.user_count)} />
    <Stat label={t('agent')} value={count(stats.agent_count)} />
    <Stat label={t('session')} value={count(stats.session_count)} />
    <Stat label={t('archived')} value={count(stats.archived_count)} />
  </Stats>
);

const Rows = ({
  rows,
  total,
  offset,
  names,
  onPage,
  isSearch,
}: {
  rows: readonly Found[];
  total: number;
  offset: number;
  names: ReadonlyMap<string, string>;
  onPage: (offset: number) => void;
  isSearch: boolean;
}) =>
  rows.length === 0 ? (
    <Empty icon="brain" title={t(isSearch ? 'none_found' : 'none')}>
      <p>{t(isSearch ? 'none_found_text' : 'none_text')}</p>
    </Empty>
  ) : (
    <>
      <Table label={t('table')} rows={rows} keyOf={({ id }) => id} hrefOf={({ id }) => addressOf('memory', ['entry', id])} columns={columnsOf(names)} />
      {!isSearch && total > PAGE && (
        <div class="memory-actions">
          <Button disabled={offset === 0} onPress={() => onPage(Math.max(0, offset - PAGE))}>
            {t('newer')}
          </Button>
          <Button disabled={offset + PAGE >= total} onPress={() => onPage(offset + PAGE)}>
            {t('older')}
          </Button>
        </div>
      )}
    </>
  );

const columnsOf = (names: ReadonlyMap<string, string>): ReadonlyArray<Column<Found>> => [
  {
    id: 'content',
    title: t('content'),
    cell: ({ content, why, superseded_by: replaced, origin }) => (
      <>
        <bdi>{content.length > 200 ? `${content.slice(0, 200)}…` : content}</bdi> {replaced !== null && <Badge tone="warn">{t('replaced')}</Badge>}{' '}
        {origin !== null && <Badge tone="info">{origin.source}</Badge>}
        {why !== undefined && <div class="muted small-text">{t('why', { why: why.map((one) => t(one)).join(', ') })}</div>}
      </>
    ),
  },
  { id: 'level', title: t('level'), isMinor: true, cell: ({ level }) => t(level) },
  { id: 'agent', title: t('agent'), isMinor: true, cell: ({ agent_id: id }) => <bdi>{id === null ? t('all_agents') : (names.get(id) ?? '')}</bdi> },
  {
    id: 'when',
    title: t('when'),
    align: 'end',
    cell: ({ created_at: at }) => (
      <time dateTime={at} title={dateTime(at)}>
        {ago(at, Date.now())}
      </time>
    ),
  },
];

const exportAll = async (agentId: string): Promise<void> => {
  const exported = await daemon.call('exportMemories', { id: agentId });
  saveFile(`memory-${agentId}.json`, 'application/json', JSON.stringify(exported, null, 2));
};
