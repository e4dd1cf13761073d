/** One provider: its key, its address, what a try of it found, its models. */
import { addressOf, Badge, Button, daemon, go, needs, notify, PanelBody, PanelHead, Shown, useLoaded, useState } from '@svc/kit';
import { AddressSection } from './address-section.js';
import { KeySection } from './key-section.js';
import { Listed, ProviderModels } from './provider-models.js';
import { HealthBadge, StateBadge, Troubles } from './provider-state.js';
import { Outcome, type Tried, tryProvider } from './trying.js';
import { t } from './words.js';

export const ProviderView = ({ name }: { name: string }) => {
  const loaded = useLoaded(`provider ${name}`, (signal) => daemon.call('getProvider', { name }, { signal }), ['provider', 'models', 'config', 'auth']);
  const [tried, setTried] = useState<Tried>();
  const { data: provider, reload } = loaded;
  const test = async (): Promise<void> => {
    setTried(await tryProvider(name));
    reload();
  };
  const makeDefault = async (): Promise<void> => {
    const now = await daemon.call('setDefaultProvider', { name, body: {} });
    notify(t('now_default', { name: now.model }));
    reload();
  };
  return (
    <>
      <PanelHead
        title={provider?.display_name ?? name}
        note={
          provider && (
            <span class="row wrap models-badges">
              <StateBadge provider={provider} />
              <HealthBadge provider={provider} />
              {provider.is_default && <Badge tone="info">{t('default_badge')}</Badge>}
              {provider.is_custom && <Badge>{t('own_badge')}</Badge>}
              {provider.is_local && <Badge>{t('local_badge')}</Badge>}
            </span>
          )
        }
        back={{ href: addressOf('models'), label: t('back') }}
        actions={
          provider &&
          provider.wire !== 'unsupported' && (
            <>
              {!provider.is_default && provider.available && (
                <Button {...needs('providers.admin')} onPress={makeDefault}>
                  {t('make_default')}
                </Button>
              )}
              <Button kind="primary" icon="activity" {...needs('providers.admin')} onPress={test}>
                {t('test')}
              </Button>
            </>
          )
        }
      />
      <PanelBody>
        <Shown of={loaded}>
          {(one) => (
            <>
              {one.wire === 'unsupported' && <p>{t('not_spoken_note')}</p>}
              {tried ? <Outcome tried={tried} provider={one} /> : one.error_message && <p class="models-problem">{one.error_message}</p>}
              {one.wire !== 'unsupported' && one.wire !== 'builtin' && (
                <>
                  {(one.key_required || one.key_present || one.suppressed) && <KeySection provider={one} onTried={setTried} onChange={reload} />}
                  <AddressSection key={one.base_url} provider={one} onChange={reload} onGone={() => go('models')} />
                </>
              )}
              <Troubles provider={one} />
              <ProviderModels provider={one} />
              <Listed provider={one} names={tried?.result?.models_listed ?? one.discovered_models ?? []} onAdded={reload} />
            </>
          )}
        </Shown>
      </PanelBody>
    </>
  );
};
