/** One file: its text to edit, its picture, or why it cannot be shown. */
import { addressOf, ago, bytes, Button, confirmed, daemon, Empty, failed, go, LinkButton, may, notify, Shown, SvcError, useEffect, useLoaded, useState, whyNot } from '@svc/kit';
import { FileEditor } from './file-editor.js';
import { bytesHref, kindOf, MAX_SHOWN_BYTES, type WorkspaceFile } from './tree.js';
import { t } from './words.js';

interface FileProps {
  readonly agentId: string;
  readonly path: readonly string[];
  /** Where to go when it is gone. */
  readonly folder: readonly string[];
  /** As the list has it; a long list has not all. */
  readonly listed: WorkspaceFile | undefined;
  readonly onChanged: () => void;
}

const remove = async ({ agentId, path, folder, listed, onChanged }: FileProps): Promise<void> => {
  const name = path.join('/');
  if (!(await confirmed({ title: t('remove_title', { name }), text: t('remove_text'), action: t('remove_do', { name: path.at(-1) ?? name }), isDangerous: true }))) return;
  try {
    await daemon.call('deleteAgentFile', { id: agentId, filename: name }, listed ? { headers: { 'if-match': `"${listed.rev}"` } } : {});
    notify(t('removed', { name }));
    go('files', [agentId, ...folder], { replace: true });
  } catch (error) {
    failed(error);
  }
  onChanged();
};

const Actions = (props: FileProps) => (
  <div class="row wrap">
    <LinkButton icon="download" href={bytesHref(props.agentId, props.path)} download={props.path.at(-1)}>
      {t('download')}
    </LinkButton>
    <Button kind="danger" icon="trash-2" disabled={!may('files.write')} title={whyNot('files.write')} onPress={() => remove(props)}>
      {t('remove')}
    </Button>
    {props.listed && <span class="muted small-text">{t('hint_size', { size: bytes(props.listed.size_bytes), ago: ago(props.listed.modified_at) })}</span>}
  </div>
);

const CannotShow = ({ why }: { why: string }) => (
  <Empty icon="file" title={t('cannot_title')}>
    <p>{why}</p>
    <p>{t('download_it')}</p>
  </Empty>
);

const Picture = ({ agentId, path, listed }: FileProps) => {
  // Which one failed, not whether: an effect that takes back a flag may run after the image that it should leave alone has failed.
  const shown = JSON.stringify([path, listed?.rev]);
  const [broken, setBroken] = useState<string>();
  const name = path.at(-1) ?? '';
  if (broken === shown) return <CannotShow why={t('picture_failed')} />;
  return <img key={shown} class="picture" src={bytesHref(agentId, path)} alt={t('picture', { name })} onError={() => setBroken(shown)} />;
};

const Text = (props: FileProps) => {
  const { agentId, path, folder, listed, onChanged } = props;
  const filename = path.join('/');
  const file = useLoaded(`file ${agentId} ${filename}`, (signal) => daemon.call('getAgentFile', { id: agentId, filename }, { signal }), ['files']);
  // The list knows of changes that nobody told.
  useEffect(() => {
    if (file.data && file.data.rev !== listed?.rev) file.reload();
  }, [listed?.rev]);
  const isMissing = file.error instanceof SvcError && file.error.code === 'files_not_found';
  if (isMissing && !file.data)
    return (
      <Empty icon="file" title={t('missing_title')}>
        <p>{t('missing_text')}</p>
        <LinkButton href={addressOf('files', [agentId, ...folder])}>{t('to_folder')}</LinkButton>
      </Empty>
    );
  const reload = (): void => {
    file.reload();
    onChanged();
  };
  return (
    <>
      {file.data && !isMissing && <Actions {...props} />}
      <Shown of={isMissing ? { ...file, error: undefined } : file}>
        {(data) =>
          data.encoding !== 'base64' ? (
            <FileEditor key={filename} agentId={agentId} file={data} isGone={isMissing} isIdentity={listed?.kind === 'identity'} reload={reload} />
          ) : (
            <CannotShow why={t('cannot_bytes', { size: bytes(data.size_bytes) })} />
          )
        }
      </Shown>
    </>
  );
};

export const FileView = (props: FileProps) => {
  const { path, listed } = props;
  const kind = kindOf(path.at(-1) ?? '');
  if (kind === 'text' && (listed?.size_bytes ?? 0) <= MAX_SHOWN_BYTES) return <Text {...props} />;
  // Of these the list alone knows whether they are there.
  if (!listed) return <Text {...props} />;
  return (
    <>
      <Actions {...props} />
      {kind === 'picture' && <Picture {...props} />}
      {kind === 'sound' && <CannotShow why={t('cannot_sound')} />}
      {kind === 'pdf' && <CannotShow why={t('cannot_pdf')} />}
      {kind === 'text' && <CannotShow why={t('cannot_large', { size: bytes(listed.size_bytes), limit: bytes(MAX_SHOWN_BYTES) })} />}
    </>
  );
};
