import { Button, CheckField, daemon, Dialog, Failure, go, notify, TextField, useState } from '@svc/kit';
import type { AgentDetail } from './agent-badge.js';
import { e } from './edit-words.js';

export const CloneDialog = ({ agent, onClose }: { agent: AgentDetail; onClose: () => void }) => {
  const [name, setName] = useState('');
  const [hasTools, setTools] = useState(true);
  const [error, setError] = useState<unknown>();
  const clone = async (): Promise<void> => {
    try {
      const made = await daemon.call('cloneAgent', { id: agent.id, body: { include_tools: hasTools, ...(name.trim() === '' ? {} : { new_name: name.trim() }) } });
      onClose();
      notify([e('cloned', { name: agent.name }), ...(made.warnings ?? [])].join(' '));
      go('agents', [made.agent_id]);
    } catch (refusal) {
      setError(refusal);
    }
  };
  return (
    <Dialog
      title={e('clone_title', { name: agent.name })}
      onClose={onClose}
      actions={
        <Button kind="primary" icon="copy" onPress={clone}>
          {e('clone_make')}
        </Button>
      }
    >
      <p>{e('clone_text')}</p>
      <TextField label={e('clone_name')} hint={e('clone_name_hint', { name: agent.name })} value={name} maxLength={256} autofocus onValue={setName} />
      <CheckField label={e('clone_tools')} value={hasTools} onValue={setTools} />
      {error !== undefined && <Failure title="" error={error} />}
    </Dialog>
  );
};
