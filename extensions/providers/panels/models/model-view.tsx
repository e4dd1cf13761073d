/** One model: all that is known of it, and what can be done with it. */
import { addressOf, Badge, Button, type ComponentChildren, count, CopyButton, daemon, Dialog, Facts, Failure, go, LinkButton, needs, notify, useState } from '@svc/kit';
import { Abilities, type Model, priceOf } from './model-table.js';
import { t } from './words.js';

export const ModelView = ({ model, onClose, onChange }: { model: Model; onClose: () => void; onChange: () => void }) => {
  const [error, setError] = useState<unknown>();
  const makeDefault = async (): Promise<void> => {
    setError(undefined);
    try {
      await daemon.call('setDefaultProvider', { name: model.provider, body: { model: model.id } });
      notify(t('now_default', { name: model.display_name }));
      onChange();
      onClose();
    } catch (refusal) {
      setError(refusal);
    }
  };
  return (
    <Dialog
      title={model.display_name}
      onClose={onClose}
      actions={
        <>
          <LinkButton href={addressOf('models', ['own'], { name_for: model.id })}>{t('give_name')}</LinkButton>
          <LinkButton href={addressOf('models', ['own'], { describe: `${model.provider}/${model.id}` })}>{t('other_price')}</LinkButton>
          <Button kind="primary" {...needs('providers.admin')} {...(model.available ? {} : { disabled: true, title: t('unavailable_text') })} onPress={makeDefault}>
            {t('make_default')}
          </Button>
        </>
      }
    >
      <div class="row wrap">
        <Badge tone={model.available ? 'good' : 'quiet'}>{model.available ? t('available') : t('unavailable')}</Badge>
        <Abilities row={model} />
      </div>
      {!model.available && (
        <p>
          {t('unavailable_text')}{' '}
          <Button small onPress={() => go('models', ['provider', model.provider])}>
            {t('open_provider')}
          </Button>
        </p>
      )}
      <Facts rows={factsOf(model)} />
      {error !== undefined && <Failure title="" error={error} />}
    </Dialog>
  );
};

const factsOf = (model: Model): ReadonlyArray<readonly [string, ComponentChildren]> => {
  const prices = { input: priceOf(model, model.input_cost_per_1m), output: priceOf(model, model.output_cost_per_1m) };
  return [
    [
      t('id'),
      <span class="row" key="id">
        <code>{model.id}</code>
        <CopyButton text={model.id} />
      </span>,
    ],
    [
      t('provider'),
      <a key="provider" href={addressOf('models', ['provider', model.provider])}>
        {model.provider}
      </a>,
    ],
    ...(model.wire_id === undefined ? [] : [[t('called'), <code key="wire">{model.wire_id}</code>] as const]),
    [t('context_long'), t('tokens', { count: count(model.context_window) })],
    [t('output_long'), t('tokens', { count: count(model.max_output_tokens) })],
    [t('price_long'), model.pricing_known ? t('price_both', prices) : t('price_unknown_long')],
    [t('tier'), t(`tier_${model.tier}`)],
    [t('known_by'), t(`from_${model.source}`)],
    ...(model.aliases.length === 0 ? [] : [[t('other_names'), model.aliases.join(', ')] as const]),
  ];
};
