/** The key of a provider: it goes in, is tried, and never comes out. */
import { Button, confirmed, daemon, failed, needs, notify, Section, TextField, useState } from '@svc/kit';
import type { Provider } from './provider-state.js';
import { type Tried, tryProvider } from './trying.js';
import { t } from './words.js';

export const KeySection = ({ provider, onTried, onChange }: { provider: Provider; onTried: (tried: Tried) => void; onChange: () => void }) => {
  const [key, setKey] = useState('');
  const [isBusy, setBusy] = useState(false);
  const { name, display_name, env_var, key_present, suppressed } = provider;
  const { disabled, title } = needs('providers.admin');

  const save = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (isBusy) return;
    setBusy(true);
    try {
      const kept = await daemon.call('setProviderKey', { name, body: { api_key: key.trim() } }, { retries: 0 });
      setKey('');
      if (kept.switched_default && kept.default_model) notify(t('now_default', { name: kept.default_model }));
      onTried({ ...(await tryProvider(name)), isKeyStored: true });
      onChange();
    } catch (error) {
      failed(error);
    } finally {
      setBusy(false);
    }
  };
  const remove = async (): Promise<void> => {
    if (!(await confirmed({ title: t('remove_key'), text: t('remove_key_text', { name: display_name }), action: t('remove_key'), isDangerous: true }))) return;
    const { message } = await daemon.call('removeProviderKey', { name });
    notify(message ?? t('key_removed'));
    onChange();
  };
  const enable = async (): Promise<void> => {
    await daemon.call('enableProvider', { name });
    notify(t('env_used'));
    onChange();
  };

  return (
    <Section title={t('key_section')} note={t('key_note')}>
      {suppressed && (
        <div class="row wrap">
          <span>{t('suppressed')}</span>
          <Button small {...needs('providers.admin')} onPress={enable}>
            {t('use_env')}
          </Button>
        </div>
      )}
      <form class="models-form" onSubmit={save}>
        <TextField label={t('new_key')} type="password" value={key} onValue={setKey} autocomplete="off" disabled={disabled} maxLength={8_192} />
        <Button kind="primary" type="submit" icon="key" isBusy={isBusy} disabled={disabled || (!isBusy && key.trim() === '')} title={title}>
          {key_present ? t('replace_key') : t('save_key')}
        </Button>
        {key_present && (
          <Button kind="danger" icon="trash-2" disabled={disabled} title={title} onPress={remove}>
            {t('remove_key')}
          </Button>
        )}
      </form>
      {env_var && !key_present && <p class="muted small-text">{t('key_env', { name: env_var })}</p>}
    </Section>
  );
};
