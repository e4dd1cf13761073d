/** All models, searched and filtered. What is sought stands in the address. */
import { address, addressOf, Button, CheckField, daemon, Empty, SearchField, Select, setQuery, Shown, useLoaded, useState } from '@svc/kit';
import { keyOfModel, type Model, ModelTable } from './model-table.js';
import { ModelView } from './model-view.js';
import { t } from './words.js';

const TIERS = ['frontier', 'smart', 'balanced', 'fast', 'local', 'custom'] as const;
const SHOWN_AT_FIRST = 100;

interface Sought {
  readonly q?: string;
  readonly provider?: string;
  readonly tier?: string;
  readonly able?: string;
  readonly model?: string;
}

/** Each word stands somewhere in its names. */
const isLike = (model: Model, { q = '', provider, tier, able }: Sought): boolean => {
  if ((provider && model.provider !== provider) || (tier && model.tier !== tier) || (able && !model.available)) return false;
  const text = [model.id, model.display_name, model.provider, model.wire_id ?? '', ...model.aliases].join(' ').toLowerCase();
  return q
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
};

export const ModelList = () => {
  const loaded = useLoaded('models', (signal) => daemon.call('listModels', {}, { signal }), ['models', 'provider', 'config', 'auth']);
  const sought: Sought = address.value.query;
  return (
    <Shown of={loaded} lines={12}>
      {({ models }) => (
        <div class="stack">
          <Filters models={models} sought={sought} />
          <Found models={models} sought={sought} />
          <Opened models={models} sought={sought} onChange={loaded.reload} />
        </div>
      )}
    </Shown>
  );
};

const Filters = ({ models, sought }: { models: readonly Model[]; sought: Sought }) => {
  const providers = [...new Set(models.map(({ provider }) => provider))].sort();
  return (
    <div class="models-filters">
      <SearchField label={t('search_models')} value={sought.q ?? ''} onValue={(q) => setQuery({ q })} />
      <Select
        bare
        label={t('provider')}
        value={sought.provider ?? ''}
        onValue={(provider) => setQuery({ provider })}
        options={[{ value: '', label: t('any_provider') }, ...providers.map((one) => ({ value: one, label: one }))]}
      />
      <Select
        bare
        label={t('tier')}
        value={sought.tier ?? ''}
        onValue={(tier) => setQuery({ tier })}
        options={[{ value: '', label: t('any_tier') }, ...TIERS.map((one) => ({ value: one, label: t(`tier_${one}`) }))]}
      />
      <CheckField label={t('only_available')} value={sought.able === '1'} onValue={(yes) => setQuery({ able: yes ? '1' : undefined })} />
    </div>
  );
};

const Found = ({ models, sought }: { models: readonly Model[]; sought: Sought }) => {
  const [isWhole, setWhole] = useState(false);
  // Those that can answer first, each group as the list has it.
  const found = models.filter((model) => isLike(model, sought)).sort((a, b) => Number(b.available) - Number(a.available));
  if (found.length === 0)
    return (
      <Empty icon="search" title={t('no_model')}>
        <Button onPress={() => setQuery({ q: undefined, provider: undefined, tier: undefined, able: undefined })}>{t('clear')}</Button>
      </Empty>
    );
  const shown = isWhole ? found : found.slice(0, SHOWN_AT_FIRST);
  const { model: _, ...rest } = sought;
  return (
    <>
      <p class="muted small-text" role="status">
        {t('shown_of', { shown: shown.length, total: found.length })}
      </p>
      <ModelTable label={t('models')} rows={shown} withProvider hrefOf={(row) => addressOf('models', ['list'], { ...rest, model: keyOfModel(row) })} />
      {shown.length < found.length && (
        <div>
          <Button onPress={() => setWhole(true)}>{t('show_all', { count: found.length })}</Button>
        </div>
      )}
    </>
  );
};

const Opened = ({ models, sought, onChange }: { models: readonly Model[]; sought: Sought; onChange: () => void }) => {
  const model = models.find((one) => keyOfModel(one) === sought.model);
  return model ? <ModelView key={keyOfModel(model)} model={model} onClose={() => setQuery({ model: undefined })} onChange={onChange} /> : null;
};
