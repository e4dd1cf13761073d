/**
 * Texts in the form in which they are compared: what a person would read as the same is the same.
 *
 * N1  Letter case, invisible characters, whitespace, quotes, backslashes, hyphens and brackets make no difference.
 * N2  Percent-encoded, base64 and hexadecimal parts, and texts within JSON, are compared decoded, too.
 */

/** Invisible in a browser and a terminal. Emoji joiners and variation selectors (200D, FE00 to FE0F) only disappear; they are no sign of anything. */
export const INVISIBLE = /\u034f|[\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\u3164\ufeff\uffa0\u{e0000}-\u{e007f}]|[\u17b4\u17b5]|[\ufe00-\ufe0f]/gu;
const IGNORED = /[\s"'`´‘’“”\\[\]<>\-‐‑–]+/g;
/** Decoded are parts that can hold an address. */
const BASE64 = /[A-Za-z0-9+/_-]{16,100000}={0,2}/g;
const HEX = /\b(?:[0-9a-f]{2}[\s:]?){8,50000}\b/gi;
/** As JSON and YAML write texts within texts. */
const ESCAPED = /\\(?:[nrt"/\\]|u[0-9a-f]{4}|\n)/i;
const ESCAPES = /\\(?:u([0-9a-f]{4})|(\n\s*\\?)|([nrt"/\\]))/gi;
const PRINTABLE = /^[\t\n\r\x20-\x7e\u00a0-\u{10ffff}]*$/u;
const MAX_DECODED = 200;

export const readable = (text: string): string => text.normalize('NFKC').replace(INVISIBLE, '');

export const squeezed = (text: string): string => readable(text).toLowerCase().replace(IGNORED, '');

/** Other texts that this one stands for: itself with percent signs resolved, and what its encoded parts decode to. */
export const decodedForms = (text: string): string[] => {
  const forms: string[] = [];
  if (/%[0-9a-f]{2}/i.test(text)) forms.push(percentDecoded(text));
  if (ESCAPED.test(text)) forms.push(unescaped(text));
  for (const [part] of text.matchAll(BASE64)) {
    // A word without a digit, a capital inside or padding is a word.
    if (forms.length < MAX_DECODED && (/[0-9+/_=]/.test(part) || /[a-z][A-Z]/.test(part))) pushText(forms, decodeBase64(part));
  }
  for (const [part] of text.matchAll(HEX)) if (forms.length < MAX_DECODED) pushText(forms, decodeHex(part));
  return forms;
};

const pushText = (forms: string[], bytes: Uint8Array): void => {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    if (text.length >= 5 && PRINTABLE.test(text)) forms.push(text);
  } catch {
    // Not a text: nothing to compare.
  }
};

const unescaped = (text: string): string =>
  text.replace(ESCAPES, (_, code: string | undefined, fold: string | undefined, letter = '') =>
    code !== undefined ? String.fromCharCode(Number.parseInt(code, 16)) : fold !== undefined ? '' : /[nrt]/i.test(letter) ? '\n' : letter,
  );

const percentDecoded = (text: string): string => text.replace(/(?:%[0-9a-f]{2})+/gi, (run) => new TextDecoder().decode(decodeHex(run.replaceAll('%', ''))));

const decodeBase64 = (text: string): Uint8Array => new Uint8Array(Buffer.from(text.replaceAll('-', '+').replaceAll('_', '/'), 'base64'));

const decodeHex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text.replace(/[\s:]/g, ''), 'hex'));

/** Without these characters at its end. A pattern would try each place of a long run of them. */
export const withoutEnd = (text: string, characters: string): string => {
  let end = text.length;
  while (end > 0 && characters.includes(text[end - 1] ?? '')) end -= 1;
  return text.slice(0, end);
};

const AROUND_WORDS = '.+-';

/** A word of a sentence, without what may stand at its ends. */
export const bareWord = (word: string): string => {
  let begin = 0;
  while (begin < word.length && AROUND_WORDS.includes(word[begin] ?? '')) begin += 1;
  return withoutEnd(word.slice(begin), AROUND_WORDS);
};
