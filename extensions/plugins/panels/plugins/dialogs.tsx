/** What makes a plugin, and what installs one. */
import { CheckField, daemon, FormDialog, Select, TextField, useState } from '@svc/kit';
import { t } from './words.js';

const LONG_MS = 180_000;
const RUNTIMES = ['python', 'node', 'bash', 'go', 'deno', 'bun', 'ruby', 'php', 'lua', 'v', 'native'];

interface DialogProps {
  onDone: () => void;
  onClose: () => void;
}

export const CreateDialog = ({ onDone, onClose }: DialogProps) => {
  const [name, setName] = useState('');
  const [runtime, setRuntime] = useState('python');
  const [description, setDescription] = useState('');
  const submit = async (): Promise<void> => {
    await daemon.call('createPlugin', { body: { name, runtime, description } });
    onDone();
  };
  return (
    <FormDialog title={t('create_title')} action={t('create')} onSubmit={submit} onClose={onClose}>
      <TextField label={t('name')} value={name} onValue={setName} isNeeded />
      <Select label={t('runtime')} value={runtime} onValue={setRuntime} options={RUNTIMES.map((value) => ({ value, label: value }))} />
      <TextField label={t('description')} value={description} onValue={setDescription} />
    </FormDialog>
  );
};

export const InstallDialog = ({ onDone, onClose }: DialogProps) => {
  const [from, setFrom] = useState('');
  const [network, setNetwork] = useState(false);
  const [filesystem, setFilesystem] = useState(false);
  const submit = async (): Promise<void> => {
    const grant = [...(network ? ['network' as const] : []), ...(filesystem ? ['filesystem' as const] : [])];
    const source = /^(https|ssh|file):\/\//.test(from) ? { url: from } : from.startsWith('/') || from.startsWith('~') ? { path: from } : { name: from };
    await daemon.call('installPlugin', { body: { ...source, ...(grant.length > 0 ? { grant } : {}) } }, { timeoutMs: LONG_MS });
    onDone();
  };
  return (
    <FormDialog title={t('install_title')} action={t('install')} onSubmit={submit} onClose={onClose}>
      <p class="muted small-text">{t('install_text')}</p>
      <TextField label={t('from')} value={from} onValue={setFrom} isNeeded />
      <CheckField label={t('grant_network')} value={network} onValue={setNetwork} />
      <CheckField label={t('grant_filesystem')} value={filesystem} onValue={setFilesystem} />
    </FormDialog>
  );
};
