/** Texts in the encodings that programs write: UTF-8, and UTF-16 where a byte order mark says so. */

export type TextEncodingName = 'utf-8' | 'utf-16le' | 'utf-16be';

/** By its first two bytes; what has no mark of UTF-16 is read as UTF-8. */
export const encodingOf = ([first, second]: Uint8Array): TextEncodingName => {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
};

/** All of a text; undefined where the bytes are none. A mark of UTF-8 stays in it, one of UTF-16 does not. */
export const decodeText = (bytes: Uint8Array): { readonly text: string; readonly encoding: TextEncodingName } | undefined => {
  const encoding = encodingOf(bytes);
  try {
    const text = new TextDecoder(encoding, { fatal: true, ignoreBOM: encoding === 'utf-8' }).decode(bytes);
    return { text, encoding };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return undefined;
  }
};

/** The bytes of a text, with a mark in UTF-16. */
export const encodeText = (text: string, encoding: TextEncodingName): Uint8Array => {
  if (encoding === 'utf-8') return new TextEncoder().encode(text);
  const marked = `\uFEFF${text}`;
  const view = new DataView(new ArrayBuffer(2 * marked.length));
  for (let at = 0; at < marked.length; at++) view.setUint16(2 * at, marked.charCodeAt(at), encoding === 'utf-16le');
  return new Uint8Array(view.buffer);
};
