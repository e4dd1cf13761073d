/**
 * Schemas that read the same are compiled once, whoever brings them and however often: an extension that is loaded anew
 * brings its own again, and compiling is most of what a check costs.
 */
import type { Ajv, AnySchemaObject, ValidateFunction } from 'ajv';

/** Each is some ten kilobytes of code; all areas together have a few hundred. */
const MAX_KEPT = 1_000;

export type Compile = (schema: AnySchemaObject) => ValidateFunction;

/**
 * A function that compiles what `prepare` makes of a schema, or finds what it compiled before; it keeps the newest MAX_KEPT, and nothing of what it was given.
 * An instance of ajv keeps all that it ever compiled, so `make` is asked for another one after as many.
 */
export const compiledOnce = (make: () => Ajv, prepare: (readable: AnySchemaObject) => AnySchemaObject = (readable) => readable): Compile => {
  const known = new Map<string, ValidateFunction>();
  let ajv = make();
  let compiled = 0;
  return (schema) => {
    const text = JSON.stringify(schema);
    const before = known.get(text);
    if (before) return before;
    if (compiled === MAX_KEPT) {
      ajv = make();
      compiled = 0;
    }
    compiled += 1;
    const readable = prepare(JSON.parse(text));
    const check = ajv.compile(readable);
    // Two schemas may have one $id; it is not by that that they are found again.
    ajv.removeSchema(readable);
    known.set(text, check);
    const [oldest] = known.keys();
    if (known.size > MAX_KEPT && oldest !== undefined) known.delete(oldest);
    return check;
  };
};
