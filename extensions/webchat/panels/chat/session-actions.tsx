/** What is done with a conversation, or with several: named, put away, taken along, deleted. */
import { Button, confirmed, daemon, Dialog, failed, go, type MenuItem, notify, TextField, useCode, useState } from '@svc/kit';
import { type Named, opened } from './conversation.js';
import { t } from './words.js';

const Renaming = ({ of, onClose }: { of: Named; onClose: () => void }) => {
  const [label, setLabel] = useState(of.name);
  const save = async (): Promise<void> => {
    await daemon.call('updateSessionLabel', { id: of.id, body: { label: label.trim() === '' ? null : label.trim(), all_versions: true } });
    onClose();
  };
  return (
    <Dialog
      title={t('rename')}
      onClose={onClose}
      actions={
        <Button kind="primary" onPress={save}>
          {t('save')}
        </Button>
      }
    >
      <TextField
        label={t('name')}
        value={label}
        onValue={setLabel}
        maxLength={100}
        autofocus
        onKeyDown={(event) => {
          if (event.key === 'Enter' && !event.isComposing) save().catch(failed);
        }}
      />
    </Dialog>
  );
};

const isOpen = ({ id }: Named): boolean => opened.peek()?.sessionId === id;

/** Who is asked has said yes. Whoever looks at one of them goes to a new conversation. */
export const removeAll = async (all: readonly Named[]): Promise<boolean> => {
  const [first] = all;
  if (!first) return false;
  const question =
    all.length === 1
      ? { title: t('delete_title'), text: t('delete_text', { name: first.name }) }
      : { title: t('delete_many_title', { count: all.length }), text: t('delete_many_text', { count: all.length }) };
  if (!(await confirmed({ ...question, action: t('delete'), isDangerous: true }))) return false;
  for (const one of all) await daemon.call('deleteSession', { id: one.id, all_versions: true });
  notify(all.length === 1 ? t('deleted') : t('deleted_many', { count: all.length }));
  const open = all.find(isOpen);
  if (open) go('chat', [open.agentId, 'new'], { replace: true });
  return true;
};

export const archiveAll = async (all: readonly Named[], archived: boolean): Promise<void> => {
  for (const { id } of all) await daemon.call('archiveSession', { id, body: { archived } });
  notify(archived ? t('archived_many', { count: all.length }) : t('unarchived'));
};

const exported = async (named: Named, format: 'markdown' | 'json'): Promise<void> => {
  const { exportConversation } = await import('./export.js');
  await exportConversation(named, format);
};

export type DialogKind = 'rename' | 'tags' | 'share';
export type OpenDialog = (kind: DialogKind) => void;

/** What it opens is loaded when somebody wants it. */
export const ActionDialog = ({ kind, of, onClose }: { kind: DialogKind; of: Named; onClose: () => void }) => {
  if (kind === 'rename') return <Renaming of={of} onClose={onClose} />;
  return kind === 'share' ? <SharingLater of={of} onClose={onClose} /> : <TaggingLater of={[of]} onClose={onClose} />;
};

export const SharingLater = ({ of, onClose }: { of: Named | undefined; onClose: () => void }) => {
  const code = useDialog(() => import('./sharing.js'), onClose);
  return code ? <code.Sharing of={of} onClose={onClose} /> : null;
};

export const TaggingLater = ({ of, onClose }: { of: readonly Named[]; onClose: () => void }) => {
  const code = useDialog(() => import('./tagging.js'), onClose);
  return code ? <code.Tagging of={of} onClose={onClose} /> : null;
};

const useDialog = <T,>(load: () => Promise<T>, onClose: () => void): T | undefined =>
  useCode(load, (error) => {
    failed(error);
    onClose();
  }).code;

export const actionsOn = (named: Named, mayWrite: boolean, onDialog: OpenDialog): MenuItem[] => [
  { id: 'rename', label: t('rename'), icon: 'pencil', disabled: !mayWrite, onChoose: () => onDialog('rename') },
  { id: 'tags', label: t('tags'), icon: 'tag', disabled: !mayWrite, onChoose: () => onDialog('tags') },
  { id: 'share', label: t('share_menu'), icon: 'link', disabled: !mayWrite, onChoose: () => onDialog('share') },
  { id: 'markdown', label: t('export_markdown'), icon: 'download', onChoose: () => exported(named, 'markdown') },
  { id: 'json', label: t('export_json'), icon: 'download', onChoose: () => exported(named, 'json') },
  { id: 'archive', label: t(named.isArchived ? 'unarchive' : 'archive'), icon: 'box', disabled: !mayWrite, onChoose: () => archiveAll([named], !named.isArchived) },
  { id: 'delete', label: t('delete'), icon: 'trash-2', isDangerous: true, disabled: !mayWrite, onChoose: () => removeAll([named]) },
];
