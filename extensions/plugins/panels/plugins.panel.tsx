/** Plugins: those there are, the runtimes of this machine, and the calls of hooks. One plugin has its own address: `#/plugins/NAME`. */
import {
  addressOf,
  Badge,
  type Column,
  daemon,
  definePanel,
  Empty,
  may,
  Button,
  type OutputOf,
  PanelBody,
  PanelHead,
  type PanelProps,
  Section,
  Shown,
  Table,
  useFresh,
  useLoaded,
  useState,
} from '@svc/kit';
import { CreateDialog, InstallDialog } from './plugins/dialogs.js';
import { OnePlugin } from './plugins/one-plugin.js';
import { Traces } from './plugins/traces.js';
import { t } from './plugins/words.js';

type Plugin = OutputOf<'listPlugins'>['plugins'][number];
type Doctor = OutputOf<'checkPlugins'>;

const Plugins = ({ path: [name] }: PanelProps) => (name === undefined ? <All /> : <OnePlugin name={name} />);

const All = () => {
  const plugins = useLoaded('plugins', (signal) => daemon.call('listPlugins', {}, { signal }));
  const doctor = useLoaded('plugins doctor', (signal) => daemon.call('checkPlugins', {}, { signal }));
  const traces = useLoaded('plugins traces', (signal) => daemon.call('listPluginTraces', { limit: 20 }, { signal }));
  const [open, setOpen] = useState<'create' | 'install'>();
  const reload = (): void => {
    plugins.reload();
    doctor.reload();
    traces.reload();
  };
  useFresh(reload, ['plugins']);
  const close = (): void => setOpen(undefined);
  const done = (): void => {
    close();
    reload();
  };
  return (
    <>
      <PanelHead
        title={t('title')}
        note={t('note')}
        actions={
          may('plugins.admin') && (
            <>
              <Button onPress={() => setOpen('install')}>{t('install')}</Button>
              <Button kind="primary" icon="plus" onPress={() => setOpen('create')}>
                {t('create')}
              </Button>
            </>
          )
        }
      />
      <PanelBody>
        <div class="stack">
          <Shown of={plugins} lines={4}>
            {({ plugins: rows }) =>
              rows.length === 0 ? (
                <Empty icon="puzzle" title={t('none')}>
                  <p>{t('none_text')}</p>
                </Empty>
              ) : (
                <Table label={t('title')} columns={COLUMNS} rows={rows} keyOf={(one) => one.name} hrefOf={(one) => addressOf('plugins', [one.name])} />
              )
            }
          </Shown>
          <Shown of={doctor} lines={6}>
            {(found) => <Runtimes found={found} />}
          </Shown>
          <Shown of={traces} lines={4}>
            {({ traces: rows }) => <Traces rows={rows} />}
          </Shown>
        </div>
      </PanelBody>
      {open === 'create' && <CreateDialog onDone={done} onClose={close} />}
      {open === 'install' && <InstallDialog onDone={done} onClose={close} />}
    </>
  );
};

const Runtimes = ({ found: { runtimes, sandbox } }: { found: Doctor }) => (
  <Section title={t('runtimes')}>
    <p>
      <Badge tone={sandbox.enforced ? 'good' : 'warn'}>{t(sandbox.enforced ? 'enforced' : 'not_enforced')}</Badge>{' '}
      {sandbox.enforced ? t('enforced_text') : `${t('not_enforced_text')} ${sandbox.cause ?? ''}`}
    </p>
    <Table
      label={t('list_of', { what: t('runtimes') })}
      rows={runtimes}
      keyOf={({ runtime }) => runtime}
      columns={[
        { id: 'runtime', title: t('runtime'), cell: ({ runtime }: Doctor['runtimes'][number]) => <bdi>{runtime}</bdi> },
        {
          id: 'state',
          title: t('state'),
          cell: ({ available, version }: Doctor['runtimes'][number]) => <Badge tone={available ? 'good' : 'quiet'}>{available ? (version ?? t('available')) : t('missing')}</Badge>,
        },
        {
          id: 'hint',
          title: t('where'),
          cell: ({ available, launcher, install_hint: hint }: Doctor['runtimes'][number]) => <span class="muted small-text">{available ? (launcher ?? '–') : hint}</span>,
        },
      ]}
    />
  </Section>
);

const StateCell = ({ plugin: { active, enabled, fault, hooks_valid: valid } }: { plugin: Plugin }) => (
  <>
    <Badge tone={fault !== null || !valid ? 'bad' : active ? 'good' : 'quiet'}>{t(fault !== null || !valid ? 'faulty' : active ? 'active' : enabled ? 'idle' : 'disabled')}</Badge>
    {fault !== null && <div class="muted small-text">{fault}</div>}
  </>
);

const COLUMNS: ReadonlyArray<Column<Plugin>> = [
  {
    id: 'name',
    title: t('plugin'),
    cell: ({ display_name: name, description }) => (
      <>
        <bdi>{name}</bdi>
        <div class="muted small-text">{description}</div>
      </>
    ),
  },
  { id: 'state', title: t('state'), cell: (plugin) => <StateCell plugin={plugin} /> },
  { id: 'runtime', title: t('runtime'), cell: ({ runtime }) => runtime },
  { id: 'hooks', title: t('hooks'), cell: ({ hooks }) => Object.keys(hooks).join(', ') },
];

export const panel = definePanel({ view: Plugins });
