/** Where a provider is reached. What is typed here stays until it is saved. */
import { Button, confirmed, daemon, failed, needs, notify, Section, SvcError, TextField, useState } from '@svc/kit';
import type { Provider } from './provider-state.js';
import { t } from './words.js';

export const AddressSection = ({ provider, onChange, onGone }: { provider: Provider; onChange: () => void; onGone: () => void }) => {
  const [url, setUrl] = useState(provider.base_url);
  const [proxy, setProxy] = useState(provider.proxy_url ?? '');
  const [error, setError] = useState<string>();
  const [said, setSaid] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const { name, display_name, is_custom } = provider;
  const { disabled, title } = needs('providers.admin');

  const hasNewProxy = proxy.trim() !== (provider.proxy_url ?? '');

  const save = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (isBusy) return;
    setBusy(true);
    setError(undefined);
    try {
      const saved = await daemon.call('setProviderUrl', { name, body: { url: url.trim(), ...(hasNewProxy ? { proxy_url: proxy.trim() } : {}) } });
      notify([saved.reachable ? t('reachable') : t('not_reachable'), saved.message].filter(Boolean).join(' '));
      setSaid(saved.base_url);
      onChange();
    } catch (refusal) {
      if (refusal instanceof SvcError && refusal.status === 400) setError([refusal.what, refusal.hint].filter(Boolean).join(' '));
      else failed(refusal);
    } finally {
      setBusy(false);
    }
  };
  const reset = async (): Promise<void> => {
    if (is_custom && !(await confirmed({ title: t('remove_provider'), text: t('remove_provider_text', { name: display_name }), action: t('remove_provider'), isDangerous: true }))) return;
    const { base_url } = await daemon.call('removeProviderUrl', { name });
    if (base_url !== null) {
      notify(t('usual_done'));
      onChange();
      return;
    }
    notify(t('provider_removed', { name: display_name }));
    onGone();
  };

  return (
    <Section title={t('address_section')} note={t('address_note')}>
      <form class="models-form" onSubmit={save}>
        <TextField label={t('address')} type="url" value={url} onValue={setUrl} error={error} disabled={disabled} required />
        <TextField label={t('proxy')} hint={t('proxy_hint')} value={proxy} onValue={setProxy} disabled={disabled} placeholder="http://proxy.example.com:3128" />
        <Button type="submit" isBusy={isBusy} disabled={disabled || url.trim() === '' || (url.trim() === (said ?? provider.base_url) && !hasNewProxy)} title={title}>
          {t('save_address')}
        </Button>
        <Button kind={is_custom ? 'danger' : 'quiet'} icon={is_custom ? 'trash-2' : 'rotate-ccw'} disabled={disabled} title={title} onPress={reset}>
          {is_custom ? t('remove_provider') : t('usual_address')}
        </Button>
      </form>
    </Section>
  );
};
