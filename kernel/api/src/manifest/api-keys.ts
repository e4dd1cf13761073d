/**
 * Whether a key opens this daemon. Everybody who has to know asks here: who lets callers in, the rule of the
 * open network, the rule of foreign hosts, the command line and doctor. Which settings hold keys their schemas say.
 *
 * K1  Empty and blank are unset, wherever a key may stand.
 * K2  `sha256:<hex>` in place of a key is the hash of one, and never the key itself.
 */
import { isTable, type JsonSchema } from '../schema/schema-walk.js';

const HASH = /^sha256:[0-9a-f]{64}$/i;

/** A text that says something, without the blanks around it; undefined for whatever counts as unset. */
export const textThatIsSet = (value: unknown): string | undefined => (typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined);

export const isKeyHash = (text: string): boolean => HASH.test(text);

/** Whether the schema marks a setting as a key of callers (`x-caller-key`), itself or inside. */
export const marksCallerKey = (schema: JsonSchema): boolean =>
  schema['x-caller-key'] === true || (schema.items !== undefined && marksCallerKey(schema.items)) || Object.values(schema.properties ?? {}).some(marksCallerKey);

/** Whether a setting with this flag, or its environment variable (`x-env`), has a value. */
export const holdsCallerKey = (schema: JsonSchema, value: unknown, env: Readonly<Record<string, string | undefined>>): boolean => {
  if (schema['x-caller-key'] === true) return (textThatIsSet(value) ?? textThatIsSet(env[schema['x-env'] ?? ''])) !== undefined;
  const { items } = schema;
  if (Array.isArray(value)) return items !== undefined && value.some((item) => holdsCallerKey(items, item, env));
  return Object.entries(schema.properties ?? {}).some(([key, part]) => holdsCallerKey(part, isTable(value) ? value[key] : undefined, env));
};
