import { defineErrors } from '@svc/api';

/** A schema that cannot be used. What a value does wrong is no error here: it is the answer. */
export const schemaErrors = defineErrors('schema', {
  too_large: { status: 400, retry: false, message: (bytes: number, max: number) => `The schema has ${bytes} bytes; at most ${max} are taken.`, hint: 'Split it, or describe less in it.' },
  too_deep: { status: 400, retry: false, message: (max: number) => `The schema nests deeper than ${max} levels.` },
  remote_reference: {
    status: 400,
    retry: false,
    message: (target: string) => `The schema refers to "${target}", which is not inside it; nothing is fetched for a schema.`,
    hint: 'Put the part under $defs and refer to it as #/$defs/name.',
  },
  pattern_too_long: { status: 400, retry: false, message: (chars: number, max: number) => `A pattern of the schema has ${chars} characters; at most ${max} are taken.` },
  pattern_unsupported: {
    status: 400,
    retry: false,
    message: (pattern: string) => `The pattern "${pattern}" of the schema cannot be judged in bounded time.`,
    hint: 'Write it without lookahead, lookbehind, back references and large repetitions (RE2 syntax).',
  },
  invalid: { status: 400, retry: false, message: (why: string) => `The schema is not a JSON Schema: ${why}.` },
});
