/** Schemas of declarations as the document shows them. */
import { isTable, type TSchema } from '@svc/api';
import { boundIntegers, copySchema } from '../../schema/schema-copy.js';

export type Json = Record<string, unknown>;
export type NamedSchemas = Record<string, Json>;
export type Plain = (schema: TSchema) => Json;

/** Makes schemas plain JSON. One that has a name is listed once and referred to; ids are left out, since they would open scopes of their own. */
export const plainWith = (named: NamedSchemas): Plain => {
  // Many places show the same few schemas.
  const texts = new Map<string, string>();
  const refer = (name: string, schema: Json): Json => {
    const text = JSON.stringify(schema);
    const known = texts.get(name);
    // Two areas may mean two things by one name: then the second stands where it is used.
    if (known !== undefined && known !== text) return schema;
    texts.set(name, text);
    named[name] ??= schema;
    return { $ref: `#/components/schemas/${name}` };
  };
  return (schema) =>
    JSON.parse(JSON.stringify(copySchema(schema, boundIntegers)), (_key, value: unknown) => {
      if (!isTable(value)) return value;
      // What the handler validates itself is documented like what the validator does.
      const { $id: _dropped, 'x-documented': further, 'x-name': name, ...rest } = value;
      const bare = isTable(further) ? { ...rest, ...further } : rest;
      return typeof name === 'string' ? refer(name, bare) : bare;
    }) as Json; // a schema is a JSON object
};
