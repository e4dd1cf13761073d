/** Files that were said with a message: pictures as pictures, others by name and size. */
import { bytes, Icon } from '@svc/kit';
import type { Attached } from './live-run.js';
import type { Turn } from './turns.js';
import { t } from './words.js';

const uploadHref = (fileId: string): string => `/api/uploads/${encodeURIComponent(fileId)}`;

type Picture = NonNullable<Turn['question']>['images'][number];

/** Only kinds that a browser draws and never runs. */
const DRAWN = /^image\/(png|jpeg|gif|webp)$/;

const PictureShown = ({ picture }: { picture: Picture }) => {
  const href =
    picture.file_id === undefined ? (DRAWN.test(picture.media_type) && picture.data !== undefined ? `data:${picture.media_type};base64,${picture.data}` : undefined) : uploadHref(picture.file_id);
  if (href === undefined) return null;
  return (
    <a href={href} target="_blank" rel="noopener" class="attached-picture">
      <img src={href} alt={t('picture', { name: picture.filename ?? '' })} loading="lazy" />
    </a>
  );
};

export const Attachments = ({ images, files }: { images: readonly Picture[]; files: readonly Attached[] }) =>
  images.length + files.length === 0 ? null : (
    <div class="attached">
      {images.map((picture, index) => (
        <PictureShown key={index} picture={picture} />
      ))}
      {files.map((file) => (
        <a key={file.file_id} class="attached-file" href={uploadHref(file.file_id)} download={file.filename}>
          <Icon name="file" size={16} />
          <bdi class="cut">{file.filename}</bdi>
          <span class="muted small-text">{bytes(file.size)}</span>
        </a>
      ))}
    </div>
  );
