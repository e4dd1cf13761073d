/** Other names of models. */
import { address, Button, type Column, confirmed, daemon, Fold, FormDialog, IconButton, needs, notify, Section, setQuery, Shown, Table, TextField, useLoaded, useState } from '@svc/kit';
import { t } from './words.js';

type Row = readonly [name: string, model: string];

export const Names = () => {
  const loaded = useLoaded('names of models', (signal) => daemon.call('listModelAliases', {}, { signal }), ['models']);
  const wanted = address.value.query['name_for'];
  const [isAdding, setAdding] = useState(false);
  const close = (): void => {
    setAdding(false);
    if (wanted !== undefined) setQuery({ name_for: undefined });
  };
  return (
    <Section
      title={t('names')}
      note={t('names_note')}
      actions={
        <Button icon="plus" {...needs('models.admin')} onPress={() => setAdding(true)}>
          {t('add_name')}
        </Button>
      }
    >
      <Shown of={loaded}>
        {({ aliases, custom }) => {
          const rows = Object.entries(aliases).sort(([a], [b]) => a.localeCompare(b));
          const own = rows.filter(([name]) => custom.includes(name));
          const shipped = rows.filter(([name]) => !custom.includes(name));
          return (
            <>
              {own.length === 0 ? <p class="muted">{t('no_names')}</p> : <NameTable rows={own} onRemoved={loaded.reload} />}
              {shipped.length > 0 && (
                <Fold summary={t('catalog_names', { count: shipped.length })}>
                  <NameTable rows={shipped} />
                </Fold>
              )}
            </>
          );
        }}
      </Shown>
      {(isAdding || (wanted !== undefined && !needs('models.admin').disabled)) && (
        <AddName
          model={wanted ?? ''}
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

const NameTable = ({ rows, onRemoved }: { rows: readonly Row[]; onRemoved?: () => void }) => {
  const remove = async ([name, model]: Row): Promise<void> => {
    if (!(await confirmed({ title: t('remove_name'), text: t('remove_name_text', { name, model }), action: t('remove_name'), isDangerous: true }))) return;
    const { used_by } = await daemon.call('deleteModelAlias', { alias: name });
    notify([t('name_removed', { name }), used_by && t('led_through', { names: used_by.join(', ') })].filter(Boolean).join(' '));
    onRemoved?.();
  };
  const columns: ReadonlyArray<Column<Row>> = [
    { id: 'name', title: t('alias'), cell: ([name]) => <code>{name}</code> },
    { id: 'model', title: t('stands_for'), cell: ([, model]) => <code>{model}</code> },
  ];
  const actions: Column<Row> = {
    id: 'actions',
    title: t('actions'),
    align: 'end',
    cell: (row) => <IconButton small kind="danger" icon="trash-2" label={`${t('remove_name')}: ${row[0]}`} disabled={needs('models.admin').disabled} onPress={() => remove(row)} />,
  };
  return <Table label={t('table_of', { name: onRemoved ? t('names') : t('catalog') })} columns={onRemoved ? [...columns, actions] : columns} rows={rows} keyOf={([name]) => name} />;
};

const AddName = ({ model, onClose, onDone }: { model: string; onClose: () => void; onDone: () => void }) => {
  const [alias, setAlias] = useState('');
  const [target, setTarget] = useState(model);
  const save = async (): Promise<void> => {
    const { warning, ...made } = await daemon.call('createModelAlias', { body: { alias: alias.trim(), model_id: target.trim() } });
    notify([t('name_added', { name: made.alias, model: made.model_id }), warning].filter(Boolean).join(' '));
    onDone();
  };
  return (
    <FormDialog title={t('add_name')} action={t('add')} canSubmit={alias.trim() !== '' && target.trim() !== ''} onSubmit={save} onClose={onClose}>
      <TextField label={t('alias')} value={alias} onValue={setAlias} required autofocus maxLength={200} />
      <TextField label={t('stands_for')} hint={t('target_hint')} value={target} onValue={setTarget} required maxLength={400} />
    </FormDialog>
  );
};
