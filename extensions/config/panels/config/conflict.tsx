/** Somebody else changed what is being changed here: theirs beside ours, and the choice. */
import { Button, DiffView, Icon } from '@svc/kit';
import { type Draft, drop, readDraft, rebase } from './drafts.js';
import type { Schema } from '@svc/kit/collection';
import type { Setting } from './schema.js';
import { fragments, inFile } from './toml.js';
import { t } from './words.js';

export const Conflict = ({ draft, schema, theirs, tables }: { draft: Draft; schema: Schema; theirs: Setting | undefined; tables: ReadonlySet<string> }) => {
  const read = readDraft(schema, draft);
  const { before, after } = fragments([{ path: draft.path, before: inFile(theirs), after: 'wrong' in read ? String(draft.typed) : read.value }], tables);
  return (
    <div class="config-conflict" role="alert">
      <p class="row">
        <Icon name="triangle-alert" size={16} />
        <strong>{t('conflict')}</strong>
      </p>
      <p class="small-text">{t('conflict_legend')}</p>
      <DiffView label={`${t('conflict_difference')}: ${draft.path}`} before={before} after={after} />
      <div class="row wrap">
        <Button small onPress={() => drop(draft.path)}>
          {t('take_theirs')}
        </Button>
        <Button small onPress={() => rebase(draft.path, theirs?.value)}>
          {t('keep_mine')}
        </Button>
      </div>
    </div>
  );
};
