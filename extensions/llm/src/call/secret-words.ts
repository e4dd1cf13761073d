/**
 * What providers say, without secrets: some quote a refused key back, whole or in part.
 *
 * S1  What a key begins with is known for many: such a word goes, wherever it stands.
 * S2  What stands behind `Bearer`, `api_key=`, `"token": "…"`, or before `@` in an address goes.
 * S3  Any other word goes where a part of it looks random. In an answer about keys a short part is enough.
 * S4  Names stay: of models, of kinds of errors, of fields, of pages. Their parts are words, short numbers and dates.
 */

import { KEY_BEGINNING } from '@svc/api';

const MAX_SAID_CHARS = 300;
const REMOVED = '[removed]';

const BY_PREFIX = new RegExp(String.raw`(?<![A-Za-z0-9])(?:${KEY_BEGINNING}(?=[\w*.…-]{4,})[\w*.…-]*[\w*]|AQ\.[\w*-]{6,}|eyJ[\w-]{6,}(?:\.[\w-]*){0,2})`, 'g');
/** One that may also begin a name, such as `api_error` and `key-value`: it goes where what follows has digits or capitals within. */
const PERHAPS = /(?<![A-Za-z0-9])(?:pk|key|api|apikey|token|secret|pa)[-_](?=[\w*.-]{4,})([\w*.-]*[\w*])/gi;

const BEARER = /\b(bearer)\s+(?!tokens?\b|auth|realm\b|scheme\b|credential|format\b|header\b|prefix\b|is\b|was\b|or\b|and\b)["'`]?[^\s"'`,;)]+/gi;
/** "The basic plan" is none. */
const BASIC = /\b(basic)\s+["'`]?(?=[^\s"'`]*(?:[0-9=]|[a-z][A-Z]))[A-Za-z0-9+/=]{6,}/gi;
const LABEL =
  '(?:api[-_ ]?key|access[-_ ]?key|secret[-_ ]?key|x-api-key|x-goog-api-key|(?:access|auth|refresh|id|session)[-_ ]?token|client[-_ ]?secret|token|secret|passw(?:or)?d|credential|authorization|key)s?';
/** A value that is assigned or quoted; a plain word after a colon is a sentence that goes on. */
const ASSIGNED = new RegExp(String.raw`(?<![A-Za-z0-9])(${LABEL}["'\`]?\s*(?:=\s*["'\`]?|:\s*["'\`]))([^\s"'\`,;&)}]{3,})`, 'gi');
const AFTER_COLON = new RegExp(String.raw`(?<![A-Za-z0-9])(${LABEL}(?:\s+(?:provided|given|used|supplied|was|is|value))?\s*:\s*)([^\s"'\`,;&)}]{4,})`, 'gi');
const IN_ADDRESS = /(\/\/)[^\s/@]+@/g;

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** `request_id: …` and `(request id …)`: support asks for it, and it opens nothing. */
const BEFORE_REQUEST_ID = /\b(?:request|trace|correlation|response)[-_ ]?id\b["'\s:=(]{0,4}$/i;
const REQUEST_ID = /^(?:req|request|chatcmpl|resp|msg)[-_]/i;
const BEFORE_KEY = /\b(?:key|token|secret|password|credential)s?\s+["'`]?$/i;
const BEFORE_MODEL = /\bmodels?["'`\s:=(/]{1,4}$/i;

/** `aboutKeys`: the answer refuses a key, and so may hold a part of it. */
export const withoutSecrets = (text: string, aboutKeys = false): string => {
  const shown = text
    .replace(BEARER, `$1 ${REMOVED}`)
    .replace(BASIC, `$1 ${REMOVED}`)
    .replace(BY_PREFIX, REMOVED)
    .replace(PERHAPS, (whole, rest: string) => (/[0-9*]|[a-z][A-Z]/.test(rest) && !isName(rest) ? REMOVED : whole))
    .replace(ASSIGNED, (whole, label: string, value: string) => (value.startsWith(REMOVED) ? whole : `${label}${REMOVED}`))
    .replace(AFTER_COLON, (whole, label: string, value: string) => (isSentence(value) ? whole : `${label}${REMOVED}`))
    .replace(IN_ADDRESS, `$1${REMOVED}@`);
  return shown
    .replace(/[\w*+/=.…~-]+/g, (word, at: number) => (looksSecret(word, aboutKeys, shown.slice(Math.max(0, at - 24), at)) ? REMOVED : word))
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, MAX_SAID_CHARS);
};

/** A word as it stands in a sentence, or what stands for a value already. */
const isSentence = (value: string): boolean => value.startsWith(REMOVED) || /^[A-Z]?[a-z]+[.!?]?$/.test(value) || /^<[a-z-]+>$/.test(value);

const looksSecret = (word: string, aboutKeys: boolean, before: string): boolean => {
  if (word.includes('**')) return word.length >= (aboutKeys ? 6 : 8) && !/^\*+$/.test(word);
  const bare = word.replace(/^[./=~-]+|[./=~…-]+$/g, '');
  if (UUID.test(bare)) return !BEFORE_REQUEST_ID.test(before);
  if (!aboutKeys && (REQUEST_ID.test(bare) || BEFORE_REQUEST_ID.test(before))) return false;
  // The model that was asked for is no secret, however it is called.
  if (BEFORE_MODEL.test(before) && bare.length < 80 && parts(bare).every((part) => !isRandom(part, 16))) return false;
  if (aboutKeys && BEFORE_KEY.test(before) && /[0-9]|[a-z][A-Z]/.test(bare)) return true;
  const shortest = aboutKeys ? 6 : 12;
  return parts(bare).some((part) => isRandom(part, shortest)) || isJoinedRandom(bare);
};

const parts = (word: string): string[] => word.split(/[-_./=:~…]+/);

const isName = (word: string): boolean => parts(word).every((part) => !isRandom(part, 8));

/** From so many characters on. Numbers are none: they count tokens, and name projects. */
const isRandom = (part: string, shortest: number): boolean => {
  const letters = part.replace(/[^A-Za-z]/g, '').length;
  const digits = part.replace(/\D/g, '').length;
  if (digits > 0 && letters > 0) return part.length >= shortest && !isCounted(part);
  if (letters === 0) return part.includes('+') && part.length >= 20;
  return letters > MAX_WORD_CHARS || (letters >= Math.max(shortest, 12) && isJumbled(part)) || part.length > MAX_NAME_CHARS;
};

/** One word with a number before or behind it, such as `llama3` and `20241022v2`: no key of a useful length is like that. */
const isCounted = (part: string): boolean => /^[A-Za-z]{4,20}\d{1,2}$/.test(part) || /^\d{1,8}[A-Za-z]{1,3}\d{0,2}$/.test(part) || /^[A-Z]?[a-z]{2,12}\d{1,3}[a-z]{1,12}$/.test(part);

/** In English and German, without a break. */
const MAX_WORD_CHARS = 28;
const MAX_NAME_CHARS = 48;

/** Capitals come oftener than a new word does in a name like `InternalServerError`; or all letters are of one kind and longer than any word. */
const isJumbled = (part: string): boolean => {
  const changes = part.match(/[a-z][A-Z]/g)?.length ?? 0;
  return changes * 5 > part.length;
};

const isMixed = (part: string): boolean => /\d/.test(part) && /[A-Za-z]/.test(part);

/** Parts of one length are a key in groups, such as `a1b2-cdef-45fg-hijk`; parts without a hyphen or a dot between them may be base64. */
const isJoinedRandom = (word: string): boolean => {
  const all = parts(word);
  const [first = ''] = all;
  const isGrouped = all.length >= 3 && first.length >= 4 && all.every(({ length }) => length === first.length);
  if (isGrouped && all.filter(isMixed).length >= 2) return true;
  return /^[A-Za-z0-9+/]{32,}=*$/.test(word) && word.split(/[+/]/).filter((part) => part.length >= 5 && (isMixed(part) || isJumbled(part))).length >= 2;
};
