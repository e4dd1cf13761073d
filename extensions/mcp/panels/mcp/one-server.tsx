/** One server: its state, its tools with a form to try one, what it wrote, and its calls. */
import {
  addressOf,
  Badge,
  Button,
  Chart,
  confirmed,
  count,
  daemon,
  Facts,
  FormDialog,
  go,
  LinkButton,
  may,
  notify,
  type OutputOf,
  PanelBody,
  PanelHead,
  Section,
  Select,
  Shown,
  Table,
  TextArea,
  useEffect,
  useFresh,
  useLoaded,
  useState,
} from '@svc/kit';
import { LOOKS } from './looks.js';
import { t } from './words.js';

type Server = OutputOf<'getMcpServer'>;
type Tool = Server['tools'][number];

const LONG_MS = 180_000;
const PROGRESS_MS = 1_000;
const MINUTE_SECONDS = 60;

const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);

export const OneServer = ({ name }: { name: string }) => {
  const loaded = useLoaded(`mcp ${name}`, (signal) => daemon.call('getMcpServer', { id: name }, { signal }));
  useFresh(loaded.reload, ['mcp']);
  const isBusy = loaded.data?.status === 'connecting';
  useEffect(() => {
    if (!isBusy) return undefined;
    const timer = setInterval(loaded.reload, PROGRESS_MS);
    return () => clearInterval(timer);
  }, [isBusy]);
  return (
    <>
      <PanelHead title={name} actions={<LinkButton href={addressOf('mcp')}>{t('back')}</LinkButton>} />
      <PanelBody>
        <Shown of={loaded} lines={12}>
          {(server) => <Details server={server} onChanged={loaded.reload} />}
        </Shown>
      </PanelBody>
    </>
  );
};

const Details = ({ server, onChanged }: { server: Server; onChanged: () => void }) => {
  const [tone, icon] = LOOKS[server.status];
  const { transport } = server;
  return (
    <div class="stack">
      <div class="row">
        <Badge tone={tone} icon={icon}>
          {t(server.status)}
        </Badge>
        {may('mcp.admin') && <Actions server={server} onChanged={onChanged} />}
      </div>
      {server.transport.url !== undefined && <SignIn server={server} onChanged={onChanged} />}
      {server.error !== undefined && <pre class="code">{server.error}</pre>}
      <Facts
        rows={[
          [t('what'), transport.url ?? transport.base_url ?? [transport.command, ...(transport.args ?? [])].join(' ')],
          [t('protocol'), server.protocol_version ?? '–'],
          [t('source'), t(server.source)],
          [t('sandbox'), t(server.sandboxed ? 'yes' : 'no')],
        ]}
      />
      {server.warnings.length > 0 && (
        <Section title={t('warnings')}>
          <ul>
            {server.warnings.map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
        </Section>
      )}
      {server.suspicious.length > 0 && (
        <p>
          <Badge tone="bad">{t('warnings')}</Badge> {t('suspicious')} {server.suspicious.join('; ')}
        </p>
      )}
      <Chart
        label={t('calls')}
        starts={server.calls.starts}
        intervalSeconds={MINUTE_SECONDS}
        series={[
          { label: t('calls'), values: server.calls.calls, tone: 'accent', kind: 'bars', total: count(sum(server.calls.calls)) },
          { label: t('errors'), values: server.calls.errors, tone: 'bad', kind: 'bars', total: count(sum(server.calls.errors)) },
        ]}
        format={count}
      />
      {may('agents.write') && <Assigning server={server} />}
      <Tools tools={server.tools} />
      <Section title={t('stderr')}>{server.stderr.length === 0 ? <p class="muted">{t('stderr_none')}</p> : <pre class="code">{server.stderr.join('\n')}</pre>}</Section>
    </div>
  );
};

/** A link, and no window that opens by itself: browsers stop those. */
const SignIn = ({ server: { name, auth_state: auth }, onChanged }: { server: Server; onChanged: () => void }) => {
  const [url, setUrl] = useState<string>();
  const isIn = auth.state === 'authorized';
  const start = async (): Promise<void> => {
    setUrl((await daemon.call('startMcpServerAuth', { id: name }, { timeoutMs: LONG_MS })).auth_url);
    onChanged();
  };
  const end = async (): Promise<void> => {
    await daemon.call('revokeMcpServerAuth', { id: name }, { timeoutMs: LONG_MS });
    setUrl(undefined);
    onChanged();
  };
  useEffect(() => {
    if (isIn) setUrl(undefined);
  }, [isIn]);
  if (auth.state === 'not_required' || auth.state === 'unknown') return null;
  return (
    <Section title={t('sign_in_title')}>
      <p>
        {t(`auth_${auth.state}`)} {auth.message !== undefined && <span class="muted">{auth.message}</span>}
      </p>
      {may('mcp.admin') && (
        <div class="row">
          <Button icon="key" onPress={start}>
            {t(isIn ? 'sign_in_again' : 'sign_in')}
          </Button>
          {isIn && <Button onPress={end}>{t('sign_out')}</Button>}
          {url !== undefined && (
            <a href={url} target="_blank" rel="noreferrer">
              {t('sign_in_link', { name })}
            </a>
          )}
        </div>
      )}
    </Section>
  );
};

const Actions = ({ server: { name, source }, onChanged }: { server: Server; onChanged: () => void }) => {
  const reconnect = async (): Promise<void> => {
    try {
      await daemon.call('reconnectMcpServer', { id: name }, { timeoutMs: LONG_MS });
    } finally {
      onChanged();
    }
  };
  const remove = async (): Promise<void> => {
    if (!(await confirmed({ title: t('remove_title', { name }), text: t('remove_text'), action: t('remove'), isDangerous: true }))) return;
    await daemon.call('removeMcpServer', { id: name });
    go(addressOf('mcp'));
  };
  return (
    <>
      <Button icon="rotate-ccw" onPress={reconnect}>
        {t('reconnect')}
      </Button>
      {source === 'api' && (
        <Button icon="trash-2" onPress={remove}>
          {t('remove')}
        </Button>
      )}
    </>
  );
};

/** Which agents have it, and whether its calls ask first. */
const Assigning = ({ server: { name } }: { server: Server }) => {
  const agents = useLoaded('mcp agents', (signal) => daemon.call('listAgents', {}, { signal }));
  const [agent, setAgent] = useState('');
  const pattern = `mcp_${name.toLowerCase().replace(/[^a-z0-9_]/g, '_')}_*`;
  const give = async (): Promise<void> => {
    const { assigned } = await daemon.call('getAgentMcpServers', { id: agent });
    await daemon.call('setAgentMcpServers', { id: agent, body: { mcp_servers: [...new Set([...assigned, name])] } });
    const chosen = agents.data?.agents.find(({ id }) => id === agent);
    notify(t('given', { agent: chosen?.name ?? agent, name }));
  };
  const approve = async (): Promise<void> => {
    const { approval } = (await daemon.call('getConfig')) as { approval?: { require_approval?: boolean | string[] } };
    const now = approval?.require_approval;
    if (now !== true) await daemon.call('setConfigValue', { body: { path: 'approval.require_approval', value: [...new Set([...(Array.isArray(now) ? now : []), pattern])] } });
    notify(t('approve_done', { name }));
  };
  return (
    <Section title={t('agents')}>
      <p class="muted">{t('agents_all')}</p>
      <div class="row">
        <Select
          label={t('agent')}
          value={agent}
          onValue={setAgent}
          options={[{ value: '', label: '–' }, ...(agents.data?.agents ?? []).map(({ id, name: called }) => ({ value: id, label: called }))]}
        />
        <Button disabled={agent === ''} onPress={give}>
          {t('give')}
        </Button>
      </div>
      {may('config.admin') && (
        <div class="row">
          <Button icon="shield-check" onPress={approve}>
            {t('approve_set')}
          </Button>
          <span class="muted small-text">{t('approve', { line: pattern })}</span>
        </div>
      )}
    </Section>
  );
};

const Tools = ({ tools }: { tools: readonly Tool[] }) => {
  const [tried, setTried] = useState<Tool>();
  return (
    <Section title={`${t('tools')} (${count(tools.length)})`}>
      <Table
        label={t('tools')}
        rows={tools}
        keyOf={({ name }) => name}
        columns={[
          {
            id: 'tool',
            title: t('tools'),
            cell: ({ name, description }: Tool) => (
              <>
                <bdi>{name}</bdi>
                <div class="muted small-text">{description}</div>
              </>
            ),
          },
          { id: 'actions', title: t('actions'), align: 'end', cell: (tool: Tool) => may('tools.admin') && tool.tool !== '' && <Button onPress={() => setTried(tool)}>{t('try')}</Button> },
        ]}
      />
      {tried && <TryDialog tool={tried} onClose={() => setTried(undefined)} />}
    </Section>
  );
};

const TryDialog = ({ tool, onClose }: { tool: Tool; onClose: () => void }) => {
  const [input, setInput] = useState('{}');
  const [result, setResult] = useState<string>();
  const submit = async (): Promise<void> => {
    const { content } = await daemon.call('invokeTool', { name: tool.tool, body: JSON.parse(input) as Record<string, unknown> }, { timeoutMs: LONG_MS });
    setResult(content);
  };
  return (
    <FormDialog title={t('try_title', { name: tool.name })} action={t('call')} onSubmit={submit} onClose={onClose} wide>
      <p class="muted small-text">{t('not_invokable')}</p>
      <TextArea label={t('input')} value={input} onValue={setInput} rows={6} isCode language="json" />
      {result !== undefined && <TextArea label={t('result')} value={result} onValue={() => undefined} rows={8} isCode />}
    </FormDialog>
  );
};
