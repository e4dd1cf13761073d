/** Models that people registered. */
import { address, Button, type Column, confirmed, count, daemon, IconButton, needs, notify, Section, setQuery, Shown, Table, useLoaded, useState } from '@svc/kit';
import { CustomModelForm } from './custom-model-form.js';
import { keyOfModel, type Model } from './model-table.js';
import { priceOf } from './model-table.js';
import { t } from './words.js';

export const OwnModels = () => {
  const loaded = useLoaded('own models', (signal) => daemon.call('listModels', {}, { signal }), ['models', 'provider']);
  const described = address.value.query['describe'];
  const [isAdding, setAdding] = useState(false);
  const close = (): void => {
    setAdding(false);
    if (described !== undefined) setQuery({ describe: undefined });
  };
  const model = loaded.data?.models.find((one) => keyOfModel(one) === described);
  return (
    <Section
      title={t('own_models')}
      note={t('own_models_note')}
      actions={
        <Button icon="plus" {...needs('models.admin')} onPress={() => setAdding(true)}>
          {t('add_model')}
        </Button>
      }
    >
      <Shown of={loaded} lines={2}>
        {({ models }) => {
          const own = models.filter(({ source }) => source === 'custom');
          return own.length === 0 ? <p class="muted">{t('no_own')}</p> : <OwnTable rows={own} onRemoved={loaded.reload} />;
        }}
      </Shown>
      {(isAdding || model !== undefined) && !needs('models.admin').disabled && (
        <CustomModelForm
          given={model ?? {}}
          onClose={close}
          onDone={() => {
            close();
            loaded.reload();
          }}
        />
      )}
    </Section>
  );
};

const OwnTable = ({ rows, onRemoved }: { rows: readonly Model[]; onRemoved: () => void }) => {
  const remove = async ({ id, provider }: Model): Promise<void> => {
    if (!(await confirmed({ title: t('remove_model'), text: t('remove_model_text', { name: id, provider }), action: t('remove_model'), isDangerous: true }))) return;
    await daemon.call('deleteCustomModel', { id, provider });
    notify(t('model_removed', { name: id }));
    onRemoved();
  };
  const columns: ReadonlyArray<Column<Model>> = [
    { id: 'id', title: t('id'), cell: ({ id }) => <code>{id}</code> },
    { id: 'provider', title: t('provider'), cell: ({ provider }) => provider },
    { id: 'context', title: t('context'), align: 'end', cell: (row) => count(row.context_window) },
    { id: 'in', title: t('price_in'), align: 'end', cell: (row) => priceOf(row, row.input_cost_per_1m) },
    { id: 'out', title: t('price_out'), align: 'end', cell: (row) => priceOf(row, row.output_cost_per_1m) },
    {
      id: 'actions',
      title: t('actions'),
      align: 'end',
      cell: (row) => <IconButton small kind="danger" icon="trash-2" label={`${t('remove_model')}: ${row.id}`} disabled={needs('models.admin').disabled} onPress={() => remove(row)} />,
    },
  ];
  return <Table label={t('table_of', { name: t('own_models') })} columns={columns} rows={rows} keyOf={keyOfModel} />;
};
