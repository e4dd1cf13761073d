/** The tags of a conversation, or words that are added to several. */
import { daemon, FormDialog, TextField, useLoaded, useState } from '@svc/kit';
import type { Named } from './conversation.js';
import { tagsIn, withTag } from './tag-words.js';
import { dialogWords } from './tagging-words.js';
import { t } from './words.js';

const MAX_OFFERED = 12;

export const Tagging = ({ of, onClose }: { of: readonly Named[]; onClose: () => void }) => {
  const [only] = of.length === 1 ? of : [];
  const [typed, setTyped] = useState(only ? only.tags.join(' ') : '');
  const known = useLoaded('tags', (signal) => daemon.call('listSessionTags', {}, { signal }));
  const chosen = tagsIn(typed);
  const save = async (): Promise<void> => {
    for (const { id, tags } of of) await daemon.call('setSessionTags', { id, body: { tags: only ? [...chosen] : [...new Set([...tags, ...chosen])] } });
    onClose();
  };
  const offered = (known.data?.tags ?? []).slice(0, MAX_OFFERED);
  return (
    <FormDialog title={only ? t('tags') : dialogWords('tags_add', { count: of.length })} action={t('save')} onSubmit={save} onClose={onClose} canSubmit={only !== undefined || chosen.length > 0}>
      <TextField label={t('tags')} hint={dialogWords('tags_hint')} value={typed} onValue={setTyped} maxLength={300} autofocus />
      {offered.length > 0 && (
        <div class="row wrap" role="group" aria-label={dialogWords('tags_known')}>
          {offered.map(({ tag }) => (
            <button key={tag} type="button" class="button small" aria-pressed={chosen.includes(tag)} onClick={() => setTyped(withTag(typed, tag))}>
              <bdi>{tag}</bdi>
            </button>
          ))}
        </div>
      )}
    </FormDialog>
  );
};
