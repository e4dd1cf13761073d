/** A collection as a panel of the page, or as a section of one, from its description. */
import { address, addressOf, Button, type ComponentChildren, definePanel, go, needs, PanelBody, type PanelDefinition, PanelHead, Section, Shown, useLoaded, useState } from '@svc/kit';
import type { CollectionView } from '@svc/api/collection-view';
import { Actions, type CollectionSlots, CollectionTable } from './collection-table.js';
import { said } from './field-words.js';
import { EditForm, removed } from './item-forms.js';
import { idOf, type Item, loadItem, nameOf } from './list-page.js';
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
export const CollectionPanel = ({ view, slots = {}, path = [], actions }: { view: CollectionView; slots?: CollectionSlots; path?: readonly string[]; actions?: ComponentChildren }) => {
  const [isCreating, setCreating] = useState(false);
  const { panel } = address.value;
  const [id] = path;
  if (id !== undefined && slots.detail) return <OneItem key={id} view={view} slots={slots} id={id} panel={panel} />;
  return (
    <>
      <PanelHead
        title={said(view.title)}
        note={view.note && said(view.note)}
        actions={
          <>
            {actions}
            <NewButton view={view} onPress={() => setCreating(true)} />
          </>
        }
      />
      <PanelBody>
        <CollectionTable view={view} slots={slots} isInAddress hrefOf={(item) => addressOf(panel, [idOf(view, item)])} isCreating={isCreating} onCreated={() => setCreating(false)} />
      </PanelBody>
    </>
  );
};

/** A section of a panel that shows other things too. */
export const CollectionSection = ({ view, slots = {} }: { view: CollectionView; slots?: CollectionSlots }) => {
  const [isCreating, setCreating] = useState(false);
  return (
    <Section title={said(view.title)} note={view.note && said(view.note)} actions={<NewButton view={view} onPress={() => setCreating(true)} />}>
      <CollectionTable view={view} slots={slots} isInAddress={false} isCreating={isCreating} onCreated={() => setCreating(false)} />
    </Section>
  );
};

const OneItem = ({ view, slots, id, panel }: { view: CollectionView; slots: CollectionSlots; id: string; panel: string }) => {
  const loaded = useLoaded<Item>(`${view.path}/${id}`, (signal) => loadItem(view, id, signal), view.event === undefined ? [] : [view.event]);
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
        <Shown of={loaded}>{(item) => <>{slots.detail?.(item, loaded.reload)}</>}</Shown>
      </PanelBody>
      {isEditing && data && <EditForm view={view} slots={slots} item={data} onClose={() => setEditing(false)} reload={loaded.reload} />}
    </>
  );
};

/** A panel of the page that is this collection and nothing else. */
export const panelOf = (view: CollectionView): PanelDefinition => definePanel({ view: ({ path }) => <CollectionPanel view={view} path={path} /> });
