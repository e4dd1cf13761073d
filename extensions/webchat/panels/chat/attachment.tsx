/** Files that are said with a message: pictures as pictures that open larger, others by name and size. */
import { bytes, Dialog, Icon, LinkButton, useState } from '@svc/kit';
import type { Attached } from './live-run.js';
import type { Turn } from './turns.js';
import { t } from './words.js';

const uploadHref = (fileId: string): string => `/api/uploads/${encodeURIComponent(fileId)}`;

type Sent = NonNullable<Turn['question']>['images'][number];

/** Only kinds that a browser draws and never runs. */
const DRAWN = /^image\/(png|jpeg|gif|webp)$/;

export const isPicture = ({ content_type }: Pick<Attached, 'content_type'>): boolean => DRAWN.test(content_type);

const Larger = ({ href, name, onClose }: { href: string; name: string; onClose: () => void }) => (
  <Dialog
    wide
    title={name === '' ? t('picture_untitled') : name}
    onClose={onClose}
    actions={
      <>
        <LinkButton href={href} icon="download" download={name || undefined}>
          {t('download')}
        </LinkButton>
        {!href.startsWith('data:') && (
          <LinkButton href={href} icon="external-link" target="_blank">
            {t('open_tab')}
          </LinkButton>
        )}
      </>
    }
  >
    <img class="larger-picture" src={href} alt={t('picture', { name })} />
  </Dialog>
);

/** `onBroken`: the browser cannot draw it. */
const Thumbnail = ({ href, name, onBroken }: { href: string; name: string; onBroken: () => void }) => {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" class="thumbnail" title={t('enlarge')} onClick={() => setOpen(true)}>
        <img src={href} alt={t('picture', { name })} loading="lazy" onError={onBroken} />
      </button>
      {isOpen && <Larger href={href} name={name} onClose={() => setOpen(false)} />}
    </>
  );
};

const FileLink = ({ href, name, size }: { href: string; name: string; size?: number }) => (
  <a class="attached-file" href={href} download={name}>
    <Icon name="file" size={16} />
    <bdi class="cut">{name}</bdi>
    {size !== undefined && <span class="muted small-text">{bytes(size)}</span>}
  </a>
);

const PictureShown = ({ href, name }: { href: string; name: string }) => {
  const [isBroken, setBroken] = useState(false);
  return isBroken ? <FileLink href={href} name={name} /> : <Thumbnail href={href} name={name} onBroken={() => setBroken(true)} />;
};

/** A file of a message that is being written: a thumbnail or an icon, before its name. */
export const AttachedSign = ({ file }: { file: Attached }) => {
  const [isBroken, setBroken] = useState(false);
  return isPicture(file) && !isBroken ? <Thumbnail href={uploadHref(file.file_id)} name={file.filename} onBroken={() => setBroken(true)} /> : <Icon name="file" size={16} />;
};

const hrefOf = ({ file_id, media_type, data }: Sent): string | undefined => {
  if (file_id !== undefined) return uploadHref(file_id);
  return DRAWN.test(media_type) && data !== undefined ? `data:${media_type};base64,${data}` : undefined;
};

export const Attachments = ({ images, files }: { images: readonly Sent[]; files: readonly Attached[] }) => {
  const pictures = [
    ...images.flatMap((picture) => {
      const href = hrefOf(picture);
      return href === undefined ? [] : [{ href, name: picture.filename ?? '' }];
    }),
    // A message that was just sent has its pictures among its files.
    ...files.filter(isPicture).map(({ file_id, filename }) => ({ href: uploadHref(file_id), name: filename })),
  ];
  const rest = files.filter((file) => !isPicture(file));
  if (pictures.length + rest.length === 0) return null;
  return (
    <div class="attached">
      {pictures.map(({ href, name }, index) => (
        <PictureShown key={index} href={href} name={name} />
      ))}
      {rest.map(({ file_id, filename, size }) => (
        <FileLink key={file_id} href={uploadHref(file_id)} name={filename} size={size} />
      ))}
    </div>
  );
};
