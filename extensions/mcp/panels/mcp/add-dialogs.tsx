/** Adding servers: from a template, described by hand, or from the configuration of another program. */
import { daemon, FormDialog, type InputOf, notify, type OutputOf, Select, TextArea, TextField, useState } from '@svc/kit';
import { entriesOfClient } from '../../cli/client-config.js';
import { t } from './words.js';

export type Template = OutputOf<'listMcpTemplates'>['entries'][number];
type Body = NonNullable<InputOf<'addMcpServer'>['body']>;

const LONG_MS = 60_000;
const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

const add = async (body: Body): Promise<void> => {
  const { name, state } = await daemon.call('addMcpServer', { body }, { timeoutMs: LONG_MS });
  notify(t('being_added', { name, state: t(state) }));
};

interface Closing {
  readonly onDone: () => void;
  readonly onClose: () => void;
}

export const TemplateDialog = ({ template, onDone, onClose }: Closing & { template: Template }) => {
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const submit = async (): Promise<void> => {
    const credentials = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''));
    await add({ template_id: template.id, credentials });
    onDone();
  };
  return (
    <FormDialog title={t('add_title', { name: template.name })} action={t('add_action')} onSubmit={submit} onClose={onClose}>
      <p class="muted">{template.description}</p>
      {template.setup_instructions !== null && <p class="pre-line">{template.setup_instructions}</p>}
      {template.required_env.map(({ name, label, help, is_secret: isSecret, get_url: where }) => (
        <div key={name}>
          <TextField
            label={label ?? name}
            {...(help === undefined ? {} : { hint: help })}
            type={isSecret ? 'password' : 'text'}
            autocomplete="off"
            value={values[name] ?? ''}
            onValue={(value) => setValues({ ...values, [name]: value })}
          />
          {where !== undefined && /^https:/.test(where) && (
            <a href={where} target="_blank" rel="noreferrer">
              {t('get_it')}
            </a>
          )}
        </div>
      ))}
      {template.transport.type === 'stdio' && <p class="muted small-text">{t('warning')}</p>}
    </FormDialog>
  );
};

export const OwnDialog = ({ onDone, onClose }: Closing) => {
  const [name, setName] = useState('');
  const [type, setType] = useState<'stdio' | 'http' | 'sse'>('stdio');
  const [command, setCommand] = useState('');
  const [args, setArgs] = useState('');
  const [url, setUrl] = useState('');
  const [more, setMore] = useState('');
  const [folders, setFolders] = useState('');
  const isProgram = type === 'stdio';
  const submit = async (): Promise<void> => {
    const sandbox = linesOf(folders);
    await add(
      isProgram
        ? { name, transport: { type, command, args: linesOf(args) }, env: linesOf(more), ...(sandbox.length > 0 ? { sandbox: { folders: sandbox } } : {}) }
        : { name, transport: { type, url }, headers: linesOf(more) },
    );
    onDone();
  };
  return (
    <FormDialog title={t('own_title')} action={t('add_action')} onSubmit={submit} onClose={onClose} canSubmit={name !== '' && (isProgram ? command : url) !== ''}>
      <TextField label={t('name')} value={name} onValue={setName} isNeeded />
      <Select
        label={t('how')}
        value={type}
        onValue={(value) => setType(value === 'http' || value === 'sse' ? value : 'stdio')}
        options={(['stdio', 'http', 'sse'] as const).map((value) => ({ value, label: t(value) }))}
      />
      {isProgram ? (
        <>
          <TextField label={t('command')} value={command} onValue={setCommand} isNeeded placeholder="npx" />
          <TextArea label={t('args')} value={args} onValue={setArgs} rows={3} isCode />
          <TextArea label={t('folders')} value={folders} onValue={setFolders} rows={2} isCode />
          {linesOf(folders).length === 0 && <p class="muted small-text">{t('warning')}</p>}
        </>
      ) : (
        <TextField label={t('url')} value={url} onValue={setUrl} isNeeded placeholder="https://" />
      )}
      <TextArea label={t(isProgram ? 'env' : 'headers')} value={more} onValue={setMore} rows={2} isCode />
    </FormDialog>
  );
};

export const PasteDialog = ({ onDone, onClose }: Closing) => {
  const [text, setText] = useState('');
  const submit = async (): Promise<void> => {
    const found = entriesOfClient(text);
    if (typeof found === 'string') throw new Error(found);
    for (const body of found) await add(body);
    onDone();
  };
  return (
    <FormDialog title={t('paste_title')} action={t('paste_action')} onSubmit={submit} onClose={onClose} canSubmit={text.trim() !== ''} wide>
      <p>{t('paste_text')}</p>
      <TextArea label={t('json')} value={text} onValue={setText} rows={12} isCode language="json" />
    </FormDialog>
  );
};
