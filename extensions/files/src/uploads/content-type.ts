/**
 * What a file is: as it was declared, as its name says, and as its bytes say.
 *
 * C1  What is kept has a type from this list, and bytes that are of it: an image begins as one, text is UTF-8, or UTF-16 with a byte order mark.
 */
import { encodingOf } from '@svc/api';
import { uploadErrors } from '../errors.js';

/** Other names in use for the same types. */
const ALIASES: Readonly<Record<string, string>> = {
  'image/jpg': 'image/jpeg',
  'image/pjpeg': 'image/jpeg',
  'audio/mp3': 'audio/mpeg',
  'audio/wave': 'audio/wav',
  'audio/vnd.wave': 'audio/wav',
  'audio/m4a': 'audio/mp4',
  'audio/x-m4a': 'audio/mp4',
  'audio/x-flac': 'audio/flac',
  'application/ogg': 'audio/ogg',
  'application/x-pdf': 'application/pdf',
  'application/x-yaml': 'application/yaml',
  'application/x-javascript': 'application/javascript',
  'application/x-sql': 'application/sql',
};

/** Types whose bytes say what they are, by what stands at their beginning. */
const BINARY = new Set([
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'audio/mpeg',
  'audio/wav',
  'audio/x-wav',
  'audio/ogg',
  'audio/mp4',
  'audio/webm',
  'audio/flac',
  'video/mp4',
  'video/webm',
  'application/pdf',
]);

const TEXT = new Set(['json', 'x-ipynb+json', 'xml', 'yaml', 'toml', 'sql', 'graphql', 'javascript', 'typescript'].map((name) => `application/${name}`));
/** Any text, but what a browser would read as a document of its own. */
const PLAIN_TEXT = /^text\/(?!.*(?:html|xml|xsl))[a-z0-9][a-z0-9.+-]{0,60}$/;

/** By the end of a name, for what was sent without a type of its own. */
const BY_EXTENSION: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  ogg: 'audio/ogg',
  oga: 'audio/ogg',
  m4a: 'audio/mp4',
  weba: 'audio/webm',
  flac: 'audio/flac',
  mp4: 'video/mp4',
  webm: 'video/webm',
  pdf: 'application/pdf',
  md: 'text/markdown',
  csv: 'text/csv',
  tsv: 'text/tab-separated-values',
  css: 'text/css',
  html: 'text/html',
  htm: 'text/html',
  xhtml: 'application/xhtml+xml',
  svg: 'image/svg+xml',
  json: 'application/json',
  ipynb: 'application/x-ipynb+json',
  xml: 'application/xml',
  yaml: 'application/yaml',
  yml: 'application/yaml',
  toml: 'application/toml',
  sql: 'application/sql',
  graphql: 'application/graphql',
  js: 'application/javascript',
  mjs: 'application/javascript',
  ts: 'application/typescript',
};

/** How many bytes `binaryTypeOf` needs to see. */
export const HEAD_BYTES = 16;

const latin = (head: Uint8Array, from: number, to: number): string => Buffer.from(head.subarray(from, to)).toString('latin1');

/** The type that a file's first bytes tell, of those that are taken. */
export const binaryTypeOf = (head: Uint8Array): string | undefined => {
  const [first = 0, second = 0] = head;
  if (latin(head, 0, 8) === '\x89PNG\r\n\x1a\n') return 'image/png';
  if (first === 0xff && second === 0xd8 && head[2] === 0xff) return 'image/jpeg';
  if (/^GIF8[79]a$/.test(latin(head, 0, 6))) return 'image/gif';
  if (latin(head, 0, 4) === 'RIFF') return { WEBP: 'image/webp', WAVE: 'audio/wav' }[latin(head, 8, 12)];
  if (latin(head, 0, 5) === '%PDF-') return 'application/pdf';
  if (latin(head, 0, 4) === 'OggS') return 'audio/ogg';
  if (latin(head, 0, 4) === 'fLaC') return 'audio/flac';
  if (latin(head, 4, 8) === 'ftyp') return 'audio/mp4';
  if (latin(head, 0, 4) === '\x1a\x45\xdf\xa3') return 'audio/webm';
  // A frame of MPEG audio: eleven bits set, then a layer.
  if (latin(head, 0, 3) === 'ID3' || (first === 0xff && (second & 0xe0) === 0xe0 && (second & 0x06) !== 0)) return 'audio/mpeg';
  return undefined;
};

/** The declared type in one form; undefined where nothing is said that could be true or false. */
export const plainType = (declared: string | undefined): string | undefined => {
  const bare = (declared ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return bare === '' || bare === 'application/octet-stream' ? undefined : (ALIASES[bare] ?? bare);
};

export const isText = (type: string): boolean => TEXT.has(type) || PLAIN_TEXT.test(type);
export const isPicture = (type: string): boolean => type.startsWith('image/');

const extensionOf = (name: string): string => /\.([A-Za-z0-9]{1,10})$/.exec(name)?.[1]?.toLowerCase() ?? '';

/** As soon as the first bytes are there: what is declared to be an image and is none need not be read to its end. Throws `upload_type_unsupported`, `upload_type_mismatch`. */
export const validateHead = (declared: string | undefined, head: Uint8Array): void => {
  const type = plainType(declared);
  if (type === undefined) return;
  if (!BINARY.has(type) && !isText(type)) throw uploadErrors.type_unsupported(type);
  const found = binaryTypeOf(head);
  if (BINARY.has(type) && found !== sniffed(type)) throw uploadErrors.type_mismatch(type, found ?? 'of another kind');
  if (!BINARY.has(type) && found === 'application/pdf') throw uploadErrors.type_mismatch(type, found);
};

/** What `binaryTypeOf` calls it. Sound and pictures that move come in the same containers. */
const sniffed = (type: string): string => (type === 'audio/x-wav' ? 'audio/wav' : type.replace(/^video\//, 'audio/'));

/** The type that is kept. `isText`: all of it was text. Throws what `validateHead` throws. */
export const typeOfBytes = (given: { declared: string | undefined; name: string; head: Uint8Array; isText: boolean }): string => {
  const { declared, name, head, isText: isAllText } = given;
  validateHead(declared, head);
  const type = plainType(declared) ?? (isAllText ? textTypeOf(name, head) : (binaryTypeOf(head) ?? 'application/octet-stream'));
  if (BINARY.has(type)) return type;
  if (!isText(type)) throw uploadErrors.type_unsupported(type);
  if (!isAllText) throw uploadErrors.type_mismatch(type, encodingOf(head) === 'utf-8' ? (binaryTypeOf(head) ?? 'no UTF-8 text') : `no ${encodingOf(head).toUpperCase()} text`);
  return type;
};

/** Of text that was sent without a type. */
const textTypeOf = (name: string, head: Uint8Array): string => {
  const found = binaryTypeOf(head);
  if (found === 'application/pdf') return found;
  const byName = BY_EXTENSION[extensionOf(name)];
  return byName === undefined || BINARY.has(byName) ? 'text/plain' : byName;
};

/** For files of a workspace, whose bytes nobody has validated: a picture or sound by its name, else no type at all. */
export const typeOfName = (name: string): string => {
  const type = BY_EXTENSION[extensionOf(name)] ?? '';
  return isPicture(type) && BINARY.has(type) ? type : type.startsWith('audio/') ? type : 'application/octet-stream';
};

/** What to call a file that came without a name. */
export const nameForType = (type: string | undefined): string => {
  const found = Object.entries(BY_EXTENSION).find(([, named]) => named === type);
  return found ? `upload.${found[0]}` : 'upload';
};
