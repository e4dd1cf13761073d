import { Button, daemon, Dialog, Failure, go, SvcError, TextField, useState } from '@svc/kit';
import { t } from './words.js';

export const NewFile = ({ agentId, folder, onClose, onMade }: { agentId: string; folder: readonly string[]; onClose: () => void; onMade: () => void }) => {
  const [name, setName] = useState('');
  const [error, setError] = useState<unknown>();
  const isTaken = error instanceof SvcError && error.code === 'files_changed';
  const make = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (name.trim() === '') return;
    try {
      const made = await daemon.call('putAgentFile', { id: agentId, filename: [...folder, name.trim()].join('/'), body: { content: '', expected: null } });
      onClose();
      onMade();
      go('files', [agentId, ...made.name.split('/')]);
    } catch (refusal) {
      setError(refusal);
    }
  };
  return (
    <Dialog title={t('new_file')} onClose={onClose}>
      <form class="stack" onSubmit={make}>
        <TextField
          label={t('name')}
          hint={t('new_hint')}
          error={isTaken ? t('taken') : undefined}
          value={name}
          autofocus
          onValue={(text) => {
            setName(text);
            setError(undefined);
          }}
        />
        {error !== undefined && !isTaken && <Failure title="" error={error} />}
        <div class="row">
          <Button kind="primary" type="submit" icon="file-plus" disabled={name.trim() === ''}>
            {t('make')}
          </Button>
        </div>
      </form>
    </Dialog>
  );
};
