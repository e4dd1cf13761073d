/** What is done with an item of a collection: made and changed in a dialog, deleted after a question. */
import { confirmed, daemon, notify, SvcError, useRef } from '@svc/kit';
import type { CollectionView } from '@svc/api/collection-view';
import { newKey } from '@svc/client/request';
import { said } from './field-words.js';
import { idOf, type Item, itemAddress, nameOf } from './list-page.js';
import type { Schema } from './schema.js';
import { SchemaFormDialog, type SchemaFormSpec } from './schema-form.js';
import { t } from './part-words.js';

const addressOfItem = (view: CollectionView, item: Item): string => itemAddress(view, idOf(view, item), item);

/** The state that a change is based on; the daemon refuses it where that is another one by now. */
const based = ({ revisionField }: CollectionView, item: Item): { headers?: Record<string, string> } => {
  const revision = revisionField === undefined ? undefined : item[revisionField];
  return revision === undefined ? {} : { headers: { 'if-match': `"${revision}"` } };
};

/** Nothing is deleted before it was named and confirmed. True where it is gone. */
export const removed = async (view: CollectionView, item: Item): Promise<boolean> => {
  const name = nameOf(view, item);
  if (!(await confirmed({ title: t('remove_title', { one: said(view.one) }), text: t('remove_text', { name }), action: t('remove'), isDangerous: true }))) return false;
  await daemon.request('DELETE', addressOfItem(view, item));
  notify(t('removed', { name }));
  return true;
};

interface FormProps {
  readonly view: CollectionView;
  /** Fields that are drawn by hand, by path. */
  readonly slots: { readonly fields?: NonNullable<SchemaFormSpec['slots']> };
  readonly onClose: () => void;
  readonly reload: () => void;
}

export const CreateForm = ({ view, slots, onClose, reload }: FormProps) => {
  const key = useRef<{ text: string; key: string }>(undefined);
  if (!view.create) return null;
  const send = async (value: Item): Promise<void> => {
    const text = JSON.stringify(value);
    // The same again has its effect once, where an answer was lost on the way.
    if (key.current?.text !== text) key.current = { text, key: newKey() };
    const { data } = await daemon.request('POST', view.path, value, { idempotencyKey: key.current.key });
    notify(t('created', { name: nameOf(view, { ...value, ...(data as object) }) }));
    reload();
  };
  return (
    <SchemaFormDialog
      name={`${view.path} new`}
      title={t('create_one', { one: said(view.one) })}
      action={t('create')}
      schema={view.create as Schema}
      send={send}
      onClose={onClose}
      {...(view.fields ? { words: view.fields } : {})}
      {...(view.references ? { references: view.references } : {})}
      {...(slots.fields ? { slots: slots.fields } : {})}
    />
  );
};

export const EditForm = ({ view, slots, item, onClose, reload }: FormProps & { item: Item }) => {
  const { update } = view;
  if (!update) return null;
  const send = async (value: Item): Promise<void> => {
    if (Object.keys(value).length === 0) return;
    try {
      await daemon.request(update.method, addressOfItem(view, item), value, based(view, item));
    } catch (error) {
      // What it is now is shown beside what was typed.
      if (error instanceof SvcError && error.status === 412) reload();
      throw error;
    }
    notify(t('saved', { name: nameOf(view, { ...item, ...value }) }));
    reload();
  };
  const revision = view.revisionField === undefined ? undefined : item[view.revisionField];
  return (
    <SchemaFormDialog
      name={addressOfItem(view, item)}
      title={t('edit_one', { one: said(view.one) })}
      schema={update.schema as Schema}
      given={item}
      version={typeof revision === 'number' || typeof revision === 'string' ? revision : JSON.stringify(item)}
      isWhole={update.whole === true}
      send={send}
      onClose={onClose}
      {...(view.fields ? { words: view.fields } : {})}
      {...(view.references ? { references: view.references } : {})}
      {...(slots.fields ? { slots: slots.fields } : {})}
    />
  );
};
