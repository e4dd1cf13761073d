/** The way back from a call that changed files: its checkpoint. Loaded with the first call that is unfolded. */
import { Button, confirmed, daemon, may, notify, type OutputOf, useLoaded } from '@svc/kit';
import { t } from './undo-words.js';

type Checkpoint = OutputOf<'listCheckpoints'>['items'][number];

const MAX_CHECKPOINTS = 500;
const MAX_NAMED = 10;

const isOf = ({ message }: Checkpoint, callId: string): boolean => message.split('\n').includes(`call: ${callId}`);

const named = (paths: readonly string[]): string => [...paths.slice(0, MAX_NAMED), ...(paths.length > MAX_NAMED ? ['…'] : [])].join(', ');

export const UndoCall = ({ callId, agentId }: { callId: string; agentId: string }) => {
  const { data } = useLoaded(`checkpoints of ${agentId}`, (signal) => daemon.call('listCheckpoints', { agent_id: agentId, limit: MAX_CHECKPOINTS }, { signal }), ['checkpoints']);
  const of = data?.items.find((one) => isOf(one, callId));
  if (!data || !of || !may('checkpoints.write')) return null;
  const undo = async (): Promise<void> => {
    const { files, created_later: stays } = await daemon.call('previewCheckpoint', { commit: of.commit, agent_id: agentId });
    const changed = files.filter(({ state }) => state !== 'same').map(({ path }) => path);
    const text = [changed.length === 0 ? t('nothing') : t('text', { files: named(changed) }), ...(stays.length === 0 ? [] : [t('stays', { files: named(stays) })])].join(' ');
    if (!(await confirmed({ title: t('title'), text, action: t('undo') }))) return;
    const { files_restored: count, skipped } = await daemon.call('restoreCheckpoint', { body: { working_dir: data.working_dir, commit: of.commit } });
    notify(skipped.length === 0 ? t('done', { count }) : t('partly', { count, files: named(skipped.map(({ path }) => path)) }));
  };
  return (
    <div>
      <Button small icon="rotate-ccw" onPress={undo}>
        {t('undo')}
      </Button>
    </div>
  );
};
