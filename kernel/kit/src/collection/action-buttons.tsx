/** Buttons for what is done with an item, or with the list: asked first where the declaration says so, in a form where it takes fields. */
import { Button, confirmed, daemon, type IconName, needs, notify, useRef, useState } from '@svc/kit';
import type { ActionButton, CollectionView, ViewWords } from '@svc/api/collection-view';
import { newKey } from '@svc/client/request';
import { said } from './field-words.js';
import { addressWith, type Item, nameOf, valueAt } from './list-page.js';
import type { Schema } from './schema.js';
import { SchemaFormDialog } from './schema-form.js';
import { t } from './part-words.js';

const WORK_STEP_MS = 1_000;
const NOTHING: Item = {};

/** `{field}` of the answer, else of the item. */
export const filledWords = (words: ViewWords, ...values: readonly Item[]): string =>
  said(words).replaceAll(/\{([^{}]+)\}/g, (whole, name: string) => {
    const found = values.map((one) => valueAt(one, name)).find((value) => value !== undefined && value !== null);
    return found === undefined ? whole : String(found);
  });

const isOffered = ({ when }: ActionButton, item: Item): boolean =>
  Object.entries(when ?? {}).every(([field, values]) => {
    const value = valueAt(item, field) ?? null;
    return values.some((one) => one === value);
  });

export const ActionButtons = ({ view, on, item = NOTHING, reload }: { view: CollectionView; on: ActionButton['on']; item?: Item; reload: () => void }) => (
  <>
    {(view.actions ?? [])
      .filter((action) => action.on === on && isOffered(action, item))
      .map((action) => (
        <OneButton key={action.name} view={view} action={action} item={item} reload={reload} />
      ))}
  </>
);

const OneButton = ({ view, action, item, reload }: { view: CollectionView; action: ActionButton; item: Item; reload: () => void }) => {
  const { body, confirm, icon, isDangerous, label, on, permission } = action;
  const [isAsking, setAsking] = useState(false);
  const key = useRef<string>(undefined);
  const perform = async (given?: Item): Promise<void> => {
    key.current ??= newKey();
    const { data } = await daemon.request(action.method, addressWith(action.path, { [view.idField]: valueAt(item, view.idField) }, item), given, { idempotencyKey: key.current });
    key.current = undefined;
    const answer: Item = typeof data === 'object' && data !== null ? { ...data } : {};
    if (action.work) await workedOff(action, answer, item);
    if (action.done !== undefined) notify(filledWords(action.done, answer, item));
    reload();
  };
  const press = async (): Promise<void> => {
    if (body) return setAsking(true);
    const asked = confirm && {
      title: filledWords(confirm.title, item),
      text: confirm.text === undefined ? '' : filledWords(confirm.text, item),
      action: said(confirm.action ?? label),
      isDangerous: isDangerous === true,
    };
    if (!asked || (await confirmed(asked))) await perform();
  };
  const title = on === 'item' ? `${said(label)}: ${nameOf(view, item)}` : said(label);
  return (
    <>
      <Button
        small={on === 'item'}
        kind={isDangerous ? 'danger' : 'plain'}
        {...(icon === undefined ? {} : { icon: icon as IconName })}
        aria-label={title}
        {...(permission === undefined ? {} : needs(permission))}
        onPress={press}
      >
        {said(label)}
      </Button>
      {isAsking && body && (
        <SchemaFormDialog
          name={`${action.path} ${action.name} ${String(valueAt(item, view.idField) ?? '')}`}
          title={title}
          action={said(label)}
          schema={body as Schema}
          send={perform}
          onClose={() => setAsking(false)}
          {...(view.fields ? { words: view.fields } : {})}
          {...(view.references ? { references: view.references } : {})}
        />
      )}
    </>
  );
};

/** Until the work has ended. Throws where it failed. */
const workedOff = async ({ label, work }: ActionButton, answer: Item, item: Item): Promise<void> => {
  if (!work) return;
  let reported = -1;
  for (;;) {
    const { data } = await daemon.request('GET', addressWith(work.path, answer, item));
    const now: Item = typeof data === 'object' && data !== null ? { ...data } : {};
    const state = String(valueAt(now, work.field));
    if (work.failed?.includes(state)) throw new Error(work.message === undefined ? `${said(label)}: ${state}` : String(valueAt(now, work.message) ?? state));
    if (work.until.includes(state)) return;
    const percent = work.percent === undefined ? undefined : valueAt(now, work.percent);
    if (typeof percent === 'number' && Math.floor(percent / 25) > reported) {
      reported = Math.floor(percent / 25);
      notify(t('working', { name: said(label), percent: Math.round(percent) }));
    }
    await new Promise((resolve) => setTimeout(resolve, WORK_STEP_MS));
  }
};
