/** Samples of what an operation takes and gives: the examples of the document, and what follows from a schema where it has none. */
import { type Api, type Operation, type Parameter, resolved, type Schema } from './openapi.js';

/** What is nested deeper says nothing new. */
const MAX_DEPTH = 6;

const FORMATS: Readonly<Record<string, string>> = {
  uuid: '0d1f6f0a-4f6c-4b4e-9f57-0c7f4f1f2a61',
  'date-time': '2026-01-15T09:30:00.000Z',
  date: '2026-01-15',
  email: 'alex@example.com',
  uri: 'https://example.com',
  ipv4: '192.0.2.1',
  binary: '…',
  byte: 'aGVsbG8=',
};

const typesOf = ({ type }: Schema): readonly string[] => (type === undefined ? [] : typeof type === 'string' ? [type] : type);

const isNull = ({ type, const: value }: Schema): boolean => type === 'null' || value === null;

export const sampleOf = (given: Schema, schemas: Api['schemas'], depth = 0): unknown => {
  const schema = resolved(given, schemas);
  const [stated] = [schema.const, given.examples?.[0], schema.examples?.[0], schema.default, schema.enum?.[0]].filter((value) => value !== undefined);
  if (stated !== undefined) return stated;
  const choices = schema.oneOf ?? schema.anyOf;
  if (choices) return sampleOf(choices.find((choice) => !isNull(choice)) ?? {}, schemas, depth);
  if (schema.allOf) return Object.assign({}, ...schema.allOf.map((part) => sampleOf(part, schemas, depth)));
  const types = typesOf(schema);
  if (types.includes('object') || schema.properties) return objectOf(schema, schemas, depth);
  if (types.includes('array')) return depth >= MAX_DEPTH || !schema.items ? [] : [sampleOf(schema.items, schemas, depth + 1)];
  if (types.includes('string')) return FORMATS[schema.format ?? ''] ?? 'text';
  if (types.includes('integer') || types.includes('number')) return Math.max(schema.minimum ?? 1, schema.minimum === Number.MIN_SAFE_INTEGER ? 1 : 0, 0);
  if (types.includes('boolean')) return true;
  return types.includes('null') ? null : {};
};

const objectOf = ({ properties = {} }: Schema, schemas: Api['schemas'], depth: number): Record<string, unknown> =>
  depth >= MAX_DEPTH ? {} : Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, sampleOf(property, schemas, depth + 1)]));

/** As text, as it is written into an address or a header. */
export const parameterSample = ({ example, schema }: Parameter, schemas: Api['schemas']): string => {
  const value = example ?? sampleOf(schema, schemas);
  return typeof value === 'string' ? value : JSON.stringify(value);
};

/** What is sent: the parameters by name, and the body. */
export interface Sample {
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** What has to be sent, and of the body the example of that number. */
export const requestSample = (operation: Operation, schemas: Api['schemas'], example = 0): Sample => {
  const of = (place: string) => Object.fromEntries(operation.parameters.filter((one) => one.in === place && one.isNeeded).map((one) => [one.name, parameterSample(one, schemas)]));
  const { body } = operation;
  const value = body && (body.examples[example]?.value ?? (body.contentType === 'application/json' ? sampleOf(body.schema, schemas) : undefined));
  return { path: of('path'), query: of('query'), headers: of('header'), ...(value === undefined ? {} : { body: value }) };
};

/** Path and query with what is given for them. A parameter that begins with `*` may have slashes. */
export const addressWith = (template: string, { path, query }: Pick<Sample, 'path' | 'query'>): string => {
  const filled = template.replaceAll(/\{(\*?)([^}]+)\}/g, (whole, star: string, name: string) => {
    const value = path[name];
    if (value === undefined || value === '') return whole;
    return star === '' ? encodeURIComponent(value) : value.split('/').map(encodeURIComponent).join('/');
  });
  const search = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== '')).toString();
  return search === '' ? filled : `${filled}?${search}`;
};
