import { defineErrors } from '@svc/api';

/** A schema that cannot be used. What a value does wrong is no error here: it is the answer. */
export const schemaErrors = defineErrors('schema', {
  too_large: { status: 400, retry: false, message: (bytes: number, max: number) => `The schema has ${bytes} bytes; at most ${max} are taken.`, hint: 'Split or simplify it.' },
  too_deep: { status: 400, retry: false, message: (max: number) => `The schema nests deeper than ${max} levels.` },
  remote_reference: {
    status: 400,
    retry: false,
    message: (target: string) => `The schema refers to "${target}", which is not inside it. Remote references are not fetched.`,
    hint: 'Put the part under $defs and refer to it as #/$defs/name.',
  },
  pattern_too_long: { status: 400, retry: false, message: (chars: number, max: number) => `A pattern of the schema has ${chars} characters; at most ${max} are taken.` },
  pattern_unsupported: {
    status: 400,
    retry: false,
    message: (pattern: string) => `The pattern "${pattern}" of the schema cannot be checked in bounded time.`,
    hint: 'Write it without lookahead, lookbehind, back references and large repetitions (RE2 syntax).',
  },
  too_many_parts: {
    status: 400,
    retry: false,
    message: (max: number) => `The schema has more than ${max} parts (schemas and keywords, long names count more).`,
    hint: 'Simplify it, or use several smaller schemas.',
  },
  reference: {
    status: 400,
    retry: false,
    message: (target: string) => `The schema refers to "${target}", which does not exist.`,
    hint: 'Put the part under $defs and refer to it as #/$defs/name.',
  },
  endless: {
    status: 400,
    retry: false,
    message: (place: string) => `The schema at ${place} refers to itself for the same place of the value, so no check by it would end.`,
    hint: 'Refer to it under properties or items.',
  },
  ambiguous: {
    status: 400,
    retry: false,
    message: (place: string) => `The schema at ${place} refers to itself twice for one place of the value, so the time of a check doubles with each level.`,
    hint: 'Give each choice a property with a "const" that tells it from the others, or refer to it once.',
  },
  too_costly: {
    status: 400,
    retry: false,
    message: (max: number) => `The value needs more than ${max} steps to check against its schema.`,
    hint: 'Send less at once. If the value is small, the schema is inefficient and its author can simplify it.',
  },
  invalid: { status: 400, retry: false, message: (why: string) => `The schema is not a JSON Schema: ${why}.` },
});
