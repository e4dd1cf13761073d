/**
 * Schemas that read the same are compiled once, whoever brings them and however often: an extension that is loaded anew
 * brings its own again, and compiling is most of what a check costs.
 */
import type { Ajv, AnySchemaObject, ValidateFunction } from 'ajv';

/** Each is some ten kilobytes of code; all areas together have a few hundred. */
const MAX_KEPT = 1_000;

export type Compile = (schema: AnySchemaObject) => ValidateFunction;

/** A function that compiles by `ajv`, or finds what it compiled before; it keeps the newest MAX_KEPT, and nothing of what it was given. */
export const compiledOnce = (ajv: Ajv): Compile => {
  const known = new Map<string, ValidateFunction>();
  return (schema) => {
    const text = JSON.stringify(schema);
    const before = known.get(text);
    if (before) return before;
    const readable: AnySchemaObject = JSON.parse(text);
    const check = ajv.compile(readable);
    // Two schemas may have one $id; it is not by that that they are found again.
    ajv.removeSchema(readable);
    known.set(text, check);
    const [oldest] = known.keys();
    if (known.size > MAX_KEPT && oldest !== undefined) known.delete(oldest);
    return check;
  };
};
