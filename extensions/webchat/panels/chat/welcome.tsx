/** What a conversation shows before anything was said: who answers, what to try, and how to bring in a model. */
import { addressOf, Button, daemon, failed, go, Icon, LinkButton, Loading, notify, type OutputOf, setQuery, useEffect, useState } from '@svc/kit';
import type { Agent } from './agents.js';
import { useStatus } from './model-status.js';
import { MOCK_TRIES } from './tries.js';
import { t } from './words.js';

const MAX_OFFERED = 12;

type Found = OutputOf<'discoverLocalModels'>;

const Local = () => {
  const [found, setFound] = useState<Found>();
  const look = async (): Promise<void> => {
    setFound(await daemon.call('discoverLocalModels'));
  };
  useEffect(() => void look().catch(failed), []);
  if (!found) return <Loading lines={1} />;
  const { models } = found;
  const use = async (provider: string, model: string): Promise<void> => {
    await daemon.call('setDefaultProvider', { name: provider, body: { model } });
    notify(t('model_set', { agent: 'svc', model }));
    setQuery({ setup: undefined });
  };
  return (
    <>
      <p class="muted">{models.length > 0 ? t('setup_local_found', { names: [...new Set(models.map(({ provider }) => provider))].join(', ') }) : t('setup_local_none')}</p>
      <div class="row wrap">
        {models.slice(0, MAX_OFFERED).map(({ provider, name }) => (
          <Button key={`${provider} ${name}`} icon="cpu" onPress={() => use(provider, name)}>
            {name}
          </Button>
        ))}
        <Button icon="refresh-cw" kind="quiet" onPress={look}>
          {t('look_again')}
        </Button>
      </div>
    </>
  );
};

const SetUp = () => (
  <section class="card" aria-label={t('setup')}>
    <h2>{t('setup')}</h2>
    <p class="muted">{t('setup_text')}</p>
    <div class="row wrap">
      <LinkButton kind="primary" icon="key" href={addressOf('models', [], { add: 'key' })}>
        {t('setup_key')}
      </LinkButton>
    </div>
    <h3>{t('setup_local')}</h3>
    <Local />
  </section>
);

const TRIES = ['try_1', 'try_2', 'try_3'] as const;

export const Welcome = ({ agent, maySend, maySetUp, isAsked, onTry }: { agent: Agent; maySend: boolean; maySetUp: boolean; isAsked: boolean; onTry: (text: string) => void }) => {
  const status = useStatus();
  const needsModel = status.data?.default_model_stand_in === true || isAsked;
  return (
    <div class="welcome">
      <h2>
        <span aria-hidden="true">{agent.identity.emoji ?? ''}</span> {t('welcome_to', { name: agent.name })}
      </h2>
      <p class="muted">{agent.description || t('welcome')}</p>
      {needsModel && maySetUp && <SetUp />}
      {maySend && (
        <section aria-label={t('try')} class="stack">
          <h3>{t('try')}</h3>
          <div class="tries">
            {(status.data?.default_model_stand_in === true ? MOCK_TRIES : TRIES.map((key) => t(key))).map((text) => (
              <button key={text} type="button" class="try" onClick={() => onTry(text)}>
                <Icon name="sparkles" size={16} />
                {text}
              </button>
            ))}
          </div>
        </section>
      )}
    </div>
  );
};

export const NoAgents = ({ mayMake }: { mayMake: boolean }) => (
  <div class="welcome">
    <h1>{t('no_agents')}</h1>
    {mayMake && (
      <Button kind="primary" icon="plus" onPress={() => go('agents', ['new'])}>
        {t('make_agent')}
      </Button>
    )}
  </div>
);
