/**
 * The checks of routes: each schema compiled on its first use.
 * One set of instances per generation: a shared one would keep the code of every reload for ever.
 */
import type { RouteDecl, TSchema } from '@svc/api';
import type { Owner } from '@svc/core';
import type { Ajv, ValidateFunction } from 'ajv';
import { loadAjv } from '../../schema/ajv.js';
import { type Compile, compiledOnce } from '../../schema/compiled-once.js';
import { describeFault } from '../../schema/fault.js';
import { loadLinearPatterns } from '../../schema/linear-pattern.js';
import { boundIntegers, copySchema } from '../../schema/schema-copy.js';
import { httpErrors } from '../errors.js';

interface Instances {
  /** Parameters and queries are text: numbers and booleans are read out of it. */
  readonly text: Ajv;
  readonly body: Ajv;
  /** Replies are checked as they are: nothing is filled in. */
  readonly reply: Compile;
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
  const instances = perOwner.get(owner) ?? (await makeInstances(owner.isRemote === true));
  perOwner.set(owner, instances);
  const replies = new Map<number, ValidateFunction>();
  const compile = (ajv: Ajv, schema: TSchema | undefined): ValidateFunction | undefined => schema && ajv.compile(copySchema(schema, boundIntegers));
  const checks: RouteChecks = {
    params: compile(instances.text, decl.params),
    query: compile(instances.text, decl.query),
    body: compile(instances.body, decl.body),
    reply: (status, body) => checkReply(instances.reply, replies, decl, status, body),
  };
  perRoute.set(decl, checks);
  return checks;
}

/** Only tests check replies, and boot the same areas again and again. */
let ownReplies: Compile | undefined;

/** A pattern of a stranger may take for ever over a short text: theirs are matched in linear time. */
async function makeInstances(isRemote: boolean): Promise<Instances> {
  const make = await loadAjv();
  const options = { verbose: true, ...(isRemote ? { code: { regExp: await loadLinearPatterns() } } : {}) };
  const compileReplies = (): Compile => compiledOnce(make(options));
  if (!isRemote) ownReplies ??= compileReplies();
  return {
    text: make({ ...options, coerceTypes: 'array', useDefaults: true }),
    body: make({ ...options, useDefaults: true }),
    reply: (isRemote ? undefined : ownReplies) ?? compileReplies(),
  };
}

/** Throws `invalid_request` with one line that names the field. `part` is `body`, `query` or `path`. */
export const validate = (check: ValidateFunction, value: unknown, part: 'body' | 'query' | 'path'): void => {
  if (check(value)) return;
  throw httpErrors.invalid_request(describeFault(check.errors?.at(-1), { part, hidesText: part === 'body' }));
};

function checkReply(compile: Compile, replies: Map<number, ValidateFunction>, decl: RouteDecl, status: number, body: unknown): void {
  const declared = decl.responses[status];
  if (!declared) throw new Error(`${decl.id} answered ${status}, which it does not declare`);
  if ('contentType' in declared) return;
  let check = replies.get(status);
  if (!check) {
    check = compile(declared as TSchema); // the other form has a contentType
    replies.set(status, check);
  }
  // What goes over the wire is judged: undefined fields are gone there, and no body at all is declared as null.
  if (check(JSON.parse(JSON.stringify(body) ?? 'null'))) return;
  throw new Error(`${decl.id} answered ${status} with another shape than it declares: ${describeFault(check.errors?.at(-1), { part: 'reply' })}`);
}
