/** One agent as a form. What is sent is what was touched, and nothing else. */
import { ChangedElsewhere, daemon, may, notify, Review, SvcError, useDraft, useState } from '@svc/kit';
import type { AgentDetail } from './agent-badge.js';
import { changedKeys, faultsOf, fieldsOf, textOfFields } from './agent-fields.js';
import { e } from './edit-words.js';
import { SaveRow } from './save-row.js';
import { FormFields } from './form-fields.js';

export const SettingsView = ({ agent, reload }: { agent: AgentDetail; reload: () => void }) => {
  const draft = useDraft(`agent settings ${agent.id}`, { value: fieldsOf(agent), version: agent.revision });
  const [isReviewed, setReviewed] = useState(false);
  const faults = faultsOf(draft.value);
  const mayWrite = may('agents.write');
  const save = async (): Promise<void> => {
    try {
      const { revision, warnings = [] } = await daemon.call('updateAgent', { id: agent.id, body: { ...changedKeys(draft.base, draft.value), revision: Number(draft.version) } });
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
  const canSave = draft.isDirty && draft.theirs === undefined && Object.keys(faults).length === 0;
  return (
    <div class="agent-form">
      <ChangedElsewhere draft={draft} textOf={textOfFields} />
      <FormFields fields={draft.value} faults={faults} disabled={!mayWrite} isPinned={agent.mode === 'Stable'} onChange={(change) => draft.change({ ...draft.value, ...change })} />
      <SaveRow draft={draft} canSave={canSave} permission="agents.write" onReview={() => setReviewed(true)} />
      {isReviewed && (
        <Review title={e('review_title', { name: agent.name })} before={textOfFields(draft.base)} after={textOfFields(draft.value)} action={e('save')} onSave={save} onClose={() => setReviewed(false)}>
          <p class="muted">{e('review_note')}</p>
        </Review>
      )}
    </div>
  );
};
