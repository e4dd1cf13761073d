/** One plugin: whether it runs, what is wrong with it, a form to try a hook, and its calls. */
import {
  addressOf,
  Badge,
  Button,
  confirmed,
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
  TextArea,
  useFresh,
  useLoaded,
  useState,
} from '@svc/kit';
import { Traces } from './traces.js';
import { t } from './words.js';

const LONG_MS = 320_000;

type Parts = readonly [OutputOf<'getPlugin'>, OutputOf<'getPluginStatus'>, OutputOf<'lintPlugin'>, OutputOf<'getPluginHealth'>];

export const OnePlugin = ({ name }: { name: string }) => {
  const loaded = useLoaded(
    `plugins ${name}`,
    (signal): Promise<Parts> =>
      Promise.all([
        daemon.call('getPlugin', { name }, { signal }),
        daemon.call('getPluginStatus', { name }, { signal }),
        daemon.call('lintPlugin', { name }, { signal }),
        daemon.call('getPluginHealth', { name }, { signal }),
      ]),
  );
  useFresh(loaded.reload, ['plugins']);
  return (
    <>
      <PanelHead title={name} actions={<LinkButton href={addressOf('plugins')}>{t('back')}</LinkButton>} />
      <PanelBody>
        <Shown of={loaded} lines={12}>
          {(parts) => <Details parts={parts} onChanged={loaded.reload} />}
        </Shown>
      </PanelBody>
    </>
  );
};

const Details = ({ parts: [plugin, status, lint, health], onChanged }: { parts: Parts; onChanged: () => void }) => (
  <div class="stack">
    <div class="row">
      <Badge tone={status.fault !== null ? 'bad' : status.active ? 'good' : 'quiet'}>{t(status.fault !== null ? 'faulty' : status.active ? 'active' : status.enabled ? 'idle' : 'disabled')}</Badge>
      {may('plugins.admin') && <Actions plugin={plugin} onChanged={onChanged} />}
    </div>
    {status.fault !== null && <p>{status.fault}</p>}
    {!status.active && status.enabled && <p class="muted">{t('how', { line: `plugin = "${plugin.name}"` })}</p>}
    <Facts
      rows={[
        [t('description'), plugin.description === '' ? '–' : plugin.description],
        [t('runtime'), plugin.runtime],
        [t('hooks'), Object.keys(plugin.hooks).join(', ') || '–'],
        [t('wall_network'), status.walls.network],
        [t('wall_filesystem'), status.walls.filesystem],
        [t('signed'), plugin.signed_by ?? '–'],
        [t('source'), plugin.source ?? '–'],
        [t('folder'), plugin.path],
      ]}
    />
    {lint.errors.length + lint.warnings.length > 0 && (
      <Section title={t('lint')}>
        <ul>
          {lint.errors.map((line) => (
            <li key={line}>
              <Badge tone="bad">{t('error')}</Badge> {line}
            </li>
          ))}
          {lint.warnings.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      </Section>
    )}
    <Traces rows={health.recent_traces} />
  </div>
);

const Actions = ({ plugin: { name, enabled, hooks }, onChanged }: { plugin: Parts[0]; onChanged: () => void }) => {
  const [isTesting, setTesting] = useState(false);
  const change = async (): Promise<void> => {
    await daemon.call(enabled ? 'disablePlugin' : 'enablePlugin', { name });
    onChanged();
  };
  const sign = async (): Promise<void> => {
    const { count } = await daemon.call('signPlugin', { name });
    notify(t('signed_done', { count: String(count) }));
    onChanged();
  };
  const remove = async (): Promise<void> => {
    if (!(await confirmed({ title: t('remove_title', { name }), text: t('remove_text'), action: t('remove'), isDangerous: true }))) return;
    await daemon.call('uninstallPlugin', { body: { name } });
    go(addressOf('plugins'));
  };
  return (
    <>
      <Button onPress={change}>{t(enabled ? 'disable' : 'enable')}</Button>
      <Button icon="play" onPress={() => setTesting(true)}>
        {t('test')}
      </Button>
      <Button onPress={sign}>{t('sign')}</Button>
      <Button icon="trash-2" onPress={remove}>
        {t('remove')}
      </Button>
      {isTesting && <TestDialog name={name} hooks={Object.keys(hooks)} onClose={() => setTesting(false)} />}
    </>
  );
};

const TestDialog = ({ name, hooks, onClose }: { name: string; hooks: readonly string[]; onClose: () => void }) => {
  const [hook, setHook] = useState(hooks[0] ?? 'ingest');
  const [message, setMessage] = useState('');
  const [result, setResult] = useState<string>();
  const submit = async (): Promise<void> => {
    const ran = await daemon.call('testPluginHook', { name, body: { hook: hook as 'ingest', input: message === '' ? {} : { message } } }, { timeoutMs: LONG_MS });
    setResult([ran.error === null ? JSON.stringify(ran.output, null, 2) : `${ran.error}: ${ran.message ?? ''}`, ran.note ?? '', ran.stderr].filter((text) => text !== '').join('\n'));
  };
  return (
    <FormDialog title={t('test_title', { name })} action={t('test')} onSubmit={submit} onClose={onClose} wide>
      <Select label={t('hook')} value={hook} onValue={setHook} options={hooks.map((value) => ({ value, label: value }))} />
      <TextArea label={t('message')} value={message} onValue={setMessage} rows={3} />
      {result !== undefined && <TextArea label={t('result')} value={result} onValue={() => undefined} rows={8} isCode />}
    </FormDialog>
  );
};
