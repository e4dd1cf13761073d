/** What ajv found, in one line that names the field, and as a path. */
import { isTable, NOT_BLANK } from '@svc/api';
import type { ErrorObject } from 'ajv';

const MAX_SHOWN_CHARS = 60;

export interface FaultWords {
  /** What the whole is called: `body`, `query`, `path`, `arguments`. */
  readonly part: string;
  /** Text of it is not repeated: it may be a secret. */
  readonly hidesText?: boolean;
}

/** `limit in the query must be <= 500, got 900.` */
export const describeFault = (fault: ErrorObject | undefined, words: FaultWords): string => {
  const { part } = words;
  if (!fault) return `The ${part} is invalid.`;
  const path = pathOf(fault.instancePath).join('.');
  // ajv types params per keyword; each branch reads those of its own.
  const params: Record<string, unknown> = fault.params;
  const under = path === '' ? '' : `${path}.`;
  if (fault.keyword === 'required') return `${under}${params.missingProperty} is missing in the ${part}.`;
  if (fault.keyword === 'additionalProperties' || fault.keyword === 'unevaluatedProperties') {
    return `${under}${params.additionalProperty ?? params.unevaluatedProperty} is not a field of the ${part}.`;
  }
  const subject = path === '' ? `The ${part}` : `${path} in the ${part}`;
  return `${subject} ${expected(fault, params)}, got ${got(fault.data, words)}.`;
};

/** The field that a fault is about: a missing one is named itself. */
export const placeOf = (fault: ErrorObject): readonly string[] => {
  const path = pathOf(fault.instancePath);
  return fault.keyword === 'required' ? [...path, String(fault.params.missingProperty)] : path;
};

const pathOf = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));

const expected = (fault: ErrorObject, params: Record<string, unknown>): string => {
  if (fault.keyword === 'type') return `must be ${[params.type].flat().join(' or ')}`;
  if (fault.keyword === 'enum' && Array.isArray(params.allowedValues)) return `must be one of ${params.allowedValues.map((value) => JSON.stringify(value)).join(', ')}`;
  if (fault.keyword === 'const') return `must be ${JSON.stringify(params.allowedValue)}`;
  if (fault.keyword === 'pattern') return formOf(fault);
  if (fault.keyword === 'format') return `must be a valid ${params.format}`;
  if ((fault.keyword === 'anyOf' || fault.keyword === 'oneOf') && Array.isArray(fault.schema)) {
    const choices = [...new Set(fault.schema.map(wordsOf))];
    if (choices.some((choice) => choice === undefined)) return 'has none of the allowed forms';
    const isOfValues = fault.schema.every((choice) => choice?.const !== undefined);
    return isOfValues ? `must be one of ${choices.join(', ')}` : `must be ${choices.join(', or ')}`;
  }
  return fault.message ?? 'is not allowed';
};

/** A pattern tells few people anything: what the schema says of the field does, and an example. */
const formOf = ({ parentSchema: schema, params, message = 'has another form than expected' }: ErrorObject): string => {
  if (params.pattern === NOT_BLANK.schema.pattern) return 'must be more than spaces';
  const { description, examples }: Readonly<Record<string, unknown>> = isTable(schema) ? schema : {};
  const [example]: readonly unknown[] = Array.isArray(examples) ? examples : [];
  const expected = typeof description === 'string' ? `does not have the expected form (${description})` : message;
  return example === undefined ? expected : `${expected}, such as ${JSON.stringify(example)}`;
};

const NAMES: Readonly<Record<string, string>> = { string: 'text', boolean: 'true or false', null: 'null', array: 'a list', object: 'an object' };

interface Choice {
  readonly const?: unknown;
  readonly type?: string;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** `a number from 0 to 100`; undefined for what one word does not say. */
const wordsOf = (choice: Choice | undefined): string | undefined => {
  if (choice?.const !== undefined) return JSON.stringify(choice.const);
  const { type = '', minimum, maximum } = choice ?? {};
  if (type !== 'number' && type !== 'integer') return NAMES[type];
  const name = type === 'integer' ? 'a whole number' : 'a number';
  if (minimum !== undefined) return `${name}${maximum === undefined ? ` of at least ${minimum}` : ` from ${minimum} to ${maximum}`}`;
  return maximum === undefined ? name : `${name} of at most ${maximum}`;
};

const got = (value: unknown, { hidesText }: FaultWords): string => {
  if (typeof value === 'string') return hidesText ? `text of ${value.length} characters` : JSON.stringify(value.slice(0, MAX_SHOWN_CHARS));
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return String(value);
  return Array.isArray(value) ? `a list of ${value.length}` : typeof value === 'object' ? 'an object' : 'nothing';
};
