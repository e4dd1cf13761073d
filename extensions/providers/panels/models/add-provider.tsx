/** A provider of one's own: its name, its address, and its key where it needs one. */
import { daemon, FormDialog, notify, TextField, useState } from '@svc/kit';
import { t } from './words.js';

export const AddProvider = ({ onClose, onDone }: { onClose: () => void; onDone: (name: string) => void }) => {
  const [name, setName] = useState('');
  const [url, setUrl] = useState('');
  const [key, setKey] = useState('');
  const save = async (): Promise<void> => {
    const own = name.trim();
    await daemon.call('setProviderUrl', { name: own, body: { url: url.trim(), create: true } });
    const given = key.trim();
    setKey('');
    if (given !== '') await daemon.call('setProviderKey', { name: own, body: { api_key: given } }, { retries: 0 });
    notify(t('added', { name: own }));
    onDone(own);
  };
  return (
    <FormDialog title={t('add_provider')} action={t('add')} canSubmit={name.trim() !== '' && url.trim() !== ''} onSubmit={save} onClose={onClose}>
      <p class="muted">{t('add_provider_note')}</p>
      <TextField label={t('name')} hint={t('name_hint')} value={name} onValue={setName} required autofocus maxLength={64} />
      <TextField label={t('url')} hint={t('url_hint')} type="url" value={url} onValue={setUrl} required />
      <TextField label={t('key')} hint={t('key_hint_optional')} type="password" value={key} onValue={setKey} autocomplete="off" />
    </FormDialog>
  );
};
