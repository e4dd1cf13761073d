/** The way to a first model: which provider, its key, a test of it, and a conversation that it answers. `#/models?add=key` opens it. */
import { addressOf, Button, daemon, Dialog, FormDialog, Icon, LinkButton, type OutputOf, Select, TextField, useState } from '@svc/kit';
import type { Provider } from './provider-state.js';
import { t } from './words.js';

type Kept = OutputOf<'setProviderKey'>;
type Default = OutputOf<'listProviders'>['default'];

interface Outcome {
  readonly provider: Provider;
  readonly kept: Kept;
  readonly chosen: Default;
}

const Done = ({ of: { provider, kept, chosen }, onClose, onAgain }: { of: Outcome; onClose: () => void; onAgain: () => void }) => {
  const isGood = kept.test?.status === 'ok';
  const isAnswering = chosen?.provider === provider.name;
  return (
    <Dialog
      title={t('add_key')}
      onClose={onClose}
      actions={
        <>
          {!isGood && <Button onPress={onAgain}>{t('replace_key')}</Button>}
          <Button kind={isGood && isAnswering ? 'plain' : 'primary'} onPress={onClose}>
            {t('done')}
          </Button>
          {isGood && isAnswering && (
            <LinkButton kind="primary" icon="message-square" href={addressOf('chat')}>
              {t('to_chat')}
            </LinkButton>
          )}
        </>
      }
    >
      <div class={isGood ? 'models-result' : 'models-result bad'} role="status">
        <p class="row">
          <Icon name={isGood ? 'circle-check' : 'circle-alert'} />
          <strong>{isGood ? t('key_works', { name: provider.display_name }) : t('key_fails')}</strong>
        </p>
        {kept.test?.error && <p>{kept.test.error}</p>}
        {isGood && chosen && <p>{t(isAnswering ? 'key_answers' : 'key_not_default', { name: chosen.model })}</p>}
      </div>
    </Dialog>
  );
};

export const AddKey = ({ providers, onChange, onClose, onOther }: { providers: readonly Provider[]; onChange: () => void; onClose: () => void; onOther: () => void }) => {
  const able = providers.filter(({ key_required, wire }) => key_required && wire !== 'unsupported' && wire !== 'builtin');
  const [name, setName] = useState(able[0]?.name ?? '');
  const [key, setKey] = useState('');
  const [url, setUrl] = useState('');
  const [outcome, setOutcome] = useState<Outcome>();
  const provider = able.find((one) => one.name === name);

  const save = async (): Promise<void> => {
    if (!provider) return;
    const address = url.trim();
    const kept = await daemon.call('setProviderKey', { name, body: { api_key: key.trim(), verify: true, ...(address === '' ? {} : { url: address }) } }, { retries: 0 });
    const chosen = (await daemon.call('listProviders')).default;
    setKey('');
    setOutcome({ provider, kept, chosen });
    onChange();
  };

  if (outcome) return <Done of={outcome} onClose={onClose} onAgain={() => setOutcome(undefined)} />;
  return (
    <FormDialog title={t('add_key')} action={t('save_and_test')} canSubmit={provider !== undefined && key.trim() !== ''} onSubmit={save} onClose={onClose}>
      <p class="muted">{t('add_key_note')}</p>
      <Select label={t('provider')} value={name} onValue={setName} options={able.map((one) => ({ value: one.name, label: one.display_name }))} />
      <TextField label={t('api_key')} type="password" value={key} onValue={setKey} autocomplete="off" maxLength={8_192} required autofocus />
      <TextField label={t('address_other')} hint={t('address_other_hint', { url: provider?.base_url ?? '' })} type="url" value={url} onValue={setUrl} />
      <div>
        <Button small kind="quiet" icon="plus" onPress={onOther}>
          {t('other_server')}
        </Button>
      </div>
    </FormDialog>
  );
};

/** Where it is open. */
export const ADDING_KEY = 'key';
