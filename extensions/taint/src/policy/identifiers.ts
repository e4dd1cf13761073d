/** The parts of a text that name a destination: addresses of all kinds, accounts, ids, paths. Words of a sentence name none. */
import { readable, squeezed, withoutEnd } from './normal-text.js';

export type IdentifierKind = 'url' | 'host' | 'email' | 'account' | 'id' | 'path' | 'token';

export interface Identifier {
  readonly kind: IdentifierKind;
  /** As texts are compared. */
  readonly value: string;
  /** Of a url: the host, as texts are compared. */
  readonly host?: string;
}

const URL_PATTERN = /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s<>"'`{}|\\^]{1,2000}/gi;
const EMAIL = /[a-z0-9][a-z0-9._%+-]{0,63}@(?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,24}\b/gi;
/** With a path behind it, it is an address that was written without its scheme. */
const HOST = /(?<![\w@./-])(?:(?:[a-z0-9](?:[a-z0-9-]{0,62})\.){1,8}(?:[a-z]{2,24}|xn--[a-z0-9-]{2,59})|\d{1,3}(?:\.\d{1,3}){3})(?::\d{2,5})?(?:\/[^\s<>"'`{}|\\^]{0,2000})?/giu;
const IBAN = /\b[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]{2,5}){2,9}\b/g;
const DIGITS = /(?<![\w.])\+?\d(?:[ ()./-]{0,2}\d){7,30}(?![\w])/g;
const DATE_OR_TIME = /^\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|^\d{1,2}[-/.]\d{1,2}[-/.]\d{4}/;
const RUN_OF_ID = /[\w-]+/g;
const [MIN_ID_CHARS, MAX_ID_CHARS] = [12, 200];
const PATH = /(?<![\w:/.])(?:~|\.{1,2})?\/(?:[\w.@+-]+\/?)+|(?<![\w:/.])(?:[\w.@+-]{1,255}\/){2,}[\w.@+-]*/g;
/** Endings that make a name with one dot a file's. A host of that form needs its scheme, `www.` or a path to be taken for one. */
const FILE_ENDINGS = new Set(
  'txt md rst pdf doc docx xls xlsx ppt pptx odt csv tsv json jsonl yaml yml toml ini cfg conf xml html htm css scss js mjs cjs ts tsx jsx py rb rs go java kt c h cc cpp hpp cs php pl sh bash zsh ps1 bat sql db lock log bak tmp zip tar gz tgz bz2 xz png jpg jpeg gif svg webp ico mp3 mp4 wav mov ttf woff woff2 ipynb tex bib env map wasm so dll exe'.split(
    ' ',
  ),
);
const ABBREVIATION = /^(?:e\.g|i\.e|a\.m|p\.m|u\.s|etc|vs|no)\.?$/i;
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|0\.0\.0\.0|\[?::1\]?)(?::\d+)?$/;
/** How people write addresses that nothing should follow. */
const WRITTEN_DOT = /\s?(?:\[\.\]|\(\.\)|\[dot\]|\(dot\))\s?/gi;
const WRITTEN_AT = /\s?(?:\[@\]|\[at\]|\(at\))\s?/gi;
const MIN_TOKEN_CHARS = 24;
const TRAILING = `).,;:!?]>'"*_`;

/** What names a destination wherever it stands. */
export const addressesIn = (raw: string): Identifier[] => {
  const text = readable(raw).replace(WRITTEN_DOT, '.').replace(WRITTEN_AT, '@');
  const found: Identifier[] = [];
  let rest = take(text, URL_PATTERN, (url) => pushUrl(found, url));
  rest = take(rest, EMAIL, (email) => push(found, 'email', email));
  rest = take(rest, IBAN, (account) => (account.replace(/[ -]/g, '').length >= 12 ? push(found, 'account', account) : undefined));
  rest = take(rest, HOST, (host) => pushHost(found, host));
  take(rest, DIGITS, (digits) => (DATE_OR_TIME.test(digits.replace(/^\+/, '')) ? undefined : push(found, 'account', digits.replace(/[^\d]/g, ''))));
  return found;
};

/** What names something where it is all that a value says. */
export const namesIn = (raw: string): Identifier[] => {
  const text = readable(raw).trim();
  const found: Identifier[] = [];
  if (/\s/.test(text)) return found;
  const rest = take(
    take(text, URL_PATTERN, () => undefined),
    EMAIL,
    () => undefined,
  );
  for (const [path] of rest.matchAll(PATH)) push(found, 'path', path);
  for (const [id] of rest.matchAll(RUN_OF_ID)) if (isId(id)) push(found, 'id', id);
  if (text.length >= MIN_TOKEN_CHARS && text.length <= 4_000) push(found, 'token', text);
  return found;
};

/** Two digits and a letter. */
const isId = (text: string): boolean => text.length >= MIN_ID_CHARS && text.length <= MAX_ID_CHARS && /\d[^\d]*\d/.test(text) && /[a-z]/i.test(text) && !DATE_OR_TIME.test(text);

const take = (text: string, pattern: RegExp, each: (match: string) => void): string =>
  text.replace(pattern, (match) => {
    each(match);
    return ' ';
  });

const push = (found: Identifier[], kind: IdentifierKind, text: string): void => {
  const value = squeezed(text);
  if (value.length >= 4) found.push({ kind, value });
};

const pushUrl = (found: Identifier[], raw: string): void => {
  const url = withoutEnd(raw, TRAILING);
  const authority = /^[^:]+:\/\/([^/?#]*)/.exec(url)?.[1] ?? '';
  const host = authority.slice(authority.lastIndexOf('@') + 1).toLowerCase();
  if (LOOPBACK.test(host)) return;
  found.push({ kind: 'url', value: addressForm(url), host: squeezed(host.replace(/^www\.|:\d+$/g, '')) });
};

const pushHost = (found: Identifier[], raw: string): void => {
  const text = withoutEnd(raw, TRAILING);
  const [host = '', ...path] = text.split('/');
  if (LOOPBACK.test(host) || ABBREVIATION.test(host) || /^\d+(?:\.\d+){1,2}$/.test(host)) return;
  const labels = host.split('.');
  if (path.length === 0 && labels.length === 2 && FILE_ENDINGS.has((labels[1] ?? '').toLowerCase())) return;
  found.push({ kind: path.join('/') === '' ? 'host' : 'url', value: addressForm(text), host: squeezed(host.replace(/^www\.|:\d+$/gi, '')) });
};

/** With and without its scheme, `www.` and last slash, an address is the same. */
const addressForm = (url: string): string =>
  squeezed(
    url
      .replace(/^[a-z][a-z0-9+.-]*:\/\//i, '')
      .replace(/^www\./i, '')
      .replace(/\/$/, ''),
  );
