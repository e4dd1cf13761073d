/** Under what is edited: to the difference that is saved, or back to what stands. */
import { Button, type Draft, whyNot } from '@svc/kit';
import { e } from './edit-words.js';

export const SaveRow = ({ draft, canSave, permission, onReview }: { draft: Pick<Draft<never>, 'isDirty' | 'drop'>; canSave: boolean; permission: string; onReview: () => void }) => (
  <div class="agent-save">
    <Button kind="primary" icon="file-diff" disabled={!canSave} title={whyNot(permission)} onPress={onReview}>
      {e('review')}
    </Button>
    <Button disabled={!draft.isDirty} onPress={draft.drop}>
      {e('reset')}
    </Button>
    {draft.isDirty && <span class="muted small-text">{e('unsaved')}</span>}
  </div>
);
