/** What the JSON Schema of config.toml says of one setting: its kind, its bounds, and whether what was typed fits. */
import { count, type OutputOf } from '@svc/kit';
import { t } from './words.js';

export type Setting = OutputOf<'listSettings'>['settings'][number];

export interface Schema {
  readonly type?: string;
  readonly enum?: ReadonlyArray<string | number>;
  readonly default?: unknown;
  readonly description?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
}

export interface SectionShown {
  readonly key: string;
  readonly root_level: boolean;
  readonly owner: string;
}

export interface Document extends Schema {
  readonly 'x-sections': readonly SectionShown[];
}

/** The schema of what stands at a dotted path. Names of a table with free names may have dots in them. */
export const schemaAt = (root: Schema, path: string): Schema => {
  const walk = (schema: Schema, names: readonly string[]): Schema | undefined => {
    const [name, ...rest] = names;
    if (name === undefined) return schema;
    const part = schema.properties?.[name];
    if (part) return walk(part, rest);
    return Object.values(schema.patternProperties ?? {})[0];
  };
  return walk(root, path.split('.')) ?? {};
};

export type Kind = 'switch' | 'choice' | 'number' | 'text' | 'lines' | 'entries' | 'table' | 'unknown';

export const kindOf = (schema: Schema): Kind => {
  if (schema.enum) return 'choice';
  if (schema.type === 'boolean') return 'switch';
  if (schema.type === 'integer' || schema.type === 'number') return 'number';
  if (schema.type === 'string') return 'text';
  if (schema.type === 'array') return schema.items?.properties ? 'entries' : 'lines';
  return schema.patternProperties ? 'table' : 'unknown';
};

/** What a field holds while it is edited: numbers and lists as the text that was typed. Null is back to the default. */
export type Typed = string | boolean | ReadonlyArray<Readonly<Record<string, string | boolean>>> | null;

const isTable = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null && !Array.isArray(value);

export const typedOf = (schema: Schema, value: unknown): Typed => {
  switch (kindOf(schema)) {
    case 'switch':
      return value === true;
    case 'lines':
      return Array.isArray(value) ? value.map(String).join('\n') : '';
    case 'entries':
      return Array.isArray(value)
        ? value.filter(isTable).map((row) => Object.fromEntries(Object.entries(row).map(([name, inner]) => [name, typeof inner === 'boolean' ? inner : String(inner ?? '')])))
        : [];
    default:
      return value === null || value === undefined ? '' : String(value);
  }
};

export type Read = { readonly value: unknown } | { readonly wrong: string };

/** What was typed as the value that it stands for, or what is wrong with it. */
export const readTyped = (schema: Schema, typed: Typed): Read => {
  if (typed === null) return { value: null };
  if (typeof typed === 'boolean') return { value: typed };
  if (typeof typed !== 'string') return readEntries(schema, typed);
  switch (kindOf(schema)) {
    case 'number':
      return readNumber(schema, typed.trim());
    case 'lines':
      return readLines(schema, typed);
    case 'choice':
      return { value: typed === '' ? null : (schema.enum?.find((one) => String(one) === typed) ?? typed) };
    default:
      return readText(schema, typed);
  }
};

const readNumber = ({ type, minimum, maximum, default: usual }: Schema, text: string): Read => {
  if (text === '') return usual === undefined ? { value: null } : { wrong: t(type === 'integer' ? 'whole_number' : 'number') };
  if (!(type === 'integer' ? /^-?\d+$/ : /^-?\d*\.?\d+$/).test(text)) return { wrong: t(type === 'integer' ? 'whole_number' : 'number') };
  const value = Number(text);
  if (minimum !== undefined && value < minimum) return { wrong: t('too_small', { least: count(minimum) }) };
  if (maximum !== undefined && value > maximum) return { wrong: t('too_large', { most: count(maximum) }) };
  return { value };
};

const readText = ({ minLength = 0, maxLength, pattern, default: usual }: Schema, text: string): Read => {
  if (text === '' && usual === undefined && minLength === 0 && pattern === undefined) return { value: null };
  if (text.length < minLength) return { wrong: t('too_short') };
  if (maxLength !== undefined && text.length > maxLength) return { wrong: t('too_long', { length: text.length, most: maxLength }) };
  return pattern !== undefined && !matches(pattern, text) ? { wrong: t('pattern') } : { value: text };
};

/** A pattern that this browser cannot read is left to the daemon. */
const matches = (pattern: string, text: string): boolean => {
  try {
    return new RegExp(pattern, 'u').test(text);
  } catch {
    return true;
  }
};

const readLines = ({ items = {}, maxItems }: Schema, text: string): Read => {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
  if (maxItems !== undefined && lines.length > maxItems) return { wrong: t('too_many', { length: lines.length, most: maxItems }) };
  const values: unknown[] = [];
  for (const [index, line] of lines.entries()) {
    const read = readTyped(items, line);
    if ('wrong' in read) return { wrong: t('in_line', { line: index + 1, problem: read.wrong }) };
    values.push(read.value);
  }
  return { value: values };
};

/** What is left empty is left out, so that its default holds. */
const readEntries = ({ items = {}, maxItems }: Schema, rows: ReadonlyArray<Readonly<Record<string, string | boolean>>>): Read => {
  if (maxItems !== undefined && rows.length > maxItems) return { wrong: t('too_many', { length: rows.length, most: maxItems }) };
  const values: Array<Record<string, unknown>> = [];
  for (const [index, row] of rows.entries()) {
    const value: Record<string, unknown> = {};
    for (const [name, schema] of Object.entries(items.properties ?? {})) {
      const typed = row[name] ?? '';
      const isLeftOut = typed === '' && (schema.minLength ?? 0) === 0;
      const read: Read = isLeftOut ? { value: null } : readTyped(schema, typed);
      if ('wrong' in read) return { wrong: t('in_entry', { entry: index + 1, name, problem: read.wrong }) };
      if (read.value !== null) value[name] = read.value;
    }
    values.push(value);
  }
  return { value: values };
};

export const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one ?? null) === JSON.stringify(other ?? null);

const AS_WRITTEN: Readonly<Record<string, string>> = { api: 'API', llm: 'LLM', url: 'URL', urls: 'URLs', ip: 'IP', ws: 'WebSockets', cors: 'CORS', mcp: 'MCP', ssrf: 'SSRF', id: 'ID' };

/** `max_body_bytes` as people read it. */
export const titled = (name: string): string => {
  const text = name
    .split('_')
    .map((word) => AS_WRITTEN[word] ?? word)
    .join(' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
};
