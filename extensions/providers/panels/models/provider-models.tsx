/** The models of one provider: those of the list, and those that its server names. */
import { Button, Empty, IconButton, needs, Section, useState } from '@svc/kit';
import type { OutputOf } from '@svc/kit';
import { CustomModelForm } from './custom-model-form.js';
import { ModelTable } from './model-table.js';
import { t } from './words.js';

type Detail = OutputOf<'getProvider'>;

export const ProviderModels = ({ provider: { models } }: { provider: Detail }) => (
  <Section title={t('its_models')}>
    {models.length === 0 ? (
      <Empty icon="cpu" title={t('no_models')}>
        <p>{t('no_models_text')}</p>
      </Empty>
    ) : (
      <ModelTable label={t('table_of', { name: t('its_models') })} rows={models} />
    )}
  </Section>
);

const SHOWN_AT_FIRST = 60;

export const Listed = ({ provider, names, onAdded }: { provider: Detail; names: readonly string[]; onAdded: () => void }) => {
  const [adding, setAdding] = useState<string>();
  const [isWhole, setWhole] = useState(false);
  if (names.length === 0) return null;
  const known = new Set(provider.models.flatMap(({ id, wire_id }) => [id, wire_id ?? id]));
  const shown = isWhole ? names : names.slice(0, SHOWN_AT_FIRST);
  return (
    <Section title={t('listed')} note={t('listed_note')}>
      <ul class="models-listed" aria-label={t('listed')}>
        {shown.map((name) => (
          <li key={name}>
            <code>{name}</code>
            {known.has(name) ? (
              <span class="muted small-text">{t('in_catalog')}</span>
            ) : (
              !needs('models.admin').disabled && <IconButton small icon="plus" label={`${t('describe')}: ${name}`} onPress={() => setAdding(name)} />
            )}
          </li>
        ))}
      </ul>
      {shown.length < names.length && <Button onPress={() => setWhole(true)}>{t('show_all', { count: names.length })}</Button>}
      {adding !== undefined && (
        <CustomModelForm
          given={{ id: adding, provider: provider.name }}
          onClose={() => setAdding(undefined)}
          onDone={() => {
            setAdding(undefined);
            onAdded();
          }}
        />
      )}
    </Section>
  );
};
