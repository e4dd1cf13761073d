/** What the installer validates by schemas of its own: once in the life of a command, mostly. */
import { Ajv, type AnySchemaObject, type Options, type ValidateFunction } from 'ajv';

/** Neither is the schema validated itself, nor are ajv's passes over the code run: together they are half of what compiling takes. */
export const compileSchema = (schema: AnySchemaObject, options: Options = {}): ValidateFunction =>
  new Ajv({ strict: false, meta: false, validateSchema: false, code: { optimize: false }, ...options }).compile(schema);
