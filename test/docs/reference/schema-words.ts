/** What a JSON Schema says of one key, in the words of a table. */
import type { JsonSchema } from '@svc/api';

/** With what only a reader of words asks for. */
export interface KeySchema extends Omit<JsonSchema, 'properties' | 'patternProperties' | 'items' | 'anyOf'> {
  readonly properties?: Readonly<Record<string, KeySchema>>;
  readonly patternProperties?: Readonly<Record<string, KeySchema>>;
  readonly items?: KeySchema;
  readonly anyOf?: readonly KeySchema[];
  readonly oneOf?: readonly KeySchema[];
  readonly description?: string;
  /** Of keys of agent.toml: extensions/agents/src/manifest/manifest-keys.ts. */
  readonly 'x-effect'?: 'acts' | 'shown' | 'waits' | 'refused';
  readonly 'x-why'?: string;
  readonly 'x-allowed'?: readonly unknown[];
}

const quoted = (value: unknown): string => `\`${typeof value === 'string' ? JSON.stringify(value) : String(value)}\``;

export const typeOf = (schema: KeySchema): string => {
  if (schema.enum) return schema.enum.map(quoted).join(', ');
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return [...new Set(choices.map(typeOf))].join(' or ');
  if (schema.type === 'integer' || schema.type === 'number') return `${schema.type === 'integer' ? 'whole number' : 'number'}${rangeOf(schema)}`;
  if (schema.type === 'boolean') return 'true or false';
  if (schema.type === 'string') return 'text';
  if (schema.type === 'array') return `list of ${manyOf(schema.items)}`;
  if (schema.type === 'object') return 'table';
  return 'any';
};

const manyOf = (items: KeySchema | undefined): string => {
  if (items?.type === 'object') return 'tables';
  if (items?.anyOf?.some((one) => one.enum)) return 'names';
  return items?.type === 'string' ? 'texts' : 'values';
};

/** Beyond this a bound says only that there is one. */
const FAR = 1_000_000_000_000;

const rangeOf = ({ minimum, maximum }: KeySchema): string => {
  if (minimum === undefined && maximum === undefined) return '';
  if (maximum === undefined || maximum >= FAR) return minimum === undefined ? '' : `, ${minimum} or more`;
  return `, ${minimum ?? '…'} to ${maximum}`;
};

/** As it would stand in the file. An empty text says no more than that nothing is set. */
export const defaultOf = (schema: KeySchema): string => {
  const value: unknown = schema.default;
  if (value === undefined || value === '') return '';
  if (Array.isArray(value)) return value.length === 0 ? '`[]`' : `\`[${value.map((one) => JSON.stringify(one)).join(', ')}]\``;
  if (typeof value === 'object') return '';
  return quoted(value);
};
