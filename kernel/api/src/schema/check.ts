/** Checks of a value against a JSON Schema where no route and no config section does it: arguments of a tool, a document. */

export type Checked =
  /** `value` has what the schema gives as default; the value that was handed in is left as it was. */
  | { readonly ok: true; readonly value: unknown }
  /** `path` is the field (empty for the whole value); `message` is a sentence with the field and the expected value. */
  | { readonly ok: false; readonly path: readonly string[]; readonly message: string };

/**
 * Schemas may be foreign (draft-07 or 2020-12): unknown keywords and formats validate nothing, `$ref` stays inside, patterns
 * take linear time. A schema that cannot be used throws `schema_…`; what a value is never throws.
 */
export interface Schemas {
  /** The first problem found, or `ok`. `part` is what messages call the whole: `arguments`. */
  check(schema: object, value: unknown, part?: string): Promise<Checked>;
  /** Every place where a value does not fit, as paths, for `violations`; empty when all of it fits, a hundred at most. */
  places(schema: object, value: unknown): Promise<readonly (readonly string[])[]>;
}
