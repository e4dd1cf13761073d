/** From what a person typed to what an operation takes, by the schema of the field. */
import { isTable, type JsonSchema } from '@svc/api';
import type { CommandInput } from '@svc/installer/commands';
import { usageFailure } from '../failure.js';
import { fieldKind, kindValue, noneOf } from './kind-values.js';

/** `text`: as it is typed; `json`: everything that one word cannot be. */
export type InputKind = 'text' | 'number' | 'switch' | 'list' | 'json';

/** Without the null that it may be as well. */
export const filled = (schema: JsonSchema): JsonSchema => {
  const forms = (schema.anyOf ?? []).filter(({ type }) => type !== 'null');
  return forms.length === 1 && forms[0] !== undefined ? { ...schema, ...forms[0] } : schema;
};

export const isNullable = ({ anyOf, type }: JsonSchema): boolean => anyOf?.some((form) => form.type === 'null') === true || (Array.isArray(type) && type.includes('null'));

export const kindOf = (given: JsonSchema): InputKind => {
  const schema = filled(given);
  const type = Array.isArray(schema.type) ? schema.type.find((one) => one !== 'null') : schema.type;
  if (choicesOf(schema) !== undefined || type === 'string' || isTextInAnyForm(schema)) return 'text';
  if (type === 'integer' || type === 'number') return 'number';
  if (type === 'boolean') return 'switch';
  return type === 'array' && schema.items !== undefined && ['text', 'number'].includes(kindOf(schema.items)) ? 'list' : 'json';
};

const isTextInAnyForm = ({ anyOf = [] }: JsonSchema): boolean => {
  const forms = anyOf.filter(({ type }) => type !== 'null');
  return forms.length > 0 && forms.every((form) => kindOf(form) === 'text');
};

/** The texts that a field may be, where those are few and named. */
export const choicesOf = (given: JsonSchema): readonly string[] | undefined => {
  const schema = filled(given);
  const values = schema.enum ?? (schema.const !== undefined ? [schema.const] : schema.anyOf?.map((form) => form.const));
  return values !== undefined && values.length > 0 && values.every((value) => typeof value === 'string') ? values : undefined;
};

/** One word as a value. The daemon validates lengths and ranges, in its own words. */
export const typedValue = ({ name, schema }: Pick<CommandInput, 'name' | 'schema'>, text: string, label: string): unknown => {
  const nothing = noneOf(schema, isNullable(schema), text);
  // A name may be `none` where it is no word of the field's own.
  if (nothing !== undefined && (fieldKind(filled(schema)) !== undefined || isNullable(schema))) return nothing.value;
  const kinded = kindValue(filled(schema), text, label);
  if (kinded !== undefined) return kinded;
  const kind = kindOf(schema);
  if (kind === 'number') return numberOf(text, label, filled(schema).type === 'integer');
  if (kind === 'list') return typedValue({ name, schema: filled(schema).items ?? {} }, text, label);
  if (kind === 'switch') return switchOf(text, label);
  if (kind === 'json') return isPlainText(filled(schema), text) ? text : jsonOf(text, label);
  const choices = choicesOf(schema);
  if (choices !== undefined && !choices.includes(text)) throw usageFailure(`${label} is "${text}"; expected one of these: ${choices.join(', ')}.`);
  return text;
};

/** One of the forms of the field is text, and the word does not begin as JSON does. */
const isPlainText = ({ anyOf = [] }: JsonSchema, text: string): boolean => anyOf.some((form) => kindOf(form) === 'text') && !/^\s*[[{"]/.test(text);

const numberOf = (text: string, label: string, isWhole: boolean): number => {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (!Number.isFinite(value) || (isWhole && !Number.isInteger(value))) throw usageFailure(`${label} is "${text}"; a ${isWhole ? 'whole ' : ''}number was expected.`);
  return value;
};

const switchOf = (text: string, label: string): boolean => {
  if (text !== 'true' && text !== 'false') throw usageFailure(`${label} is "${text}"; true or false was expected.`);
  return text === 'true';
};

export const jsonOf = (text: string, label: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw usageFailure(`${label} is not JSON: ${error instanceof Error ? error.message : String(error)}.`);
  }
};

/** The members of a JSON object that `--file` gave; flags stand above them. */
export const membersOf = (value: unknown): Record<string, unknown> | undefined => (isTable(value) ? { ...value } : undefined);
