/** What is not saved, always in sight; the difference that it makes; and the saving. */
import { Button, confirmed, DiffView, FormDialog, notify, useState } from '@svc/kit';
import { Conflict } from './conflict.js';
import { type Draft, drafts, drop, dropAll, readDraft, refuse } from './drafts.js';
import { save, type Saved } from './saving.js';
import { isSame } from '@svc/kit/collection';
import { type Document, schemaAt, type Setting } from './schema.js';
import { fragments, inFile, tablesInFile } from './toml.js';
import { t } from './words.js';

interface SaveBarProps {
  readonly root: Document;
  readonly settings: readonly Setting[];
  /** What in the file does not hold after that. */
  readonly onSaved: (problems: readonly string[]) => void;
  readonly onChange: () => void;
}

export const SaveBar = ({ root, settings, onSaved, onChange }: SaveBarProps) => {
  const [isReviewing, setReviewing] = useState(false);
  const all = [...drafts.value.values()];
  const wrong = all.filter((draft) => 'wrong' in readDraft(schemaAt(root, draft.path), draft)).length;
  if (all.length === 0) return null;
  const discard = async (): Promise<void> => {
    if (await confirmed({ title: t('discard_title'), text: t('discard_text'), action: t('discard'), isDangerous: true })) dropAll();
  };
  return (
    <div class="config-bar" role="status">
      <p class="grow">
        <strong>{t('unsaved', { count: all.length })}</strong>
        {wrong > 0 && <span class="wrong-text"> · {t('wrong', { count: wrong })}</span>}
      </p>
      <Button onPress={discard}>{t('discard')}</Button>
      <Button kind="primary" icon="file-diff" disabled={wrong > 0} onPress={() => setReviewing(true)}>
        {t('review')}
      </Button>
      {isReviewing && <Review all={all} root={root} settings={settings} onClose={() => setReviewing(false)} onSaved={onSaved} onChange={onChange} />}
    </div>
  );
};

const Review = ({ all, root, settings, onClose, onSaved, onChange }: SaveBarProps & { all: readonly Draft[]; onClose: () => void }) => {
  const now = new Map(settings.map((one) => [one.path, one]));
  const taken = all.filter(({ path, base }) => !isSame(now.get(path)?.value, base));
  const wanted = all.flatMap((draft) => {
    const read = readDraft(schemaAt(root, draft.path), draft);
    return 'wrong' in read ? [] : [{ path: draft.path, base: draft.base, value: read.value }];
  });
  const known = tablesInFile(settings);
  const { before, after } = fragments(
    wanted.map(({ path, value }) => ({ path, before: inFile(now.get(path)), after: value })),
    known,
  );
  const submit = async (): Promise<void> => {
    const saved = await save(wanted);
    drop(...saved.done.map(({ path }) => path));
    for (const { path, why } of saved.refused) refuse(path, why);
    onSaved([...new Set(saved.done.flatMap(({ warnings }) => warnings))]);
    onChange();
    say(saved);
    if (saved.conflicts.length === 0) onClose();
  };
  return (
    <FormDialog wide title={taken.length > 0 ? t('conflict_title') : t('review_title')} action={t('save')} canSubmit={taken.length === 0} onSubmit={submit} onClose={onClose}>
      {taken.length > 0 ? (
        <>
          <p>{t('conflict_text')}</p>
          {taken.map((draft) => (
            <Conflict key={draft.path} draft={draft} schema={schemaAt(root, draft.path)} theirs={now.get(draft.path)} tables={known} />
          ))}
        </>
      ) : (
        <>
          <p class="muted">{t('review_note')}</p>
          <DiffView label={t('difference')} before={before} after={after} />
        </>
      )}
    </FormDialog>
  );
};

const say = ({ done, refused }: Saved): void => {
  const held = done.filter(({ status }) => status === 'applied');
  if (held.length > 0) notify(t('saved', { count: held.length }));
  for (const { path, waits_for } of done) if (waits_for) notify(t('saved_waits', { paths: path, what: waits_for }));
  for (const { reload_error } of done) if (reload_error) notify(t('saved_failed', { why: reload_error }));
  if (refused.length > 0) notify(t('some_refused'));
};
