/**
 * A JSON Schema as others write it (draft-07 or 2020-12), made safe to compile.
 *
 * F1  It has at most 128 KiB and 64 levels.
 * F2  Nothing is fetched: `$ref` points inside the schema itself, else the schema is refused.
 * F3  Keywords and formats that nobody here knows judge nothing, and refuse nothing.
 *
 * Not bounded: a schema that refers to itself twice at one place takes time that doubles with each level of the value,
 * which is why values are bounded in depth.
 */
import type { Dialect } from './ajv.js';
import { schemaErrors } from './errors.js';
import { boundIntegers, copySchema, type SchemaNode } from './schema-copy.js';

const MAX_SCHEMA_BYTES = 131_072;
const MAX_SCHEMA_DEPTH = 64;
const OWN_NAME = 'svc:schema';
const REFERENCES = ['$ref', '$dynamicRef', '$recursiveRef'] as const;

export interface ForeignSchema {
  readonly schema: SchemaNode;
  readonly dialect: Dialect;
}

/** Throws `schema_too_large`, `schema_too_deep`, `schema_remote_reference`. */
export const foreignSchema = (given: object): ForeignSchema => {
  const bytes = Buffer.byteLength(JSON.stringify(given));
  if (bytes > MAX_SCHEMA_BYTES) throw schemaErrors.too_large(bytes, MAX_SCHEMA_BYTES);
  let looksOld = false;
  const declared = '$schema' in given && typeof given.$schema === 'string' ? given.$schema : undefined;
  const schema = copySchema(given, (node, depth) => {
    if (depth > MAX_SCHEMA_DEPTH) throw schemaErrors.too_deep(MAX_SCHEMA_DEPTH);
    for (const key of REFERENCES) {
      const target = node[key];
      if (typeof target === 'string' && !target.startsWith('#')) throw schemaErrors.remote_reference(target.slice(0, 200));
    }
    if (Array.isArray(node.items) || 'additionalItems' in node) looksOld = true;
    // Names by which others could refer to it: two schemas may have the same, and nobody may.
    if (typeof node.$id === 'string') delete node.$id;
    if (typeof node.$schema === 'string') delete node.$schema;
    boundIntegers(node);
  });
  // Only with a name can a schema refer to the whole of itself.
  schema.$id = OWN_NAME;
  return { schema, dialect: (declared === undefined ? looksOld : /draft-0[4-7]/.test(declared)) ? 'draft-07' : '2020-12' };
};
