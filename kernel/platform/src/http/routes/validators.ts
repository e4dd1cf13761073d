/**
 * The checks of routes: each schema compiled on its first use, and the newest ones kept for an area that is loaded again.
 * What third parties bring is compiled for each generation, in an instance of its own.
 */
import type { RouteDecl, TSchema } from '@svc/api';
import type { Contributor } from '@svc/core';
import type { Options } from 'ajv';
import { loadAjv } from '../../schema/ajv.js';
import { type Compile, compiledOnce } from '../../schema/compiled-once.js';
import { describeFault, placeOf } from '../../schema/fault.js';
import { loadForeignCompile } from '../../schema/foreign-check.js';
import { boundIntegers, copySchema } from '../../schema/schema-copy.js';
import type { Check } from '../../schema/steps.js';
import { httpErrors } from '../errors.js';

interface Instances {
  /** Parameters and queries are text: numbers and booleans are read out of it. */
  text(schema: TSchema): Check;
  body(schema: TSchema): Check;
  /** Replies are checked as they are: nothing is filled in. */
  reply(schema: TSchema): Check;
}

export interface RouteChecks {
  readonly params: Check | undefined;
  readonly query: Check | undefined;
  readonly body: Check | undefined;
  /** Throws when the reply is not what the route declares. */
  reply(status: number, body: unknown): void;
}

export type Validators = (owner: Contributor, decl: RouteDecl) => RouteChecks | Promise<RouteChecks>;

export const createValidators = (): Validators => {
  const perOwner = new WeakMap<Contributor, Instances>();
  const perRoute = new WeakMap<RouteDecl, RouteChecks>();
  return (owner, decl) => perRoute.get(decl) ?? load(perOwner, perRoute, owner, decl);
};

async function load(perOwner: WeakMap<Contributor, Instances>, perRoute: WeakMap<RouteDecl, RouteChecks>, owner: Contributor, decl: RouteDecl): Promise<RouteChecks> {
  const instances = perOwner.get(owner) ?? (await makeInstances(owner.isRemote === true));
  perOwner.set(owner, instances);
  const replies = new Map<number, Check>();
  const checks: RouteChecks = {
    params: decl.params && instances.text(decl.params),
    query: decl.query && instances.text(decl.query),
    body: decl.body && instances.body(decl.body),
    reply: (status, body) => checkReply(instances, replies, decl, status, body),
  };
  perRoute.set(decl, checks);
  return checks;
}

const TEXT: Options = { coerceTypes: 'array', useDefaults: true };
const BODY: Options = { useDefaults: true };

/** For what is shipped. Only the newest schemas are kept: those of a reload that changed them are forgotten in time. */
const loadOwn = async (): Promise<Instances> => {
  const make = await loadAjv();
  const bounded = (options: Options): Compile =>
    compiledOnce(
      () => make({ verbose: true, ...options }),
      (schema) => copySchema(schema, boundIntegers),
    );
  return { text: bounded(TEXT), body: bounded(BODY), reply: compiledOnce(() => make({ verbose: true })) };
};

let own: Promise<Instances> | undefined;

/** A schema of a third party may take for ever over a short text: theirs are bounded, and what a check does is counted. */
async function makeInstances(isRemote: boolean): Promise<Instances> {
  if (!isRemote) {
    own ??= loadOwn();
    return own;
  }
  const compile = await loadForeignCompile();
  return { text: (schema) => compile(schema, TEXT), body: (schema) => compile(schema, BODY), reply: (schema) => compile(schema, {}) };
}

/** Throws `invalid_request` with one line that names the field, which `details` name for programs: `{"in":"body","path":"size.width"}`. `part` is `body`, `query` or `path`. */
export const validate = (check: Check, value: unknown, part: 'body' | 'query' | 'path'): void => {
  if (check(value)) return;
  const fault = check.errors?.at(-1);
  const error = httpErrors.invalid_request(describeFault(fault, { part, hidesText: part === 'body' }));
  throw fault === undefined ? error : error.with({ details: { in: part, path: placeOf(fault).join('.') } });
};

function checkReply({ reply: compile }: Instances, replies: Map<number, Check>, decl: RouteDecl, status: number, body: unknown): void {
  const declared = decl.responses[status];
  if (!declared) throw new Error(`${decl.id} answered ${status}, which it does not declare`);
  if ('contentType' in declared) return;
  let check = replies.get(status);
  if (!check) {
    check = compile(declared as TSchema); // the other form has a contentType
    replies.set(status, check);
  }
  // What goes over the wire is validated: undefined fields are gone there, and no body at all is declared as null.
  if (check(JSON.parse(JSON.stringify(body) ?? 'null'))) return;
  throw new Error(`${decl.id} answered ${status} with another shape than it declares: ${describeFault(check.errors?.at(-1), { part: 'reply' })}`);
}
