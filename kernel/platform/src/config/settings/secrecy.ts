/**
 * Which settings are secret, how they look to a reader, and which of them no program may change.
 *
 * S1  The value of a secret is in no answer: `***` stands for one that is set.
 * S2  A setting that is secret, names where a secret is, or is marked `x-by-hand` is changed in the file by a person.
 */
import { isTable, type JsonSchema, textThatIsSet } from '@svc/api';
import { schemaOf } from '@svc/api/internal';

export const SET = '***';
export const NOT_SET = 'not set';

/** The last name of a setting that holds a secret, whatever its schema says. */
const SECRET_NAME = /(^|_)(key|token|secret|password|pass|passphrase|credentials?)$/i;
const POINTER_NAME = /(^|_)env$/i;
const IDENTITY_NAME = /(^|_)client_id$/i;
const SWITCH_NAME = /(^|_)bypass$/i;
/** What people paste in the place of a variable's name is shown no more than the secret itself. */
const VARIABLE = /^[A-Z_][A-Z0-9_]*$/;

type Schemas = readonly (JsonSchema | undefined)[];

const isSecret = (name: string, schemas: Schemas): boolean => SECRET_NAME.test(name) || schemas.some((schema) => schema?.['x-secret'] === true || schema?.['x-caller-key'] === true);

/** Whether anything in it is a secret. */
const holdsSecret = (schema: JsonSchema): boolean =>
  Object.entries(schema.properties ?? {}).some(([name, part]) => isSecret(name, [part]) || holdsSecret(part)) ||
  (schema.items !== undefined && (isSecret('', [schema.items]) || holdsSecret(schema.items)));

/** What a reader sees of a setting. Null where it has no value. */
export const shownValue = (path: readonly string[], schemas: Schemas, value: unknown, scrub: (text: string) => string): unknown => {
  const name = path.at(-1) ?? '';
  const schema = schemas.at(-1) ?? {};
  if (isSecret(name, schemas)) return isSet(value) ? SET : NOT_SET;
  if (value === undefined) return null;
  if (POINTER_NAME.test(name) && typeof value === 'string') return value === '' || VARIABLE.test(value) ? value : SET;
  if (Array.isArray(value)) {
    // Of people with keys, how many and who: not even whether each has one.
    if (schema.items && holdsSecret(schema.items)) return { count: value.length, names: value.flatMap((item) => (isTable(item) && typeof item.name === 'string' ? [scrub(item.name)] : [])) };
    return value.map((item) => shownValue([...path, ''], [schema.items], item, scrub));
  }
  if (isTable(value)) return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shownValue([...path, key], [schemaOf(schema, key)], inner, scrub)]));
  return typeof value === 'string' ? scrub(value) : value;
};

/** Whether the setting is one whose value is not shown. */
export const isHidden = (path: readonly string[], schemas: Schemas): boolean => isSecret(path.at(-1) ?? '', schemas) || holdsSecret(schemas.at(-1) ?? {});

const isSet = (value: unknown): boolean => (typeof value === 'string' ? textThatIsSet(value) !== undefined : value !== undefined && value !== null);

/** Why only a person changes it, to stand after "because"; undefined where programs may. */
export const whyByHand = (path: readonly string[], schemas: Schemas): string | undefined => {
  const marked = schemas.find((schema) => schema?.['x-by-hand'] !== undefined)?.['x-by-hand'];
  if (marked !== undefined) return marked;
  const name = path.at(-1) ?? '';
  if (isSecret(name, schemas)) return 'it is a secret, and a program writes none into a file';
  if (POINTER_NAME.test(name)) return 'it says where a secret comes from';
  if (IDENTITY_NAME.test(name)) return 'it says as whom this daemon signs in elsewhere';
  if (SWITCH_NAME.test(name)) return 'it takes a check away';
  return undefined;
};

/** The same of what stands inside a value that is written as a whole: a list of tables. */
export const whyByHandInside = (path: readonly string[], schema: JsonSchema | undefined, value: unknown): string | undefined => {
  const members = Array.isArray(value)
    ? value.map((item) => ['', schema?.items, item] as const)
    : isTable(value)
      ? Object.entries(value).map(([key, inner]) => [key, schema && schemaOf(schema, key), inner] as const)
      : [];
  for (const [key, part, inner] of members) {
    const why = (isSet(inner) && inner !== '' && key !== '' ? whyByHand([...path, key], [part]) : undefined) ?? whyByHandInside([...path, key], part, inner);
    if (why !== undefined) return key === '' ? why : `${key} in it is for a person to write: ${why}`;
  }
  return undefined;
};
