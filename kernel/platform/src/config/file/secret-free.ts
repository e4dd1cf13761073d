/** config.toml as it may be stored elsewhere: a hash stands for a secret where it serves, and other secrets are left out. */
import { isTable, type JsonSchema, textThatIsSet } from '@svc/api';
import { schemaOf } from '@svc/api/internal';
import { hashOfKey } from './stored-secrets.js';
import { editToml } from './toml-edit.js';
import type { ParseToml } from './toml-parse.js';

interface SecretPlace {
  readonly path: readonly string[];
  readonly value: string;
  /** Undefined: only the value itself serves. */
  readonly hash: string | undefined;
}

type Schemas = Readonly<Record<string, JsonSchema>>;

/** `schemas` are those of the sections, by their name in the file. `leftOut` names the settings without a value. Throws what an edit throws, for a secret that cannot be taken out. */
export const withoutSecretText = (text: string, schemas: Schemas, parse: ParseToml): { text: string; leftOut: string[] } => {
  let edited = text;
  const leftOut: string[] = [];
  for (const { hash, path } of secretsIn(parse(text), schemas)) {
    edited = editToml(edited, path, hash, parse);
    if (hash === undefined) leftOut.push(path.join('.'));
  }
  return { text: edited, leftOut };
};

/** `text` with the secrets that `original` has in plain text at places where `text` has the hash of that value, or none. */
export const withSecretTextOf = (text: string, original: string, schemas: Schemas, parse: ParseToml): string => {
  let edited = text;
  for (const { hash, path, value } of secretsIn(parse(original), schemas)) {
    const there = path.reduce<unknown>((found, name) => (isTable(found) ? found[name] : undefined), parse(edited));
    if (there === undefined ? hash === undefined : there === hash) edited = editToml(edited, path, value, parse);
  }
  return edited;
};

const secretsIn = (tree: unknown, schemas: Schemas): SecretPlace[] => {
  if (!isTable(tree)) return [];
  return Object.entries(tree).flatMap(([name, value]) => (Object.hasOwn(schemas, name) ? secretsBelow(schemas[name], value, [name]) : []));
};

const secretsBelow = (schema: JsonSchema | undefined, value: unknown, path: readonly string[]): SecretPlace[] => {
  if (schema === undefined) return [];
  if (schema['x-secret'] === true) {
    const secret = textThatIsSet(value);
    // The address of a database is no key: its hash would name another database.
    return secret === undefined ? [] : [{ path, value: secret, hash: schema['x-caller-key'] === true && schema['x-hash-serves'] === true ? hashOf(secret) : undefined }];
  }
  if (!isTable(value)) return [];
  return Object.entries(value).flatMap(([name, inner]) => secretsBelow(schemaOf(schema, name), inner, [...path, name]));
};

const hashOf = (secret: string): string => (/^sha256:[0-9a-fA-F]{64}$/.test(secret) ? secret : hashOfKey(secret));
