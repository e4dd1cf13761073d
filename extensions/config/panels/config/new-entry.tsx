/** Entries of a table with free names that are not in the file yet, and a line to add one. */
import { Button, IconButton, needs, TextField, useState } from '@svc/kit';
import { drafts, drop, readDraft, type } from './drafts.js';
import type { Schema } from '@svc/kit/collection';
import { isTable, schemaAt, type Setting } from './schema.js';
import { t } from './words.js';

export const NewEntry = ({ root, table, rows, isWritable }: { root: Schema; table: string; rows: readonly Setting[]; isWritable: boolean }) => {
  const [name, setName] = useState('');
  const [value, setValue] = useState('');
  const isOpen = isWritable && !needs('config.admin').disabled;
  const known = new Set(rows.filter(({ path }) => !isTable(schemaAt(root, path))).map(({ path }) => path));
  const fresh = [...drafts.value.values()].filter(({ path }) => path.startsWith(`${table}.`) && !known.has(path));
  const path = `${table}.${name.trim()}`;
  const isTaken = known.has(path) || drafts.value.has(path);
  const add = (event: Event): void => {
    event.preventDefault();
    if (name.trim() === '' || isTaken) return;
    type(schemaAt(root, path), path, value, undefined);
    setName('');
    setValue('');
  };
  return (
    <>
      {known.size === 0 && fresh.length === 0 && <p class="muted">{t('no_entries')}</p>}
      {fresh.map((draft) => {
        const schema = schemaAt(root, draft.path);
        const read = readDraft(schema, draft);
        return (
          <div key={draft.path} class="config-row changed" data-path={draft.path}>
            <TextField
              label={draft.path.slice(table.length + 1)}
              value={String(draft.typed ?? '')}
              error={draft.refusal ?? ('wrong' in read ? read.wrong : undefined)}
              onValue={(text) => type(schema, draft.path, text, undefined)}
            />
            <div>
              <IconButton small icon="x" label={`${t('remove')}: ${draft.path}`} onPress={() => drop(draft.path)} />
            </div>
          </div>
        );
      })}
      {isOpen && (
        <form class="config-new" onSubmit={add}>
          <TextField label={t('entry_name')} value={name} onValue={setName} error={isTaken ? t('name_taken') : undefined} maxLength={64} />
          <TextField label={t('entry_value')} value={value} onValue={setValue} />
          <Button type="submit" icon="plus" disabled={name.trim() === '' || isTaken}>
            {t('add')}
          </Button>
        </form>
      )}
    </>
  );
};
