/** MCP servers: those there are, and the catalog of what can be added. One server has its own address: `#/mcp/NAME`. */
import {
  addressOf,
  Badge,
  Button,
  type Column,
  daemon,
  definePanel,
  Empty,
  IconButton,
  may,
  type OutputOf,
  PanelBody,
  PanelHead,
  type PanelProps,
  SearchField,
  Section,
  Shown,
  Table,
  useEffect,
  useFresh,
  useLoaded,
  useState,
} from '@svc/kit';
import { OwnDialog, PasteDialog, type Template, TemplateDialog } from './mcp/add-dialogs.js';
import { LOOKS } from './mcp/looks.js';
import { OneServer } from './mcp/one-server.js';
import { t } from './mcp/words.js';

type Server = OutputOf<'listMcpServers'>['servers'][number];
type Open = 'own' | 'paste' | Template | undefined;

const PROGRESS_MS = 1_000;

const McpServers = ({ path: [name] }: PanelProps) => (name === undefined ? <All /> : <OneServer name={name} />);

const All = () => {
  const servers = useLoaded('mcp', (signal) => daemon.call('listMcpServers', {}, { signal }));
  const catalog = useLoaded('mcp catalog', (signal) => daemon.call('listMcpTemplates', {}, { signal }));
  const [open, setOpen] = useState<Open>();
  const reload = (): void => {
    servers.reload();
    catalog.reload();
  };
  useFresh(reload, ['mcp']);
  const isBusy = servers.data?.servers.some(({ status }) => status === 'connecting') ?? false;
  useEffect(() => {
    if (!isBusy) return undefined;
    const timer = setInterval(servers.reload, PROGRESS_MS);
    return () => clearInterval(timer);
  }, [isBusy]);
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
          may('mcp.admin') && (
            <>
              <Button onPress={() => setOpen('paste')}>{t('paste')}</Button>
              <Button kind="primary" icon="plus" onPress={() => setOpen('own')}>
                {t('add')}
              </Button>
            </>
          )
        }
      />
      <PanelBody>
        <div class="stack">
          <Shown of={servers} lines={6}>
            {({ servers: rows }) =>
              rows.length === 0 ? (
                <Empty icon="puzzle" title={t('none')}>
                  <p>{t('none_text')}</p>
                </Empty>
              ) : (
                <Table label={t('table')} columns={COLUMNS} rows={rows} keyOf={(server) => server.name} hrefOf={(server) => addressOf('mcp', [server.name])} />
              )
            }
          </Shown>
          <Shown of={catalog} lines={6}>
            {({ entries }) => <Catalog entries={entries} onAdd={setOpen} />}
          </Shown>
        </div>
      </PanelBody>
      {open === 'own' && <OwnDialog onDone={done} onClose={close} />}
      {open === 'paste' && <PasteDialog onDone={done} onClose={close} />}
      {typeof open === 'object' && <TemplateDialog template={open} onDone={done} onClose={close} />}
    </>
  );
};

const Catalog = ({ entries, onAdd }: { entries: readonly Template[]; onAdd: (template: Template) => void }) => {
  const [wanted, setWanted] = useState('');
  const words = wanted.toLowerCase().split(/\s+/);
  const shown = entries.filter((one) => words.every((word) => `${one.name} ${one.description} ${one.tags.join(' ')}`.toLowerCase().includes(word)));
  return (
    <Section title={t('catalog')}>
      <SearchField label={t('search')} value={wanted} onValue={setWanted} />
      <Table
        label={t('list_of', { what: t('catalog') })}
        rows={shown}
        keyOf={({ id }) => id}
        columns={[
          {
            id: 'name',
            title: t('server'),
            cell: ({ name, description }: Template) => (
              <>
                <bdi>{name}</bdi>
                <div class="muted small-text">{description}</div>
              </>
            ),
          },
          {
            id: 'add',
            title: t('actions'),
            align: 'end',
            cell: (template: Template) =>
              template.installed ? (
                <Badge tone="good">{t('added')}</Badge>
              ) : (
                may('mcp.admin') && <IconButton icon="plus" label={t('add_named', { name: template.name })} onPress={() => onAdd(template)} />
              ),
          },
        ]}
      />
    </Section>
  );
};

const StateCell = ({ server: { status, error } }: { server: Server }) => {
  const [tone, icon] = LOOKS[status];
  return (
    <>
      <Badge tone={tone} icon={icon}>
        {t(status)}
      </Badge>
      {error !== undefined && <div class="muted small-text">{error.split('\n')[0]}</div>}
    </>
  );
};

const COLUMNS: ReadonlyArray<Column<Server>> = [
  { id: 'server', title: t('server'), cell: ({ name }) => <bdi>{name}</bdi> },
  { id: 'state', title: t('state'), cell: (server) => <StateCell server={server} /> },
  { id: 'tools', title: t('tools'), align: 'end', cell: ({ tools_count: tools }) => tools },
];

export const panel = definePanel({ view: McpServers });
