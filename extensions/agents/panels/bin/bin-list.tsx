/** One kind of what was deleted: what brings it back, and what erases it. */
import { ago, Button, CheckField, type Column, confirmed, dateTime, Empty, failed, FormDialog, may, notify, Shown, SvcError, Table, TextField, useLoaded, useState, whyNot } from '@svc/kit';
import type { Binned, Kind } from './kinds.js';
import { t } from './words.js';

const BESIDE = /(\.[^./]*)?$/;

/** One after the other: what fails is said, and the others go on. Resolves with those that are done. */
const each = async (rows: readonly Binned[], work: (row: Binned) => Promise<unknown>): Promise<readonly Binned[]> => {
  const done: Binned[] = [];
  for (const row of rows)
    try {
      await work(row);
      done.push(row);
    } catch (error) {
      failed(error);
    }
  return done;
};

const said = (rows: readonly Binned[], one: 'restored' | 'erased', several: 'restored_all' | 'erased_all'): void => {
  if (rows.length > 0) notify(rows.length === 1 ? t(one, { name: rows[0]?.name ?? '' }) : t(several, { count: rows.length }));
};

/** Another name for a file whose own is taken. */
const Elsewhere = ({ row, onClose, onDone }: { row: Binned; onClose: () => void; onDone: () => void }) => {
  const [name, setName] = useState(row.name.replace(BESIDE, (ending) => `-restored${ending}`));
  const restore = async (): Promise<void> => {
    await row.restore(name.trim());
    notify(t('restored', { name: name.trim() }));
    onDone();
  };
  return (
    <FormDialog title={t('taken_title', { name: row.name })} action={t('restore')} onSubmit={restore} onClose={onClose} canSubmit={name.trim() !== ''}>
      <TextField label={t('other_name')} hint={t('taken_text')} value={name} onValue={setName} isNeeded />
    </FormDialog>
  );
};

export const BinList = ({ kind }: { kind: Kind }) => {
  const loaded = useLoaded(`bin ${kind.id}`, (signal) => kind.load(signal), kind.changes);
  const [ticked, setTicked] = useState<ReadonlySet<string>>(new Set());
  const [taken, setTaken] = useState<Binned>();
  const mayWrite = may(kind.permission);
  const after = (): void => {
    setTicked(new Set());
    loaded.reload();
  };
  const restore = async (rows: readonly Binned[]): Promise<void> => {
    const restored = await each(rows, (row) =>
      row.restore().catch((error: unknown) => {
        if (rows.length > 1 || !(error instanceof SvcError) || error.code !== 'files_already_there') throw error;
        setTaken(row);
        return undefined;
      }),
    );
    said(restored, 'restored', 'restored_all');
    after();
  };
  const erase = async (rows: readonly Binned[]): Promise<void> => {
    const text = rows.length === 1 ? t('erase_one', { name: rows[0]?.name ?? '' }) : t('erase_all', { count: rows.length });
    const action = t('erase_count', { count: rows.length });
    if (!(await confirmed({ title: t('erase_title'), text, action, isDangerous: true }))) return;
    said(await each(rows, (row) => row.erase()), 'erased', 'erased_all');
    after();
  };
  const tick = (id: string, isOn: boolean): void => setTicked(new Set([...[...ticked].filter((one) => one !== id), ...(isOn ? [id] : [])]));
  const columns: ReadonlyArray<Column<Binned>> = [
    {
      id: 'name',
      title: t('name'),
      cell: (row) => (mayWrite ? <CheckField label={<bdi>{row.name}</bdi>} value={ticked.has(row.id)} onValue={(isOn) => tick(row.id, isOn)} /> : <bdi>{row.name}</bdi>),
    },
    { id: 'about', title: t('about'), isMinor: true, cell: ({ about }) => <bdi>{about}</bdi> },
    { id: 'deleted', title: t('deleted'), isMinor: true, cell: ({ deletedAt }) => ago(deletedAt) },
    { id: 'until', title: t('until'), cell: ({ until }) => dateTime(until) },
    ...(mayWrite
      ? [
          {
            id: 'actions',
            title: t('actions'),
            align: 'end' as const,
            cell: (row: Binned) => (
              <Button small icon="rotate-ccw" title={t('restore_name', { name: row.name })} onPress={() => restore([row])}>
                {t('restore')}
              </Button>
            ),
          },
        ]
      : []),
  ];
  return (
    <>
      <Shown of={loaded} lines={4}>
        {(rows) => {
          const chosen = rows.filter(({ id }) => ticked.has(id));
          if (rows.length === 0)
            return (
              <Empty icon="trash-2" title={t('empty')}>
                <p>{t('empty_text')}</p>
              </Empty>
            );
          return (
            <>
              <div class="row wrap" role="group" aria-label={t('several')}>
                <CheckField label={t('all')} value={chosen.length === rows.length} disabled={!mayWrite} onValue={(isOn) => setTicked(new Set(isOn ? rows.map(({ id }) => id) : []))} />
                <Button icon="rotate-ccw" disabled={!mayWrite || chosen.length === 0} title={whyNot(kind.permission)} onPress={() => restore(chosen)}>
                  {t('restore_count', { count: chosen.length })}
                </Button>
                <Button kind="danger" icon="trash-2" disabled={!mayWrite || chosen.length === 0} title={whyNot(kind.permission)} onPress={() => erase(chosen)}>
                  {t('erase_count', { count: chosen.length })}
                </Button>
              </div>
              <Table label={t(kind.id)} columns={columns} rows={rows} keyOf={({ id }) => id} />
            </>
          );
        }}
      </Shown>
      {taken && <Elsewhere row={taken} onClose={() => setTaken(undefined)} onDone={after} />}
    </>
  );
};
