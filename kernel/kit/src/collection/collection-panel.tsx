/** A collection as a panel of the page, or as a section of one, from its description. */
import {
  address,
  addressOf,
  Button,
  type ComponentChildren,
  definePanel,
  go,
  needs,
  PanelBody,
  type PanelDefinition,
  PanelHead,
  Facts,
  Section,
  setQuery,
  Shown,
  useLoaded,
  useOffered,
  useState,
} from '@svc/kit';
import type { CollectionView } from '@svc/api/collection-view';
import { ActionButtons } from './action-buttons.js';
import { cellOf } from './cell.js';
import { Actions, type CollectionSlots, CollectionTable } from './collection-table.js';
import { labelOf, said } from './field-words.js';
import { EditForm, removed } from './item-forms.js';
import { addressWith, idOf, isOpenPath, type Item, itemAddress, loadItem, nameOf, valueAt } from './list-page.js';
import { ReferenceField } from './reference-field.js';
import { t } from './part-words.js';

const NewButton = ({ view, onPress }: { view: CollectionView; onPress: () => void }) => {
  const { create, one, permissions } = view;
  if (!create) return null;
  return (
    <Button kind="primary" icon="plus" {...(permissions?.create === undefined ? {} : needs(permissions.create))} onPress={onPress}>
      {t('create_one', { one: said(one) })}
    </Button>
  );
};

/** The whole panel: the list; and where a detail view is given, `#/<panel>/<id>` with one item. */
export const CollectionPanel = ({ view: declared, slots = {}, path = [], actions }: { view: CollectionView; slots?: CollectionSlots; path?: readonly string[]; actions?: ComponentChildren }) => {
  const [isCreating, setCreating] = useState(false);
  const [reloads, setReloads] = useState(0);
  const isOffered = useOffered();
  const { panel } = address.value;
  const [id] = path;
  const { view, Choice } = useParent(declared);
  if (id !== undefined && hasDetail(view, slots)) return <OneItem key={id} view={view} slots={slots} id={id} panel={panel} />;
  return (
    <>
      <PanelHead
        title={said(view.title)}
        note={view.note && said(view.note)}
        actions={
          <>
            {actions}
            <ActionButtons view={view} on="list" reload={() => setReloads((before) => before + 1)} />
            <NewButton view={view} onPress={() => setCreating(true)} />
          </>
        }
      />
      <PanelBody>
        <div class="stack">
          {slots.head}
          <Choice />
          {!isOpenPath(view.path) && (
            <CollectionTable
              key={`${view.path} ${reloads}`}
              view={view}
              slots={slots}
              isInAddress
              {...opensOf(view, slots, panel, isOffered)}
              isCreating={isCreating}
              onCreate={() => setCreating(true)}
              onCreated={() => setCreating(false)}
            />
          )}
        </div>
      </PanelBody>
    </>
  );
};

const hasDetail = ({ detail }: CollectionView, slots: CollectionSlots): boolean => slots.detail !== undefined || (detail?.length ?? 0) > 0;

/** Where a row leads: to its details, or to another panel. */
const opensOf = (view: CollectionView, slots: CollectionSlots, panel: string, isOffered: (panel: string) => boolean): { hrefOf?: (item: Item) => string } => {
  const { opens } = view;
  if (slots.detail === undefined && opens) return !isOffered(opens.panel) ? {} : { hrefOf: (item) => addressOf(opens.panel, [String(valueAt(item, opens.field) ?? '')]) };
  return hasDetail(view, slots) ? { hrefOf: (item) => addressOf(panel, [idOf(view, item)]) } : {};
};

/** All that an item shows. */
const Detail = ({ view, item }: { view: CollectionView; item: Item }) => {
  const columns = (view.detail ?? []).map((field) => view.columns.find((column) => column.field === field) ?? { field, ...(field.endsWith('_at') ? { format: 'date' as const } : {}) });
  const rows = columns.map((column) => [column.title === undefined ? labelOf(column.field, undefined, view.fields) : said(column.title), cellOf(view, column, item)] as const);
  return <Facts rows={rows.filter(([, value]) => value !== null && value !== '')} />;
};

/** What the items stand below is chosen first; its id stands in the address. */
const useParent = (view: CollectionView): { view: CollectionView; Choice: () => ComponentChildren } => {
  const { under } = view;
  if (under === undefined || !isOpenPath(view.path)) return { view, Choice: () => null };
  const chosen = address.value.query[under.field] ?? '';
  const filled = (path: string): string => (chosen === '' ? path : addressWith(path, { [under.field]: chosen }));
  const own: CollectionView = {
    ...view,
    path: filled(view.path),
    ...(view.itemPath === undefined ? {} : { itemPath: filled(view.itemPath) }),
    ...(view.actions === undefined ? {} : { actions: view.actions.map((action) => ({ ...action, path: filled(action.path) })) }),
  };
  const Choice = () => (
    <ReferenceField
      label={t('choose_parent', { of: under.of })}
      source={view.references?.[under.of]}
      isNeeded
      value={chosen}
      onValue={(value) => setQuery({ [under.field]: value === '' ? undefined : value })}
    />
  );
  return { view: own, Choice };
};

/** A section of a panel that shows other things too. */
export const CollectionSection = ({ view, slots = {} }: { view: CollectionView; slots?: CollectionSlots }) => {
  const [isCreating, setCreating] = useState(false);
  return (
    <Section title={said(view.title)} note={view.note && said(view.note)} actions={<NewButton view={view} onPress={() => setCreating(true)} />}>
      <CollectionTable view={view} slots={slots} isInAddress={false} isCreating={isCreating} onCreate={() => setCreating(true)} onCreated={() => setCreating(false)} />
    </Section>
  );
};

const OneItem = ({ view, slots, id, panel }: { view: CollectionView; slots: CollectionSlots; id: string; panel: string }) => {
  const loaded = useLoaded<Item>(itemAddress(view, id), (signal) => loadItem(view, id, signal), view.event === undefined ? [] : [view.event]);
  const [isEditing, setEditing] = useState(false);
  const remove = async (item: Item): Promise<void> => {
    if (await removed(view, item)) go(panel);
  };
  const back = { href: addressOf(panel), label: t('back') };
  const { data } = loaded;
  return (
    <>
      <PanelHead
        back={back}
        title={data ? nameOf(view, data) : said(view.title)}
        actions={data && <Actions view={view} slots={slots} item={data} onEdit={() => setEditing(true)} onRemove={remove} reload={loaded.reload} />}
      />
      <PanelBody>
        <Shown of={loaded}>{(item) => <>{slots.detail ? slots.detail(item, loaded.reload) : <Detail view={view} item={item} />}</>}</Shown>
      </PanelBody>
      {isEditing && data && <EditForm view={view} slots={slots} item={data} onClose={() => setEditing(false)} reload={loaded.reload} />}
    </>
  );
};

/** A panel of the page that is this collection and nothing else. */
export const panelOf = (view: CollectionView, slots: CollectionSlots = {}): PanelDefinition => definePanel({ view: ({ path }) => <CollectionPanel view={view} slots={slots} path={path} /> });
