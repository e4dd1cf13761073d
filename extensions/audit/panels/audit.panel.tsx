/** The audit trail: its newest entries by filters in the address, and whether all of it is what was written. */
import {
  address,
  ago,
  Badge,
  Button,
  type Column,
  daemon,
  dateTime,
  definePanel,
  Empty,
  language,
  may,
  type OutputOf,
  PanelBody,
  PanelHead,
  SearchField,
  Select,
  setQuery,
  Shown,
  Table,
  type Tone,
  useFresh,
  useLoaded,
  useState,
} from '@svc/kit';
import { chineseSentence } from './audit/chinese.js';
import { t } from './audit/words.js';

type Entry = OutputOf<'listAuditEntries'>['entries'][number];
type Verification = OutputOf<'verifyAudit'>;

interface Sought {
  readonly q?: string;
  readonly type?: string;
  readonly agent?: string;
}

const PAGE = 50;
const MAX_PAGE = 500;
const TONES: Readonly<Record<string, Tone>> = { ok: 'good', failed: 'bad', refused: 'warn' };

const Audit = () => {
  const sought: Sought = address.value.query;
  const key = `audit ${sought.q} ${sought.type} ${sought.agent}`;
  const [more, setMore] = useState({ key, wanted: PAGE });
  const wanted = more.key === key ? more.wanted : PAGE;
  const loaded = useLoaded(`${key} ${wanted}`, (signal) =>
    daemon.call(
      'listAuditEntries',
      { limit: wanted, ...(sought.q ? { q: sought.q } : {}), ...(sought.type ? { event_type: sought.type } : {}), ...(sought.agent ? { agent_id: sought.agent } : {}) },
      { signal },
    ),
  );
  useFresh(loaded.reload, ['audit']);
  const [verified, setVerified] = useState<Verification>();
  return (
    <>
      <PanelHead
        title={t('title')}
        note={t('note')}
        actions={
          may('audit.admin') && (
            <Button icon="shield-check" onPress={async () => setVerified(await daemon.call('verifyAudit'))}>
              {t('verify')}
            </Button>
          )
        }
      />
      <PanelBody>
        <div class="stack">
          {verified && <Result of={verified} />}
          <Filters sought={sought} entries={loaded.data?.entries ?? []} />
          <Shown of={loaded} lines={12}>
            {({ entries, next }) =>
              entries.length === 0 ? (
                <Empty icon="shield-check" title={t('none')}>
                  <p>{t('none_text')}</p>
                  {(sought.q || sought.type || sought.agent) && <Button onPress={() => setQuery({ q: undefined, type: undefined, agent: undefined })}>{t('clear')}</Button>}
                </Empty>
              ) : (
                <>
                  <Table label={t('table')} columns={columnsOf(Date.now())} rows={entries} keyOf={({ id }) => String(id)} />
                  {next !== null && wanted < MAX_PAGE && (
                    <div>
                      <Button onPress={() => setMore({ key, wanted: Math.min(MAX_PAGE, wanted * 3) })}>{t('older')}</Button>
                    </div>
                  )}
                </>
              )
            }
          </Shown>
        </div>
      </PanelBody>
    </>
  );
};

const Result = ({ of: { status, chain_length: length, covered, broken, problems } }: { of: Verification }) => (
  <div role="status" class="stack">
    <p>{status === 'valid' ? <Badge tone="good">{t('valid', { length, covered })}</Badge> : <Badge tone="bad">{t('invalid')}</Badge>}</p>
    {status === 'invalid' && (
      <ul>
        {[...broken.map(({ id, problem }) => t('broken', { id, problem })), ...problems].map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    )}
  </div>
);

const Filters = ({ sought, entries }: { sought: Sought; entries: readonly Entry[] }) => {
  const agents = useLoaded('agents to filter by', (signal) => daemon.call('listAgents', { sort: 'name' }, { signal }), ['agent']);
  const known = agents.data?.agents.map(({ id, name }) => ({ value: id, label: name })) ?? [];
  const isKnown = !sought.agent || known.some(({ value }) => value === sought.agent);
  const types = [...new Set([...entries.map(({ event_type: type }) => type), ...(sought.type ? [sought.type] : [])])].sort();
  return (
    <div class="row wrap">
      <SearchField value={sought.q ?? ''} onValue={(q) => setQuery({ q })} label={t('search')} />
      <Select label={t('type')} value={sought.type ?? ''} onValue={(type) => setQuery({ type })} options={[{ value: '', label: t('any_type') }, ...types.map((value) => ({ value, label: value }))]} />
      <Select
        label={t('agent')}
        value={sought.agent ?? ''}
        onValue={(agent) => setQuery({ agent })}
        options={[{ value: '', label: t('any_agent') }, ...known, ...(isKnown ? [] : [{ value: sought.agent ?? '', label: t('gone') }])]}
      />
    </div>
  );
};

const detailOf = ({ details, personal }: Entry): string => {
  const { operation: _operation, outcome: _outcome, personal: _hash, request_id: _request, role: _role, ...rest }: Record<string, unknown> = JSON.parse(details);
  const { actor: _actor, ...more } = personal ?? {};
  return Object.entries({ ...rest, ...more })
    .map(([name, value]) => `${name} ${String(value)}`)
    .join(' · ');
};

const columnsOf = (now: number): ReadonlyArray<Column<Entry>> => [
  { id: 'entry', title: t('entry'), cell: ({ id }) => id },
  {
    id: 'when',
    title: t('when'),
    cell: ({ timestamp }) => (
      <time dateTime={timestamp} title={dateTime(timestamp)}>
        {ago(timestamp, now)}
      </time>
    ),
  },
  {
    id: 'what',
    title: t('what'),
    cell: ({ actor, event_type: type, outcome, summary }) => <bdi title={type}>{(language.value === 'zh' ? chineseSentence(type, actor, outcome) : undefined) ?? summary}</bdi>,
  },
  { id: 'outcome', title: t('outcome'), cell: ({ outcome }) => <Badge tone={TONES[outcome] ?? 'quiet'}>{outcome}</Badge> },
  { id: 'by', title: t('by'), cell: ({ actor, state }) => (state === 'altered' ? <Badge tone="bad">{t('altered')}</Badge> : <bdi>{actor ?? t('erased')}</bdi>) },
  { id: 'details', title: t('details'), isMinor: true, cell: (entry) => <span class="muted small-text">{entry.state === 'altered' ? '' : detailOf(entry)}</span> },
];

export const panel = definePanel({ view: Audit });
