/** Import: find a home, choose what comes along, watch it, read the report. */
import {
  Button,
  CheckField,
  count,
  daemon,
  definePanel,
  Empty,
  IconButton,
  may,
  type OutputOf,
  PanelBody,
  PanelHead,
  Section,
  Shown,
  Stat,
  Stats,
  Table,
  TextField,
  useEffect,
  useLoaded,
  useState,
} from '@svc/kit';
import { Progress, type Report, ReportView } from './migrate/report.js';
import { t } from './migrate/words.js';

type Scan = OutputOf<'scanMigrationSource'>;
type Source = OutputOf<'discoverMigrationSources'>['sources'][number];

const POLL_MS = 700;
/** A large home is copied before it is read. */
const LONG_MS = 600_000;

const Migrate = () => {
  const found = useLoaded('migrate', (signal) => daemon.call('discoverMigrationSources', {}, { signal, timeoutMs: LONG_MS }));
  const [scan, setScan] = useState<Scan>();
  const [report, setReport] = useState<Report>();
  const isBusy = report !== undefined && report.ended_at === null;
  const look = async (path: string): Promise<void> => {
    setReport(undefined);
    setScan(await daemon.call('scanMigrationSource', { body: { path } }, { timeoutMs: LONG_MS }));
  };
  useEffect(() => {
    if (!report || !isBusy) return undefined;
    const timer = setInterval(() => void daemon.call('getMigration', { id: report.id }).then(setReport, () => undefined), POLL_MS);
    return () => clearInterval(timer);
  }, [report?.id, isBusy]);
  const start = async (choice: Choice, isDry: boolean): Promise<void> => {
    const { id } = await daemon.call('startMigration', { body: { source: scan?.path ?? '', dry_run: isDry, ...choice } }, { headers: { prefer: 'respond-async' }, timeoutMs: LONG_MS });
    setReport(await daemon.call('getMigration', { id }));
  };
  return (
    <>
      <PanelHead title={t('title')} note={t('note')} />
      <PanelBody>
        <div class="stack">
          <Section title={t('sources')}>
            <Shown of={found} lines={3}>
              {({ sources }) =>
                sources.length === 0 ? (
                  <Empty icon="search" title={t('none')}>
                    <p>{t('none_text')}</p>
                  </Empty>
                ) : (
                  <Sources of={sources} look={look} />
                )
              }
            </Shown>
            <OtherFolder look={look} />
          </Section>
          {scan && <Choose key={scan.path} of={scan} isBusy={isBusy} start={start} />}
          {report && (isBusy ? <Progress of={report} /> : <ReportView of={report} />)}
        </div>
      </PanelBody>
    </>
  );
};

const Sources = ({ of, look }: { readonly of: readonly Source[]; readonly look: (path: string) => Promise<void> }) => (
  <Table
    label={t('sources')}
    rows={of}
    keyOf={({ path }) => path}
    columns={[
      { id: 'program', title: t('program'), cell: ({ type, version }) => `${type}${version === null ? '' : ` ${version}`}` },
      {
        id: 'folder',
        title: t('folder'),
        cell: ({ path, problem }) => (
          <>
            <bdi>{path}</bdi>
            {problem !== null && <div class="muted small-text">{problem}</div>}
          </>
        ),
      },
      { id: 'agents', title: t('agents'), isMinor: true, cell: ({ agents_found: agents }) => count(agents) },
      { id: 'skills', title: t('skills'), isMinor: true, cell: ({ skills_found: skills }) => count(skills) },
      { id: 'actions', title: t('actions'), cell: ({ path }) => <IconButton icon="search" label={t('look', { path })} onPress={() => look(path)} /> },
    ]}
  />
);

const OtherFolder = ({ look }: { readonly look: (path: string) => Promise<void> }) => {
  const [path, setPath] = useState('');
  return (
    <div class="row">
      <TextField label={t('other')} value={path} onValue={setPath} placeholder="~/.openclaw" />
      <Button icon="search" disabled={path.trim() === ''} onPress={() => look(path.trim())}>
        {t('open')}
      </Button>
    </div>
  );
};

interface Choice {
  readonly agents?: string[];
  readonly import_sessions: boolean;
  readonly import_memory: boolean;
  readonly import_skills: boolean;
  readonly import_crons: boolean;
  readonly import_secrets: boolean;
}

const ALL: Choice = { import_sessions: true, import_memory: true, import_skills: true, import_crons: true, import_secrets: false };
const PARTS = [
  ['import_sessions', 'with_sessions'],
  ['import_memory', 'with_memory'],
  ['import_skills', 'with_skills'],
  ['import_crons', 'with_crons'],
] as const;

const Choose = ({ of: scan, isBusy, start }: { readonly of: Scan; readonly isBusy: boolean; readonly start: (choice: Choice, isDry: boolean) => Promise<void> }) => {
  const names = [...new Set(scan.agents.map(({ name }) => name))];
  const [choice, setChoice] = useState(ALL);
  const [left, setLeft] = useState<readonly string[]>([]);
  const wanted = (): Choice => ({ ...choice, ...(left.length === 0 ? {} : { agents: names.filter((name) => !left.includes(name)) }) });
  return (
    <Section title={t('found', { path: scan.path })}>
      <Stats>
        <Stat label={t('agents')} value={count(scan.agents.length)} />
        <Stat label={t('sessions')} value={count(scan.sessions)} />
        <Stat label={t('memories')} value={count(scan.memories)} />
        <Stat label={t('skills')} value={count(scan.skills.length)} />
        <Stat label={t('jobs')} value={count(scan.crons)} />
      </Stats>
      {scan.warnings.map((warning) => (
        <p key={warning}>{warning}</p>
      ))}
      {scan.channels.length > 0 && <p class="muted">{t('channels', { names: scan.channels.join(', ') })}</p>}
      {scan.secrets.length > 0 && <p class="muted">{t('secrets', { names: scan.secrets.join(', ') })}</p>}
      <fieldset disabled={isBusy}>
        <legend>{t('choose')}</legend>
        {names.map((name) => (
          <CheckField key={name} label={<bdi>{name}</bdi>} value={!left.includes(name)} onValue={(isOn) => setLeft(isOn ? left.filter((one) => one !== name) : [...left, name])} />
        ))}
        {PARTS.map(([key, word]) => (
          <CheckField key={key} isSwitch label={t(word)} value={choice[key]} onValue={(value) => setChoice({ ...choice, [key]: value })} />
        ))}
        {scan.secrets.length > 0 && may('migrate.own') && (
          <CheckField isSwitch label={t('with_secrets')} hint={t('with_secrets_hint')} value={choice.import_secrets} onValue={(value) => setChoice({ ...choice, import_secrets: value })} />
        )}
      </fieldset>
      <div class="row">
        <Button disabled={isBusy} onPress={() => start(wanted(), true)}>
          {t('dry')}
        </Button>
        <Button kind="primary" icon="download" disabled={isBusy} onPress={() => start(wanted(), false)}>
          {t('start')}
        </Button>
      </div>
    </Section>
  );
};

export const panel = definePanel({ view: Migrate });
