/** Images of a request: data URLs only. What they are is read from their bytes: many programs label them wrongly. */
import type { Part } from '@svc/ext-sessions/contract';
import { compatErrors } from '../errors.js';

const IMAGE_URL = /^data:[^,]{0,200};base64,([A-Za-z0-9+/]+={0,2})$/i;
const MAX_IMAGE_BYTES = 10 * 1_048_576;
/** Letters of base64 that hold the twelve bytes by which the four kinds are told apart. */
const HEAD_LETTERS = 16;

export function toImage(url: unknown): Part {
  if (typeof url !== 'string') throw compatErrors.invalid_image('image_url.url is missing');
  if (url.length > (MAX_IMAGE_BYTES * 4) / 3 + 64) throw compatErrors.invalid_image('it is larger than 10 MB');
  const [, data] = IMAGE_URL.exec(url) ?? [];
  if (data === undefined || data.length % 4 !== 0) {
    throw compatErrors.invalid_image(/^data:/i.test(url) ? 'its base64 is not valid' : 'only data URLs are taken, nothing is fetched');
  }
  const mediaType = kindOf(Buffer.from(data.slice(0, HEAD_LETTERS), 'base64'));
  // Providers refuse it with words that name nothing, after the run has begun.
  if (mediaType === undefined) throw compatErrors.invalid_image('its bytes are not a PNG, JPEG, GIF or WebP');
  return { type: 'image', mediaType, data };
}

const kindOf = (head: Buffer): string | undefined => {
  const letters = head.toString('latin1');
  if (letters.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (letters.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (/^GIF8[79]a/.test(letters)) return 'image/gif';
  return letters.startsWith('RIFF') && letters.slice(8) === 'WEBP' ? 'image/webp' : undefined;
};
