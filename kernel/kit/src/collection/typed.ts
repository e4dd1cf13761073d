/**
 * What a field holds while it is edited, and the value that it stands for.
 *
 * V1  What fits here fits at the daemon: the same bounds, in the same units. What this browser cannot check is left to the daemon.
 * V2  A field that is left empty is null where it may be, else left out where it may be; only then is something missing.
 */
import { count } from '@svc/kit';
import { type Kind, type Schema, type Shape, shapeOf } from './schema.js';
import { t } from './part-words.js';

/** Numbers, times and lists as the text that was typed. Null is back to the default. */
export type Typed = string | boolean | null | TypedRow | readonly TypedRow[];
export interface TypedRow {
  readonly [name: string]: Typed;
}

export type Read = { readonly value: unknown } | { readonly wrong: string };

const isTable = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null && !Array.isArray(value);
export const isRow = (typed: Typed | undefined): typed is TypedRow => isTable(typed);
export const isRows = (typed: Typed | undefined): typed is readonly TypedRow[] => Array.isArray(typed);

export const typedOf = (schema: Schema, value: unknown): Typed => {
  const shape = shapeOf(schema);
  switch (shape.kind) {
    case 'switch':
      return value === true;
    case 'lines':
      return Array.isArray(value) ? value.map(String).join('\n') : '';
    case 'entries':
      return Array.isArray(value) ? value.filter(isTable).map((row) => typedRow(row)) : [];
    case 'part':
      return typedFields(shape.schema, isTable(value) ? value : {});
    case 'duration':
      return typeof value === 'number' ? durationText(value, shape.schema['x-unit']) : '';
    case 'time':
      return typeof value === 'string' ? localTime(value) : '';
    case 'json':
      return value === null || value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value, undefined, 2);
    default:
      return value === null || value === undefined ? '' : String(value);
  }
};

const typedRow = (row: Readonly<Record<string, unknown>>): TypedRow => Object.fromEntries(Object.entries(row).map(([name, inner]) => [name, typeof inner === 'boolean' ? inner : String(inner ?? '')]));

/** Each field of an object; those that `value` has not hold their defaults. */
export const typedFields = (schema: Schema, value: Readonly<Record<string, unknown>>): TypedRow =>
  Object.fromEntries(Object.entries(schema.properties ?? {}).map(([name, field]) => [name, typedOf(field, value[name] === undefined ? field.default : value[name])]));

/** As a field for dates and times takes it, in this browser's zone. */
const localTime = (iso: string): string => {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return '';
  const two = (part: number): string => String(part).padStart(2, '0');
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}T${two(at.getHours())}:${two(at.getMinutes())}`;
};

/** What was typed as the value that it stands for, or what is wrong with it. */
export const readTyped = (schema: Schema, typed: Typed): Read => {
  if (typed === null) return { value: null };
  if (typeof typed === 'boolean') return { value: typed };
  const shape = shapeOf(schema);
  if (isRows(typed)) return readEntries(shape.schema, typed);
  if (typeof typed !== 'string') return readPart(shape.schema, typed);
  return readBy(shape)(shape.schema, typed, shape);
};

const readPart = (schema: Schema, typed: TypedRow): Read => {
  const { value, wrong } = readFields(schema, typed);
  const [first] = Object.values(wrong);
  return first === undefined ? { value } : { wrong: first };
};

type Reader = (schema: Schema, text: string, shape: Shape) => Read;

const readBy = ({ kind }: Shape): Reader => {
  const readers: Partial<Record<Kind, Reader>> = { number: readNumber, lines: readLines, duration: readDuration, choice: readChoice, time: readTime, json: readJson };
  return readers[kind] ?? readText;
};

const readChoice: Reader = (_schema, typed, { choices }) => ({ value: typed === '' ? null : (choices.find((one) => String(one) === typed) ?? typed) });

const readNumber: Reader = ({ type, default: usual, ...bounds }, typed) => {
  const text = typed.trim();
  const needed = t(type === 'integer' ? 'whole_number' : 'number');
  if (text === '') return usual === undefined || usual === null ? { value: null } : { wrong: needed };
  if (!(type === 'integer' ? /^-?\d+$/ : /^-?\d*\.?\d+$/).test(text)) return { wrong: needed };
  const value = Number(text);
  const wrong = outOfBounds(bounds, value);
  return wrong === undefined ? { value } : { wrong };
};

const outOfBounds = ({ minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf }: Schema, value: number): string | undefined => {
  if (minimum !== undefined && value < minimum) return t('too_small', { least: count(minimum) });
  if (maximum !== undefined && value > maximum) return t('too_large', { most: count(maximum) });
  if (exclusiveMinimum !== undefined && value <= exclusiveMinimum) return t('above', { least: count(exclusiveMinimum) });
  if (exclusiveMaximum !== undefined && value >= exclusiveMaximum) return t('below', { most: count(exclusiveMaximum) });
  return multipleOf !== undefined && !Number.isInteger(value / multipleOf) ? t('multiple', { step: String(multipleOf) }) : undefined;
};

const readText: Reader = ({ minLength = 0, maxLength, pattern, format, default: usual }, text) => {
  if (text === '' && (usual === undefined || usual === null) && minLength === 0 && pattern === undefined) return { value: null };
  // The daemon counts characters, of which some are two in a string.
  const length = [...text].length;
  if (length < minLength) return { wrong: minLength === 1 ? t('too_short') : t('shorter', { least: minLength }) };
  if (maxLength !== undefined && length > maxLength) return { wrong: t('too_long', { length, most: maxLength }) };
  if (pattern !== undefined && !matches(pattern, text)) return { wrong: t('pattern') };
  const wrong = misformed(format, text);
  return wrong === undefined ? { value: text } : { wrong };
};

/** A pattern that this browser cannot read is left to the daemon. */
const matches = (pattern: string, text: string): boolean => {
  try {
    return new RegExp(pattern, 'u').test(text);
  } catch {
    return true;
  }
};

const FORMS = {
  uuid: [/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i, 'form_uuid'],
  email: [/^[^\s@]+@[^\s@]+$/, 'form_email'],
  uri: [/^[a-z][a-z\d+.-]*:\S+$/i, 'form_uri'],
  date: [/^\d{4}-\d\d-\d\d$/, 'form_date'],
} as const;

const isForm = (format: string | undefined): format is keyof typeof FORMS => format !== undefined && Object.hasOwn(FORMS, format);

const misformed = (format: string | undefined, text: string): string | undefined => {
  if (!isForm(format)) return undefined;
  const [form, word] = FORMS[format];
  return form.test(text) ? undefined : t(word);
};

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, min: 60_000, h: 3_600_000, d: 86_400_000 };
const SHORT_UNITS: Readonly<Record<string, string>> = { ms: 'ms', s: 's', min: 'min', h: 'h', d: 'd' };

/** As it can be typed: `90 min`. */
const durationText = (value: number, unit = 's'): string => `${value} ${SHORT_UNITS[unit] ?? 's'}`;

/** `90`, `90 min`, `1h 30m`. A number alone is in the field's own unit. */
const readDuration: Reader = (schema, typed) => {
  const text = typed.trim().toLowerCase();
  if (text === '') return { value: null };
  const own = UNIT_MS[schema['x-unit'] ?? 's'] ?? 1_000;
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)\s*(ms|sec|s|min|m|hours?|h|days?|d)?\s*/g)];
  const isWhole = parts.map(([part]) => part).join('') === text;
  const ms = parts.reduce(
    (sum, [, amount, name]) =>
      sum + Number(amount) * (name === undefined ? own : (UNIT_MS[name === 'm' ? 'min' : name === 'sec' ? 's' : name.startsWith('h') ? 'h' : name.startsWith('d') ? 'd' : name] ?? 1)),
    0,
  );
  const value = ms / own;
  if (!isWhole || !Number.isInteger(value)) return { wrong: t('form_duration') };
  const wrong = outOfBounds(schema, value);
  return wrong === undefined ? { value } : { wrong };
};

const readTime: Reader = (_schema, text) => {
  if (text === '') return { value: null };
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? { wrong: t('form_time') } : { value: at.toISOString() };
};

const readJson: Reader = (_schema, text) => {
  if (text.trim() === '') return { value: null };
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { wrong: t('not_json', { why: error instanceof Error ? error.message : String(error) }) };
  }
};

const miscounted = ({ minItems = 0, maxItems }: Schema, length: number): string | undefined => {
  if (maxItems !== undefined && length > maxItems) return t('too_many', { length, most: maxItems });
  return length < minItems ? t('too_few', { least: minItems }) : undefined;
};

const readLines: Reader = (schema, text) => {
  const { items = {}, uniqueItems } = schema;
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
  const wrong = miscounted(schema, lines.length) ?? (uniqueItems && new Set(lines).size < lines.length ? t('twice') : undefined);
  if (wrong !== undefined) return { wrong };
  const values: unknown[] = [];
  for (const [index, line] of lines.entries()) {
    const read = readTyped(items, line);
    if ('wrong' in read) return { wrong: t('in_line', { line: index + 1, problem: read.wrong }) };
    values.push(read.value);
  }
  return { value: values };
};

/** What is left empty is left out, so that its default holds. */
const readEntries = (schema: Schema, rows: readonly TypedRow[]): Read => {
  const { items = {} } = schema;
  const wrong = miscounted(schema, rows.length);
  if (wrong !== undefined) return { wrong };
  const values: Array<Record<string, unknown>> = [];
  for (const [index, row] of rows.entries()) {
    const value: Record<string, unknown> = {};
    for (const [name, field] of Object.entries(items.properties ?? {})) {
      const typed = row[name] ?? '';
      const isLeftOut = typed === '' && (field.minLength ?? 0) === 0;
      const read: Read = isLeftOut ? { value: null } : readTyped(field, typed);
      if ('wrong' in read) return { wrong: t('in_entry', { entry: index + 1, name, problem: read.wrong }) };
      if (read.value !== null) value[name] = read.value;
    }
    values.push(value);
  }
  return { value: values };
};

export interface ReadFields {
  /** Without the fields that are left out. */
  readonly value: Readonly<Record<string, unknown>>;
  /** By the path of the field. */
  readonly wrong: Readonly<Record<string, string>>;
}

/** The fields of an object, each read by itself. `isChange`: an empty field is not left out, since what is left out stays as it is. */
export const readFields = (schema: Schema, typed: TypedRow, isChange = false): ReadFields => {
  const value: Record<string, unknown> = {};
  const wrong: Record<string, string> = {};
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    if (field['x-same-as'] !== undefined) continue;
    const shape = shapeOf(field);
    const isNeeded = schema.required?.includes(name) === true || isChange;
    const given = typed[name] ?? '';
    if (shape.kind === 'part' && isRow(given)) {
      const inner = readFields(shape.schema, given);
      if (!isNeeded && !hasTyped(given)) continue;
      value[name] = inner.value;
      for (const [path, why] of Object.entries(inner.wrong)) wrong[`${name}.${path}`] = why;
      continue;
    }
    const read = readField(field, shape, given, isNeeded);
    if (read === undefined) continue;
    if ('wrong' in read) wrong[name] = read.wrong;
    else value[name] = read.value;
  }
  return { value, wrong };
};

const hasTyped = (row: TypedRow): boolean => Object.values(row).some((typed) => typed !== '' && typed !== false && typed !== null);

/** V2; undefined is left out. */
const readField = (field: Schema, { kind, isNullable, schema }: Shape, typed: Typed, isNeeded: boolean): Read | undefined => {
  const isText = kind === 'text' || kind === 'long' || kind === 'code';
  if (typed === '') {
    if (isNullable) return { value: null };
    if (!isNeeded && field.default === undefined) return undefined;
    if (kind !== 'lines' && (!isText || (schema.minLength ?? 0) > 0)) return { wrong: t('needed') };
  }
  const read = readTyped(field, typed);
  // An empty text is a text where it has to be there.
  return isText && typed === '' && 'value' in read && read.value === null ? { value: '' } : read;
};
