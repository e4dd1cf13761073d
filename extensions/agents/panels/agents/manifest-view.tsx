/** One agent as the text of its manifest. */
import { ChangedElsewhere, daemon, may, notify, Review, SvcError, useDraft, useState } from '@svc/kit';
import type { AgentDetail } from './agent-badge.js';
import { e } from './edit-words.js';
import { SaveRow } from './save-row.js';
import { ManifestEditor, useCheck } from './manifest-editor.js';

const sameText = (text: string): string => text;

export const ManifestView = ({ agent, reload }: { agent: AgentDetail; reload: () => void }) => {
  const draft = useDraft(`agent text ${agent.id}`, { value: agent.manifest_toml, version: agent.revision });
  const check = useCheck(draft.value, agent.id, draft.isDirty);
  const [isReviewed, setReviewed] = useState(false);
  const mayWrite = may('agents.write');
  const save = async (): Promise<void> => {
    try {
      const { revision, warnings = [] } = await daemon.call('patchAgent', { id: agent.id, body: { manifest_toml: draft.value, revision: Number(draft.version) } });
      setReviewed(false);
      draft.saved(revision);
      notify(warnings.length > 0 ? e('warnings', { text: warnings.join(' ') }) : e('saved', { name: agent.name }));
      reload();
    } catch (error) {
      if (!(error instanceof SvcError) || error.code !== 'agents_changed_meanwhile') throw error;
      setReviewed(false);
      reload();
    }
  };
  const canSave = draft.isDirty && draft.theirs === undefined && check.answer?.ok === true;
  return (
    <div class="agent-form of-text">
      <ChangedElsewhere draft={draft} textOf={sameText} />
      <ManifestEditor value={draft.value} onValue={draft.change} hint={e('text_hint')} check={check} isWanted={draft.isDirty} disabled={!mayWrite} />
      <SaveRow draft={draft} canSave={canSave} permission="agents.write" onReview={() => setReviewed(true)} />
      {isReviewed && (
        <Review title={e('review_title', { name: agent.name })} before={draft.base} after={draft.value} action={e('save')} onSave={save} onClose={() => setReviewed(false)}>
          <p class="muted">{e('review_note')}</p>
        </Review>
      )}
    </div>
  );
};
