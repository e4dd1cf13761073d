/**
 * How bytes that came from people and models are answered.
 *
 * V1  A browser never runs them as a page of this service: the type is the stored one and no other (nosniff), only pictures,
 *     sound and video are shown in place, and whatever is opened all the same stands in a sandbox.
 * V2  No address of this origin serves them as a script or a style: a page takes these whatever the headers of V1 say. They are plain text.
 */
import type { Headers } from '@svc/api';

/** A browser draws or plays these, and runs nothing. */
const SHOWN_IN_PLACE = /^(?:image\/(?:png|jpeg|gif|webp)|audio\/[\w.+-]+|video\/(?:mp4|webm))$/;

export const headersOfBytes = (contentType: string, name: string): Headers => ({
  'content-disposition': `${SHOWN_IN_PLACE.test(contentType) ? 'inline' : 'attachment'}; filename="${asciiOf(name)}"; filename*=UTF-8''${encoded(name)}`,
  'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
});

/** RFC 6266: for clients that read no other form. */
const asciiOf = (name: string): string => name.replaceAll(/[^\x20-\x7e]|["\\%]/g, '_');
/** RFC 8187. Half a letter, which cannot be encoded, becomes a replacement character. */
const encoded = (name: string): string => encodeURIComponent(Buffer.from(name).toString('utf8')).replaceAll(/['()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`);

/** V2, by any of their names. */
const RUNS = /script|css|x-component|cache-manifest/;

/** Text is stored in UTF-8, or in UTF-16 with a byte order mark, which browsers believe before this. */
export const typeHeader = (contentType: string): string => {
  const type = RUNS.test(contentType) ? 'text/plain' : contentType;
  return type.startsWith('text/') ? `${type}; charset=utf-8` : type;
};
