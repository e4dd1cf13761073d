/** All runs that one may see, the newest first. What is filtered by stands in the address. */
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
  LinkButton,
  money,
  PanelBody,
  PanelHead,
  Select,
  setQuery,
  Shown,
  Table,
  useLoaded,
  useState,
} from '@svc/kit';
import { isActive, type ListedRun, nameOf, shownName, StateBadge, STATES, tookOf, useNow, useRunChanges } from './run-state.js';
import { t } from './words.js';

const PAGE = 50;
const MAX_PAGE = 200;

const HOUR_MS = 3_600_000;
const SPANS = { '1h': HOUR_MS, '24h': 24 * HOUR_MS, '7d': 7 * 24 * HOUR_MS, '30d': 30 * 24 * HOUR_MS } as const;
type Span = keyof typeof SPANS;
const isSpan = (text: string | undefined): text is Span => text !== undefined && Object.hasOwn(SPANS, text);

interface Sought {
  readonly agent?: string;
  readonly state?: string;
  readonly since?: string;
  readonly session?: string;
}

const NO_FILTER = { agent: undefined, state: undefined, since: undefined, session: undefined };

const loadRuns = async ({ agent, state, since, session }: Sought, wanted: number, signal: AbortSignal) => {
  const status = STATES.find((one) => one === state);
  const filter = {
    ...(agent ? { agent_id: agent } : {}),
    ...(session ? { session_id: session } : {}),
    ...(status ? { status } : {}),
    ...(isSpan(since) ? { since: new Date(Date.now() - SPANS[since]).toISOString() } : {}),
  };
  const runs: ListedRun[] = [];
  let next: string | null = null;
  do {
    const page: { runs: ListedRun[]; next: string | null } = await daemon.call(
      'listRuns',
      { ...filter, limit: Math.min(MAX_PAGE, wanted - runs.length), ...(next === null ? {} : { before: next }) },
      { signal },
    );
    runs.push(...page.runs);
    next = page.next;
  } while (next !== null && runs.length < wanted);
  return { runs, hasMore: next !== null };
};

export const RunList = () => {
  const sought: Sought = address.value.query;
  const key = `runs ${sought.agent} ${sought.state} ${sought.since} ${sought.session}`;
  const [more, setMore] = useState({ key, wanted: PAGE });
  const wanted = more.key === key ? more.wanted : PAGE;
  const loaded = useLoaded(`${key} ${wanted > PAGE ? wanted : ''}`, (signal) => loadRuns(sought, wanted, signal));
  useRunChanges(loaded.reload);
  return (
    <>
      <PanelHead title={t('title')} note={t('note')} />
      <PanelBody>
        <div class="stack">
          <Filters sought={sought} />
          <Shown of={loaded} lines={12}>
            {({ runs, hasMore }) => (
              <>
                <Found runs={runs} isFiltered={Boolean(sought.agent || sought.state || sought.since || sought.session)} />
                {hasMore && (
                  <div>
                    <Button onPress={() => setMore({ key, wanted: runs.length + 2 * PAGE })}>{t('older')}</Button>
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

const Filters = ({ sought }: { sought: Sought }) => {
  const agents = useLoaded('agents to filter by', (signal) => daemon.call('listAgents', { sort: 'name' }, { signal }), ['agent']);
  const known = agents.data?.agents.map(({ id, name }) => ({ value: id, label: name })) ?? [];
  const isKnown = !sought.agent || known.some(({ value }) => value === sought.agent);
  return (
    <div class="runs-filters">
      <Select
        label={t('agent')}
        value={sought.agent ?? ''}
        onValue={(agent) => setQuery({ agent })}
        options={[{ value: '', label: t('any_agent') }, ...known, ...(isKnown ? [] : [{ value: sought.agent ?? '', label: t('gone') }])]}
      />
      <Select
        label={t('state')}
        value={sought.state ?? ''}
        onValue={(state) => setQuery({ state })}
        options={[{ value: '', label: t('any_state') }, ...STATES.map((one) => ({ value: one, label: t(`s_${one}`) }))]}
      />
      <Select
        label={t('since')}
        value={isSpan(sought.since) ? sought.since : ''}
        onValue={(since) => setQuery({ since })}
        options={[{ value: '', label: t('since_any') }, ...(['1h', '24h', '7d', '30d'] as const).map((one) => ({ value: one, label: t(`since_${one}`) }))]}
      />
      {sought.session && (
        <Button icon="x" onPress={() => setQuery({ session: undefined })}>
          {t('one_session')}
        </Button>
      )}
    </div>
  );
};

const Found = ({ runs, isFiltered }: { runs: readonly ListedRun[]; isFiltered: boolean }) => {
  const now = useNow(runs.some(isActive));
  if (runs.length > 0) return <Table label={t('table')} columns={columnsOf(now)} rows={runs} keyOf={({ run_id }) => run_id} hrefOf={({ run_id }) => addressOf('runs', [run_id])} />;
  return isFiltered ? (
    <Empty icon="search" title={t('none_like')}>
      <Button onPress={() => setQuery(NO_FILTER)}>{t('clear')}</Button>
    </Empty>
  ) : (
    <Empty icon="activity" title={t('none')}>
      <p>{t('none_text')}</p>
      <LinkButton href={addressOf('chat')}>{t('to_chat')}</LinkButton>
    </Empty>
  );
};

const columnsOf = (now: number): ReadonlyArray<Column<ListedRun>> => [
  { id: 'agent', title: t('agent'), cell: (run) => <bdi>{nameOf(run)}</bdi> },
  {
    id: 'state',
    title: t('state'),
    cell: (run) => (
      <span class="runs-state">
        <span class="row wrap">
          <StateBadge status={run.status} />
          {run.is_aside && <Badge>{t('aside')}</Badge>}
        </span>
        {run.error && <span class="muted runs-why">{run.error.message}</span>}
      </span>
    ),
  },
  {
    id: 'began',
    title: t('began'),
    cell: (run) => (
      <time dateTime={run.started_at} title={dateTime(run.started_at)}>
        {ago(run.started_at, now)}
      </time>
    ),
  },
  { id: 'took', title: t('took'), align: 'end', cell: (run) => tookOf(run, now) },
  { id: 'model', title: t('model'), isMinor: true, cell: (run) => run.model !== null && <span class="muted runs-model">{shownName(run.model)}</span> },
  { id: 'steps', title: t('steps'), align: 'end', isMinor: true, cell: (run) => count(run.step_count) },
  { id: 'tokens', title: t('tokens'), align: 'end', cell: (run) => count(run.input_tokens + run.output_tokens) },
  { id: 'money', title: t('money'), align: 'end', cell: (run) => money(run.cost_usd) },
];
