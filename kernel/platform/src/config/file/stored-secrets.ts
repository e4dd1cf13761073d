/**
 * Secrets among the settings: config.toml may hold them, a file that the daemon writes by itself may not.
 * Where a hash serves it stands in for the value; elsewhere the value is left out.
 */
import { createHash } from 'node:crypto';
import { isKeyHash, textThatIsSet, isTable, type JsonSchema } from '@svc/api';
import { schemaOf } from '@svc/api/internal';

/** The form in which a key may be written down. */
export const hashOfKey = (key: string): string => `sha256:${createHash('sha256').update(key).digest('hex')}`;

/** A copy without secrets; `undefined` when nothing of it may be kept. `isWithheld` when it differs. */
export const withoutSecrets = (schema: JsonSchema, value: unknown): { value: unknown; isWithheld: boolean } => {
  let isWithheld = false;
  const visit = (part: JsonSchema | undefined, inner: unknown): unknown => {
    if (part?.['x-secret'] === true && textThatIsSet(inner) !== undefined) {
      const kept = part['x-hash-serves'] === true ? hashFor(inner) : undefined;
      if (kept !== inner) isWithheld = true;
      return kept;
    }
    if (Array.isArray(inner)) return inner.map((item) => visit(part?.items, item));
    if (!isTable(inner)) return inner;
    const members = Object.entries(inner).map(([key, member]) => [key, visit(part && schemaOf(part, key), member)] as const);
    return Object.fromEntries(members.filter(([, member]) => member !== undefined));
  };
  return { value: visit(schema, value), isWithheld };
};

/** `kept` with the secrets that `original`, the same setting in the file, has at those places. */
export const withSecretsOf = (schema: JsonSchema, kept: unknown, original: unknown): unknown => {
  if (schema['x-secret'] === true) return original ?? kept;
  if (Array.isArray(original) && Array.isArray(kept)) return kept.map((item, index) => (schema.items ? withSecretsOf(schema.items, item, original[index]) : item));
  if (!isTable(original) || !(isTable(kept) || kept === undefined)) return kept;
  const out: Record<string, unknown> = Object.assign(Object.create(null), kept);
  for (const [key, inner] of Object.entries(original)) {
    const part = schemaOf(schema, key);
    const value = part && withSecretsOf(part, out[key], inner);
    if (value !== undefined) out[key] = value;
  }
  return out;
};

export const redactSecrets = (schema: JsonSchema | undefined, value: unknown, redact: (secret: string) => void): void => {
  if (!schema) return;
  if (schema['x-secret'] === true && typeof value === 'string') redact(value);
  if (isTable(value) || Array.isArray(value)) for (const [key, inner] of Object.entries(value)) redactSecrets(schemaOf(schema, key), inner, redact);
};

const hashFor = (value: unknown): string | undefined => {
  const text = textThatIsSet(value);
  if (text === undefined) return undefined;
  return isKeyHash(text) ? text : hashOfKey(text);
};
