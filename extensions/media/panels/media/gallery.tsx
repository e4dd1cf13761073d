/** Images, sound and video among the uploads: played and shown in place. */
import { ago, bytes, confirmed, daemon, Empty, IconButton, may, type OutputOf } from '@svc/kit';
import { t } from './words.js';

type Upload = OutputOf<'listUploads'>['rows'][number];

const KIND = /^(image|audio|video)\//;

export const Gallery = ({ files, onChange }: { files: readonly Upload[]; onChange: () => void }) => {
  const shown = files.filter(({ content_type: type }) => KIND.test(type));
  if (shown.length === 0)
    return (
      <Empty icon="image" title={t('none')}>
        <p>{t('none_text')}</p>
      </Empty>
    );
  return (
    <div class="media-grid">
      {shown.map((file) => (
        <Item key={file.file_id} file={file} onChange={onChange} />
      ))}
    </div>
  );
};

const Item = ({ file, onChange }: { file: Upload; onChange: () => void }) => {
  const { file_id: id, filename, content_type: type, size, created_at: at } = file;
  const href = `/api/uploads/${encodeURIComponent(id)}`;
  const remove = async (): Promise<void> => {
    if (!(await confirmed({ title: t('remove'), text: t('sure', { name: filename }), action: t('remove'), isDangerous: true }))) return;
    await daemon.call('deleteUpload', { file_id: id });
    onChange();
  };
  return (
    <figure class="media-item">
      <Played href={href} type={type} name={filename} />
      <figcaption>
        <a href={href} download={filename}>
          <bdi>{filename}</bdi>
        </a>
        <div class="muted small-text">
          {bytes(size)}, {ago(at)} {may('files.write') && <IconButton icon="trash-2" label={`${t('remove')}: ${filename}`} onPress={remove} />}
        </div>
      </figcaption>
    </figure>
  );
};

const Played = ({ href, type, name }: { href: string; type: string; name: string }) => {
  if (type.startsWith('image/')) return <img src={href} alt={name} loading="lazy" />;
  // What a model made has no captions.
  if (type.startsWith('audio/')) return <audio src={href} controls preload="none" aria-label={name} />;
  return <video src={href} controls preload="metadata" aria-label={name} />;
};
