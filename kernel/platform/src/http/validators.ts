/**
 * ajv, loaded with the first request that needs it; each schema compiled on its first use.
 * One set of instances per generation: a shared one would keep the code of every reload for ever.
 */
import type { RouteDecl, TSchema } from '@svc/api';
import type { Owner } from '@svc/core';
import type { Ajv2020, ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import { httpErrors } from './errors.js';

interface Instances {
  /** Parameters and queries are text: numbers and booleans are read out of it. */
  readonly text: Ajv2020;
  readonly body: Ajv2020;
  /** Replies are checked as they are: nothing is filled in. */
  readonly reply: Ajv2020;
}

export interface RouteChecks {
  readonly params: ValidateFunction | undefined;
  readonly query: ValidateFunction | undefined;
  readonly body: ValidateFunction | undefined;
  /** Throws when the reply is not what the route declares. */
  reply(status: number, body: unknown): void;
}

export type Validators = (owner: Owner, decl: RouteDecl) => RouteChecks | Promise<RouteChecks>;

export const createValidators = (): Validators => {
  const perOwner = new WeakMap<Owner, Instances>();
  const perRoute = new WeakMap<RouteDecl, RouteChecks>();
  return (owner, decl) => perRoute.get(decl) ?? load(perOwner, perRoute, owner, decl);
};

async function load(perOwner: WeakMap<Owner, Instances>, perRoute: WeakMap<RouteDecl, RouteChecks>, owner: Owner, decl: RouteDecl): Promise<RouteChecks> {
  const instances = perOwner.get(owner) ?? (await makeInstances());
  perOwner.set(owner, instances);
  const replies = new Map<number, ValidateFunction>();
  const checks: RouteChecks = {
    params: decl.params && instances.text.compile(decl.params),
    query: decl.query && instances.text.compile(decl.query),
    body: decl.body && instances.body.compile(decl.body),
    reply: (status, body) => checkReply(instances.reply, replies, decl, status, body),
  };
  perRoute.set(decl, checks);
  return checks;
}

async function makeInstances(): Promise<Instances> {
  const [{ Ajv2020: Ajv }, formats] = await Promise.all([import('ajv/dist/2020.js'), import('ajv-formats')]);
  // A CommonJS package: the function is its default's default.
  const addFormats = formats.default.default;
  // No meta-schema: the declarations are typed values of our own build, and loading it costs more than all else here.
  const base = { allErrors: false, strict: false, verbose: true, meta: false, validateSchema: false, addUsedSchema: false } as const;
  const make = (options: object) => addFormats(new Ajv({ ...base, ...options })) as Ajv2020; // it returns what it was given
  return { text: make({ coerceTypes: 'array', useDefaults: true }), body: make({ useDefaults: true }), reply: make({}) };
}

/** Throws `invalid_request` with one line that names the field. `part` is `body`, `query` or `path`. */
export const validate = (check: ValidateFunction, value: unknown, part: string): void => {
  if (check(value)) return;
  throw httpErrors.invalid_request(describeFault(check.errors?.at(-1), part));
};

/** `limit in the query must be <= 500, got 900`. */
export const describeFault = (fault: ErrorObject | undefined, part: string): string => {
  if (!fault) return `The ${part} is not what this call takes.`;
  const path = fault.instancePath.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~');
  // ajv types params per keyword; each branch reads those of its own.
  const params = fault.params as Record<string, unknown>;
  const under = path === '' ? '' : `${path}.`;
  if (fault.keyword === 'required') return `${under}${params.missingProperty} is missing in the ${part}.`;
  if (fault.keyword === 'additionalProperties' || fault.keyword === 'unevaluatedProperties') {
    return `${under}${params.additionalProperty ?? params.unevaluatedProperty} is not a field of the ${part}.`;
  }
  const subject = path === '' ? `The ${part}` : `${path} in the ${part}`;
  return `${subject} ${expected(fault, params)}, got ${got(fault.data, part)}.`;
};

const expected = (fault: ErrorObject, params: Record<string, unknown>): string => {
  if (fault.keyword === 'type') return `must be ${[params.type].flat().join(' or ')}`;
  if (fault.keyword === 'enum') return `must be one of ${(params.allowedValues as unknown[]).map((value) => JSON.stringify(value)).join(', ')}`; // enum's params
  if (fault.keyword === 'const') return `must be ${JSON.stringify(params.allowedValue)}`;
  if (fault.keyword === 'format') return `must be a valid ${params.format}`;
  if (fault.keyword === 'anyOf' || fault.keyword === 'oneOf') {
    const choices = (fault.schema as Array<{ const?: unknown; type?: string }>).map((choice) => (choice.const === undefined ? choice.type : JSON.stringify(choice.const))); // the keyword's own schema
    return choices.every((choice) => choice !== undefined) ? `must be one of ${[...new Set(choices)].join(', ')}` : 'has none of the allowed forms';
  }
  return fault.message ?? 'is not allowed';
};

/** Text of a body is not repeated: it may be a secret. */
const got = (value: unknown, part: string): string => {
  if (typeof value === 'string') return part === 'body' ? `text of ${value.length} characters` : JSON.stringify(value.slice(0, 60));
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return String(value);
  return Array.isArray(value) ? `a list of ${value.length}` : typeof value === 'object' ? 'an object' : 'nothing';
};

function checkReply(ajv: Ajv2020, replies: Map<number, ValidateFunction>, decl: RouteDecl, status: number, body: unknown): void {
  const declared = decl.responses[status];
  if (!declared) throw new Error(`${decl.id} answered ${status}, which it does not declare`);
  if ('contentType' in declared) return;
  let check = replies.get(status);
  if (!check) {
    check = ajv.compile(declared as TSchema); // the other form has a contentType
    replies.set(status, check);
  }
  // What goes over the wire is judged: undefined fields are gone there, and no body at all is declared as null.
  if (!check(JSON.parse(JSON.stringify(body) ?? 'null'))) throw new Error(`${decl.id} answered ${status} with another shape than it declares: ${describeFault(check.errors?.at(-1), 'reply')}`);
}
