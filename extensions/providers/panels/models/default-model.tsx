/** Who answers for `default`, why, and the choice of another. */
import { addressOf, Button, daemon, Failure, FormDialog, Icon, LinkButton, Loading, needs, notify, type OutputOf, Section, Select, useLoaded, useOffered, useState } from '@svc/kit';
import type { Provider } from './provider-state.js';
import { t } from './words.js';

type Default = OutputOf<'listProviders'>['default'];

export const DefaultModel = ({ chosen, providers, onChange }: { chosen: Default; providers: readonly Provider[]; onChange: () => void }) => {
  const [isChoosing, setChoosing] = useState(false);
  const able = providers.filter(({ available, wire }) => available && wire !== 'unsupported');
  const isOffered = useOffered();
  const isInConfig = chosen?.chosen_by === 'config';
  return (
    <Section title={t('who_answers')} note={t('who_answers_note')}>
      <div class="card">
        <Answerer chosen={chosen} providers={providers} />
        {isInConfig ? (
          <div class="row wrap">
            <span class="muted">{t('in_config')}</span>
            {isOffered('config') && (
              <LinkButton small href={addressOf('config', ['default_model'])}>
                {t('to_settings')}
              </LinkButton>
            )}
          </div>
        ) : (
          able.length > 1 && (
            <div>
              <Button {...needs('providers.admin')} onPress={() => setChoosing(true)}>
                {t('choose')}
              </Button>
            </div>
          )
        )}
      </div>
      {isChoosing && (
        <Choice
          able={able}
          onDone={() => {
            setChoosing(false);
            onChange();
          }}
          onClose={() => setChoosing(false)}
        />
      )}
    </Section>
  );
};

const Answerer = ({ chosen, providers }: { chosen: Default; providers: readonly Provider[] }) => {
  if (chosen === null)
    return (
      <>
        <h3>{t('nobody_knows')}</h3>
        <p>{t('nobody_knows_text')}</p>
      </>
    );
  const provider = providers.find(({ name }) => name === chosen.provider);
  if (provider?.wire === 'builtin')
    return (
      <>
        <h3 class="row">
          <Icon name="info" />
          {t('stand_in')}
        </h3>
        <p>{t('stand_in_text')}</p>
      </>
    );
  return (
    <>
      <h3 class="row">
        <Icon name={chosen.problem === null ? 'circle-check' : 'triangle-alert'} />
        <a href={addressOf('models', ['provider', chosen.provider])}>{t('answers', { model: chosen.model, provider: provider?.display_name ?? chosen.provider })}</a>
      </h3>
      <p>{chosen.why}</p>
      {chosen.problem !== null && <p class="models-problem">{chosen.problem}</p>}
    </>
  );
};

const Choice = ({ able, onDone, onClose }: { able: readonly Provider[]; onDone: () => void; onClose: () => void }) => {
  const models = useLoaded('models that can answer', (signal) => daemon.call('listModels', { available: true }, { signal }));
  const [name, setName] = useState(able.find(({ is_default }) => is_default)?.name ?? able[0]?.name ?? '');
  const [model, setModel] = useState('');
  const served = models.data?.models.filter((one) => one.provider === name) ?? [];
  const save = async (): Promise<void> => {
    const now = await daemon.call('setDefaultProvider', { name, body: model === '' ? {} : { model } });
    notify(t('now_default', { name: now.model }));
    onDone();
  };
  return (
    <FormDialog title={t('choose_title')} action={t('use')} canSubmit={name !== ''} onSubmit={save} onClose={onClose}>
      <p class="muted">{t('choose_note')}</p>
      <Select
        label={t('provider')}
        value={name}
        onValue={(value) => {
          setName(value);
          setModel('');
        }}
        options={able.map((one) => ({ value: one.name, label: one.display_name }))}
      />
      {models.isFirst ? (
        <Loading lines={1} />
      ) : models.data === undefined ? (
        <Failure error={models.error} onRetry={models.reload} />
      ) : (
        <Select label={t('model')} value={model} onValue={setModel} options={[{ value: '', label: t('usual_model') }, ...served.map(({ id }) => ({ value: id, label: id }))]} />
      )}
    </FormDialog>
  );
};
