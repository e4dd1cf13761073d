/**
 * A JSON Schema as third parties write it (draft-07 or 2020-12), made safe to compile.
 *
 * F1  It has at most 128 KiB, 64 levels and 1,000 parts: what is compiled is short, however it is written.
 * F2  Nothing is fetched: `$ref` leads to a schema inside the schema itself, else the schema is refused.
 * F3  Keywords and formats that nobody here knows check nothing, and refuse nothing.
 * F4  A schema that refers to itself at one place, or twice for one place, is refused (self-reference.ts).
 *
 * What a check does all the same is counted while it runs (steps.ts).
 */
import type { Dialect } from './ajv.js';
import { isDeeperThan } from './depth.js';
import { schemaErrors } from './errors.js';
import { boundIntegers, copySchema, type SchemaNode } from './schema-copy.js';
import { refuseSelfReference } from './self-reference.js';
import { noteSteps } from './steps.js';

const MAX_SCHEMA_BYTES = 131_072;
const MAX_SCHEMA_DEPTH = 64;
/** Lists between schemas are levels of the document, too. */
const MAX_DOCUMENT_DEPTH = 4 * MAX_SCHEMA_DEPTH;
/** Compiling takes some 50 microseconds for each. */
const MAX_PARTS = 1_000;
/** Each part names its place in the compiled code: long names make it long. */
const CHARS_PER_PART = 512;
const OWN_NAME = 'svc:schema';
const REFERENCES = ['$ref', '$dynamicRef', '$recursiveRef'] as const;
/** Of lists and maps of schemas, each member is a part, a mere `true` as well. */
const MEMBERS = ['properties', 'patternProperties', 'dependentSchemas', 'dependencies', 'dependentRequired', 'allOf', 'anyOf', 'oneOf', 'prefixItems', 'items'] as const;

export interface ForeignSchema {
  readonly schema: SchemaNode;
  readonly dialect: Dialect;
}

/** Throws `schema_too_large`, `schema_too_deep`, `schema_too_many_parts`, `schema_remote_reference`, `schema_reference`, `schema_endless` and `schema_ambiguous`. */
export const foreignSchema = (given: object): ForeignSchema => {
  if (isDeeperThan(given, MAX_DOCUMENT_DEPTH)) throw schemaErrors.too_deep(MAX_SCHEMA_DEPTH);
  const bytes = Buffer.byteLength(JSON.stringify(given));
  if (bytes > MAX_SCHEMA_BYTES) throw schemaErrors.too_large(bytes, MAX_SCHEMA_BYTES);
  let looksOld = false;
  let parts = 0;
  const found = new Map<SchemaNode, string>();
  const declared = '$schema' in given && typeof given.$schema === 'string' ? given.$schema : undefined;
  const schema = copySchema(given, (node, depth, place) => {
    if (depth > MAX_SCHEMA_DEPTH) throw schemaErrors.too_deep(MAX_SCHEMA_DEPTH);
    for (const key of REFERENCES) {
      const target = node[key];
      if (typeof target === 'string' && !target.startsWith('#')) throw schemaErrors.remote_reference(target.slice(0, 200));
    }
    if (Array.isArray(node.items) || 'additionalItems' in node) looksOld = true;
    // Names by which others could refer to it: two schemas may have the same, and nobody may.
    if (typeof node.$id === 'string') delete node.$id;
    if (typeof node.$schema === 'string') delete node.$schema;
    // An asynchronous check answers with a promise, which would pass for a yes.
    delete node.$async;
    parts += partsOf(node) * (1 + place.length / CHARS_PER_PART);
    if (parts > MAX_PARTS) throw schemaErrors.too_many_parts(MAX_PARTS);
    found.set(node, place);
    boundIntegers(node);
    noteSteps(node);
  });
  refuseSelfReference(schema, found);
  // Only with a name can a schema refer to the whole of itself.
  schema.$id = OWN_NAME;
  return { schema, dialect: (declared === undefined ? looksOld : /draft-0[4-7]/.test(declared)) ? 'draft-07' : '2020-12' };
};

/** What says nothing of a value is not compiled. */
const REMARKS = new Set(['title', 'description', 'default', 'example', 'examples', '$comment', 'deprecated', 'readOnly', 'writeOnly']);
/** Parts that make more code than others. */
const LARGE: Readonly<Record<string, number>> = { format: 3, patternProperties: 4, unevaluatedProperties: 4, unevaluatedItems: 4, contains: 3 };

const partsOf = (node: SchemaNode): number =>
  Object.keys(node).reduce((sum, key) => sum + (REMARKS.has(key) ? 0 : (LARGE[key] ?? 1)), 0) + MEMBERS.reduce((sum, key) => sum + membersOf(node[key]) * (LARGE[key] ?? 1), 0);

const membersOf = (value: unknown): number => (typeof value === 'object' && value !== null ? Object.keys(value).length : 0);
