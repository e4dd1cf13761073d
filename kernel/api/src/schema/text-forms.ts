/**
 * The forms that texts of requests have. One value is what the documentation says of a text and what its handler checks, so
 * that neither can promise more than the other.
 */
import { type TSchema, Type } from '@sinclair/typebox';

/** A part of a JSON Schema. */
type Rule = Readonly<Record<string, unknown>>;

export interface TextForm {
  /** What the documentation says, as JSON Schema. */
  readonly schema: Rule;
  fits(text: string): boolean;
}

/** `pattern` is read as JSON Schema reads it: with the flag `u`, and anywhere in the text unless it says otherwise. */
export const textForm = (pattern: string, limits: { readonly minLength?: number; readonly maxLength?: number } = {}): TextForm => {
  const found = new RegExp(pattern, 'u');
  const { minLength = 0, maxLength = Infinity } = limits;
  return {
    schema: { pattern, ...limits },
    fits: (text) => {
      // As JSON Schema counts: one for an emoji.
      const { length } = [...text];
      return length >= minLength && length <= maxLength && found.test(text);
    },
  };
};

/** One of some words, in upper or lower case. */
export const wordForm = (words: readonly string[]): TextForm => textForm(`^(?:${words.map(inAnyCase).join('|')})$`);

const inAnyCase = (word: string): string =>
  [...word].map((letter) => (letter.toLowerCase() === letter.toUpperCase() ? letter.replace(/[\\^$.*+?()[\]{}|/]/, '\\$&') : `[${letter.toLowerCase()}${letter.toUpperCase()}]`)).join('');

/**
 * Rules of a schema that the handler checks, because a value without them has an error of its own. The documentation says
 * them like those that are checked before: `Type.String({ ...documented(COLOR.schema), description })`.
 */
export const documented = (rules: Rule): { readonly 'x-documented': Rule } => ({ 'x-documented': rules });

/** A text of a form that its handler checks. */
export const TextOf = (form: TextForm, options: Parameters<typeof Type.String>[0] = {}) => Type.String({ ...documented(form.schema), ...options });

/** A field that is known and refused, by an error that says what to do instead. */
export const Refused = <T extends TSchema>(schema: T): T => ({ ...schema, ...documented({ not: {} }) });

/** At least one of these fields: for the options of an object. Said by `not`, which generators of clients pass over; of an `anyOf` they make types. */
export const anyOfFields = (...names: readonly string[]): Rule => documented({ not: { allOf: names.map((name) => ({ not: { required: [name] } })) } });

/** A rule for values to which another applies. Generators of clients pass over `if`; of properties in a `not` they make types. */
export const whereFits = (condition: object, rule: object, otherwise?: object): Rule => Object.fromEntries([['if', condition], ['then', rule], ...(otherwise ? [['else', otherwise]] : [])]);

/** Not all of these fields have such values or are left out: for the options of an object. */
export const notAll = (values: Readonly<Record<string, Rule>>): Rule => documented(whereFits({ properties: values }, { not: {} }));

/** Not more than one of two fields: for the options of an object. */
export const notBothFields = (one: string, other: string): Rule => documented({ not: { required: [one, other] } });

/** Text without control characters. */
export const ONE_LINE = textForm('^[^\\u0000-\\u001f\\u007f]*$');

/** Text that is more than spaces. */
export const NOT_BLANK = textForm('\\S');

/** The id of a Git commit, whole or its first digits. */
export const COMMIT_ID = textForm('^[0-9a-fA-F]{4,40}$');

export const ABSOLUTE_PATH = textForm('^/');

/** The ETag of an item of a collection, as If-Match takes it. */
export const REVISION_TAG = textForm('^(?:\\*|"[0-9]{1,15}")$');

/** The file name of a backup: one plain name, without a separator, a leading dot or anything that a shell or a URL reads otherwise. */
export const BACKUP_NAME = textForm('^[A-Za-z0-9][A-Za-z0-9_-]*(?:\\.[A-Za-z0-9_-]+)*\\.tar\\.gz$', { maxLength: 128 });

/** Of a request under which the same request has one effect. */
export const REQUEST_KEY = textForm('^[\\x20-\\x7e]+$', { minLength: 1, maxLength: 255 });

/** Where a setting stands: one to three names. */
export const SETTING_PATH = textForm('^/?[A-Za-z0-9_-]{1,64}(?:\\.[A-Za-z0-9_-]{1,64}){0,2}$');

const DAY = '[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])';
const HOUR_AND_MINUTE = '(?:[01][0-9]|2[0-3]):[0-5][0-9]';

/** A day, or a time of ISO 8601 with its zone. */
export const DAY_OR_TIME = textForm(`^${DAY}(?:T${HOUR_AND_MINUTE}(?::[0-5][0-9](?:\\.[0-9]+)?)?(?:Z|[+-]${HOUR_AND_MINUTE}))?$`);

/** Milliseconds of what `DAY_OR_TIME` describes; a day begins at `ofDay`. Undefined for anything else. */
export const timeOfText = (text: string, ofDay = '00:00:00.000'): number | undefined => {
  if (!DAY_OR_TIME.fits(text)) return undefined;
  const ms = Date.parse(text.includes('T') ? text : `${text}T${ofDay}Z`);
  return Number.isNaN(ms) ? undefined : ms;
};
