/**
 * The items of a collection: sought, sorted, page by page; and what is done with one of them.
 *
 * P1  What changed at the daemon is shown as soon as its event comes, and what is on the screen stays until then.
 * P2  A button for what the caller's role may not do is disabled. Whether it may be done the daemon decides.
 */
import { Button, type Column, type ComponentChildren, Empty, IconButton, needs, SearchField, Select, Shown, type Sorting, Table, useEffect, useLoaded, useRef, useState } from '@svc/kit';
import type { CollectionView } from '@svc/api/collection-view';
import { ActionButtons } from './action-buttons.js';
import { cellOf, ENDS } from './cell.js';
import { labelOf, said, valueLabel } from './field-words.js';
import { CreateForm, EditForm, removed } from './item-forms.js';
import { idOf, type Item, type ListPage, loadPage, nameOf, type Place, type Sought } from './list-page.js';
import { isSought, type Query, soughtIn, usePlaces, useQuery, useRested } from './list-query.js';
import type { Schema } from './schema.js';
import type { FieldSlotProps } from './schema-form.js';
import { t } from './part-words.js';

/** What a panel draws by hand. */
export interface CollectionSlots {
  /** A cell instead of the usual one, by the column's field. */
  readonly cells?: Readonly<Record<string, (item: Item) => ComponentChildren>>;
  /** Further things to do with an item, before those that the collection has. */
  readonly actions?: (item: Item, reload: () => void) => ComponentChildren;
  /** An item alone: then the first cell leads to it. */
  readonly detail?: (item: Item, reload: () => void) => ComponentChildren;
  /** Fields of the forms, by path. */
  readonly fields?: Readonly<Record<string, (field: FieldSlotProps) => ComponentChildren>>;
  /** Shown where there is nothing at all yet. */
  readonly empty?: ComponentChildren;
  /** Above the list, such as figures or a chart. */
  readonly head?: ComponentChildren;
}

export interface CollectionTableProps {
  readonly view: CollectionView;
  readonly slots?: CollectionSlots;
  /** Where in the address an item stands; left out where the table is a part of a panel, whose address is its own. */
  readonly hrefOf?: ((item: Item) => string) | undefined;
  /** Whether what is sought stands in the address. */
  readonly isInAddress: boolean;
  /** The form for a new item is open. */
  readonly isCreating: boolean;
  readonly onCreated: () => void;
  /** Opens that form: the first thing to do with an empty list. */
  readonly onCreate?: () => void;
}

export const CollectionTable = ({ view, slots = {}, hrefOf, isInAddress, isCreating, onCreated, onCreate }: CollectionTableProps) => {
  const [query, seek] = useQuery(isInAddress);
  const typed = soughtIn(view, query);
  const q = useRested(typed.q ?? '');
  const sought = { ...typed, q };
  const key = `${view.path} ${JSON.stringify(sought)}`;
  const { place, number, forward, back } = usePlaces(key);
  const loaded = useLoaded(`${key} ${JSON.stringify(place)}`, (signal) => loadPage(view, sought, place, signal), view.event === undefined ? [] : [view.event]);
  const last = useRef<ListPage>(undefined);
  last.current = loaded.data ?? last.current;
  const [editing, setEditing] = useState<Item>();
  const { data } = loaded;
  // The last one of a page was deleted.
  useEffect(() => {
    if (data && data.rows.length === 0) back?.();
  }, [data]);
  const remove = async (item: Item): Promise<void> => {
    if (await removed(view, item)) loaded.reload();
  };
  return (
    <div class="stack">
      <Tools view={view} query={query} seek={seek} />
      <Shown of={{ ...loaded, data: data ?? (loaded.error === undefined ? last.current : undefined) }}>
        {(page) => (
          <div class="stack" aria-busy={data === undefined}>
            {page.rows.length === 0 ? (
              <Nothing
                view={view}
                sought={typed}
                slots={slots}
                onCreate={onCreate}
                reload={loaded.reload}
                onClear={() => seek(Object.fromEntries(['q', ...(view.filters ?? []).map(({ field }) => field)].map((name) => [name, undefined])))}
              />
            ) : (
              <Items view={view} slots={slots} rows={page.rows} hrefOf={hrefOf} sort={typed.sort} seek={seek} onEdit={setEditing} onRemove={remove} reload={loaded.reload} />
            )}
            <Pages page={page} place={place} number={number} onBack={back} onNext={forward} />
          </div>
        )}
      </Shown>
      {isCreating && <CreateForm view={view} slots={slots} onClose={onCreated} reload={loaded.reload} />}
      {editing && (
        <EditForm
          key={idOf(view, editing)}
          view={view}
          slots={slots}
          item={data?.rows.find((one) => idOf(view, one) === idOf(view, editing)) ?? editing}
          onClose={() => setEditing(undefined)}
          reload={loaded.reload}
        />
      )}
    </div>
  );
};

const Tools = ({ view, query, seek }: { view: CollectionView; query: Query; seek: (change: Query) => void }) => {
  const { search, filters = [], fields } = view;
  if (!search && filters.length === 0) return null;
  return (
    <div class="collection-tools">
      {search && <SearchField value={query['q'] ?? ''} onValue={(q) => seek({ q: q === '' ? undefined : q })} />}
      {filters.map(({ field, values }) => {
        const label = labelOf(field, fieldSchema(view, field), fields);
        return (
          <Select
            key={field}
            bare
            label={t('filter', { field: label })}
            value={query[field] ?? ''}
            onValue={(value) => seek({ [field]: value === '' ? undefined : value })}
            options={[{ value: '', label: `${label}: ${t('any')}` }, ...values.map((value) => ({ value, label: valueLabel(field, value, fields) }))]}
          />
        );
      })}
    </div>
  );
};

interface NothingProps extends Pick<CollectionTableProps, 'view'> {
  readonly sought: Sought;
  readonly slots: CollectionSlots;
  readonly onClear: () => void;
  readonly onCreate: (() => void) | undefined;
  readonly reload: () => void;
}

/** Why it is empty, and what to do first. */
const Nothing = ({ view, sought, slots, onClear, onCreate, reload }: NothingProps) =>
  isSought(sought) ? (
    <Empty icon="search" title={t('none_found')}>
      <Button onPress={onClear}>{t('clear')}</Button>
    </Empty>
  ) : (
    <Empty title={view.empty === undefined ? t('none') : said(view.empty)}>
      {slots.empty}
      {view.create && onCreate && (
        <Button kind="primary" icon="plus" {...(view.permissions?.create === undefined ? {} : needs(view.permissions.create))} onPress={onCreate}>
          {t('create_one', { one: said(view.one) })}
        </Button>
      )}
      <ActionButtons view={view} on="list" reload={reload} />
    </Empty>
  );

interface ItemsProps extends Pick<CollectionTableProps, 'view' | 'hrefOf'> {
  readonly slots: CollectionSlots;
  readonly rows: readonly Item[];
  readonly sort: string | undefined;
  readonly seek: (change: Query) => void;
  readonly onEdit: (item: Item) => void;
  readonly onRemove: (item: Item) => Promise<void>;
  readonly reload: () => void;
}

const Items = ({ view, slots, rows, hrefOf, sort, seek, onEdit, onRemove, reload }: ItemsProps) => {
  const hasActions = Boolean(slots.actions ?? view.update) || view.remove === true || view.actions?.some(({ on }) => on === 'item') === true;
  const columns: Array<Column<Item>> = view.columns.map((column) => ({
    id: column.field,
    title: column.title === undefined ? labelOf(column.field, fieldSchema(view, column.field), view.fields) : said(column.title),
    cell: slots.cells?.[column.field] ?? ((item) => cellOf(view, column, item)),
    ...(ENDS.includes(column.format) ? { align: 'end' as const } : {}),
    ...(column.isMinor ? { isMinor: true } : {}),
    // The daemon sorts: all values are alike here.
    ...(view.sort?.includes(column.field) ? { sortBy: () => 0 } : {}),
  }));
  if (hasActions)
    columns.push({
      id: ' actions',
      title: t('actions'),
      align: 'end',
      cell: (item) => <Actions view={view} slots={slots} item={item} onEdit={onEdit} onRemove={onRemove} reload={reload} />,
    });
  const sorting: Sorting | undefined = sort ? { column: sort.replace(/^-/, ''), isDown: sort.startsWith('-') } : undefined;
  return (
    <Table
      label={said(view.title)}
      columns={columns}
      rows={rows}
      keyOf={(item) => idOf(view, item)}
      onSort={({ column, isDown }) => seek({ sort: isDown ? `-${column}` : column })}
      {...(sorting ? { sorting } : {})}
      {...(hrefOf ? { hrefOf } : {})}
    />
  );
};

/** The schema of a field, where a form says it. */
const fieldSchema = ({ create, update }: CollectionView, field: string): Schema | undefined => {
  // A declaration says JSON Schemas; what of them is no field is read as none.
  const properties = ((create ?? update?.schema) as Schema | undefined)?.properties;
  return properties?.[field];
};

const permitted = (permission: string | undefined): ReturnType<typeof needs> => (permission === undefined ? { disabled: false, title: undefined } : needs(permission));

type ActionsProps = Pick<ItemsProps, 'view' | 'slots' | 'onEdit' | 'onRemove' | 'reload'> & { readonly item: Item };

export const Actions = ({ view, slots, item, onEdit, onRemove, reload }: ActionsProps) => {
  const name = nameOf(view, item);
  return (
    <span class="row">
      {slots.actions?.(item, reload)}
      <ActionButtons view={view} on="item" item={item} reload={reload} />
      {view.update && <IconButton small icon="pencil" label={t('edit_named', { name })} disabled={permitted(view.permissions?.update).disabled} onPress={() => onEdit(item)} />}
      {view.remove && <IconButton small kind="danger" icon="trash-2" label={t('remove_named', { name })} disabled={permitted(view.permissions?.remove).disabled} onPress={() => onRemove(item)} />}
    </span>
  );
};

const Pages = ({ page, place, number, onBack, onNext }: { page: ListPage; place: Place; number: number; onBack: (() => void) | undefined; onNext: (place: Place) => void }) => {
  const { next, total, rows } = page;
  if (!next && !onBack) return null;
  const from = 'offset' in place ? place.offset : undefined;
  return (
    <nav class="row wrap" aria-label={t('pages')}>
      <Button disabled={!onBack} onPress={() => onBack?.()}>
        {t('previous')}
      </Button>
      <span class="muted small-text" role="status">
        {from === undefined || total === undefined ? t('page_number', { number }) : t('range', { from: from + 1, to: from + rows.length, total })}
      </span>
      <Button disabled={!next} onPress={() => next && onNext(next)}>
        {t('next')}
      </Button>
    </nav>
  );
};
