/** Providers and models: who can answer, who does, and why. `#/models`, `/list`, `/own`, `/provider/<name>`. */
import './models/models.css';
import { definePanel, go, PanelBody, PanelHead, type PanelProps, Tabs } from '@svc/kit';
import { ModelList } from './models/model-list.js';
import { Own } from './models/own.js';
import { ProviderList } from './models/provider-list.js';
import { ProviderView } from './models/provider-view.js';
import { t } from './models/words.js';

const Models = ({ path: [view = '', name] }: PanelProps) => {
  if (view === 'provider' && name !== undefined) return <ProviderView key={name} name={name} />;
  const chosen = view === 'list' || view === 'own' ? view : 'providers';
  return (
    <>
      <PanelHead title={t('title')} />
      <PanelBody>
        <Tabs
          label={t('views')}
          chosen={chosen}
          onChoose={(id) => go('models', id === 'providers' ? [] : [id])}
          tabs={[
            { id: 'providers', label: t('providers') },
            { id: 'list', label: t('models') },
            { id: 'own', label: t('own') },
          ]}
        >
          {chosen === 'list' ? <ModelList /> : chosen === 'own' ? <Own /> : <ProviderList />}
        </Tabs>
      </PanelBody>
    </>
  );
};

export const panel = definePanel({ view: Models });
