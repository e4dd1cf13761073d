/** The routes of a resource: its operations and its actions. */
import { type TObject, type TSchema, Type, Uuid } from '../schema/schema.js';
import { REVISION_TAG } from '../schema/text-forms.js';
import { type Req, reply, type RouteDecl } from '../http/http.js';
import { routeGroup } from '../http/route-group.js';
import type { Reply } from '../http/reply.js';
import type { RunSubject } from '../journal.js';
import type { ActionSpec } from './actions.js';
import type { Call, Handlers } from './calls.js';
import { collectionErrors } from './errors.js';
import { missingField, withFirstNames } from './fields.js';
import type { Found } from './list.js';
import { pageOfRows } from './rows-in-memory.js';
import type { AnyResource } from './resource.js';
import {
  actionId,
  actionMethod,
  actionPath,
  type AnyResourceSpec,
  itemPathOf,
  keyOf,
  manyOf,
  oneOf,
  operationId,
  operationOf,
  type OperationSpec,
  snakeCase,
  updateMethod,
  type Verb,
} from './spec.js';

type ActionHandler = (call: Call) => unknown;

export interface Served {
  readonly resource: AnyResource;
  readonly handlers: Partial<Handlers>;
  readonly actions: Readonly<Record<string, ActionHandler>>;
  /** Rows of a table: they have revisions, and their receipts are committed with them. */
  readonly isTable: boolean;
  /** What an item is about, for receipts. */
  about?(item: Readonly<Record<string, unknown>>): RunSubject;
}

const IfMatch = Type.Object({
  'If-Match': Type.Optional(Type.String({ ...REVISION_TAG.schema, description: 'The ETag that the change is based on: refused with 412 where the item was changed since' })),
});

export const routesOf = (served: Served): RouteDecl[] => {
  const { spec } = served.resource;
  const verbs: readonly Verb[] = ['list', 'create', 'get', 'update', 'replace', 'delete'];
  const actions = Object.entries(spec.actions ?? {}).map(([name, action]) => actionRoute(served, name, action));
  return [...verbs.flatMap((verb) => operationRoute(served, verb)), ...actions];
};

const ABOUT_ROWS: Readonly<Record<Verb, string>> = {
  list: 'Paged by `limit` and `offset`, or by `after` with `next` of the previous page, which neither repeats nor skips an item while others are added or deleted. Owners and admins see all items, everyone else their own.',
  create: 'With an `Idempotency-Key` the same request creates one item.',
  get: 'Answers with an `ETag`. Send it as `If-Match` with a change, to be refused when somebody else was quicker.',
  update: 'Changes the fields that the body names and leaves the others. With the `ETag` of GET in `If-Match` the change is refused with 412 when somebody else was quicker.',
  replace: 'Sets all fields: those that the body leaves out get their defaults.',
  delete: 'Deletes it for good. With the `ETag` of GET in `If-Match` it is refused with 412 when somebody else changed it since.',
};
const ABOUT: Readonly<Record<Verb, string | undefined>> = {
  list: 'Paged by `limit` and `offset`, or by `after` with `next` of the previous page.',
  create: undefined,
  get: undefined,
  update: 'Changes the fields that the body names and leaves the others.',
  replace: ABOUT_ROWS.replace,
  delete: undefined,
};

const SUMMARIES: Readonly<Record<Verb, (spec: AnyResourceSpec) => string>> = {
  list: (spec) => `List ${manyOf(spec)}`,
  create: (spec) => `Create ${oneOf(spec)}`,
  get: (spec) => `Get ${oneOf(spec)}`,
  update: (spec) => `Update ${oneOf(spec)}`,
  replace: (spec) => `Replace ${oneOf(spec)}`,
  delete: (spec) => `Delete ${oneOf(spec)}`,
};
const PAST: Readonly<Partial<Record<Verb, string>>> = { create: 'created', update: 'updated', replace: 'updated', delete: 'deleted' };
const METHODS = { list: 'GET', create: 'POST', get: 'GET', replace: 'PUT', delete: 'DELETE' } as const;

const operationRoute = (served: Served, verb: Verb): RouteDecl[] => {
  const { resource, isTable } = served;
  const { spec } = resource;
  const operation = operationOf(spec, verb);
  if (operation === undefined) return [];
  const { answer, errors = [], isBlind: _blind, method, path, query, status = verb === 'create' ? (spec.createdStatus ?? 201) : 200, audit, ...said } = operation;
  const isList = verb === 'list' || verb === 'create';
  const where = path ?? (isList ? spec.path : itemPathOf(spec));
  const past = PAST[verb];
  const about = isTable ? ABOUT_ROWS[verb] : ABOUT[verb];
  const params = paramsOf(spec, where);
  const body = verb === 'create' || verb === 'replace' ? resource.draft : verb === 'update' ? resource.change : undefined;
  const seeks = verb === 'list' && query === undefined ? resource.list.query : query;
  return [
    routeGroup({ area: spec.area })({
      id: operationId(spec, verb),
      method: method ?? (verb === 'update' ? updateMethod(spec) : METHODS[verb]),
      path: where,
      summary: SUMMARIES[verb](spec),
      ...(about === undefined ? {} : { description: about }),
      ...(verb === 'create' && isTable ? { idempotent: true } : {}),
      ...(past === undefined || audit === false ? {} : { audit: audit ?? `${snakeCase(spec.one)}_${past}` }),
      ...said,
      ...(params === undefined ? {} : { params }),
      ...(seeks === undefined ? {} : { query: seeks }),
      ...(body === undefined ? {} : { body }),
      ...(isTable && ['update', 'replace', 'delete'].includes(verb) ? { headers: IfMatch } : {}),
      errors: [...usualErrors(served, verb), ...errors],
      responses: { [status]: answer ?? usualAnswer(resource, verb) },
      handler: operationHandler(served, verb, operation, status),
    } as Parameters<ReturnType<typeof routeGroup>>[0]),
  ];
};

const usualErrors = ({ resource: { spec }, isTable }: Served, verb: Verb): number[] => {
  const parent = spec.under === undefined ? [] : [404];
  if (verb === 'list') return parent;
  if (verb === 'create') return isTable ? [409, ...parent] : parent;
  if (verb === 'get' || !isTable) return [404];
  return verb === 'delete' ? [404, 412] : [404, 409, 412];
};

const usualAnswer = ({ deleted, item, list }: AnyResource, verb: Verb): TSchema => (verb === 'list' ? list.answer : verb === 'delete' ? deleted : item);

/** Of a path: the key, what the items stand below, and other names as text. */
const paramsOf = (spec: AnyResourceSpec, path: string): TObject | undefined => {
  const names = [...path.matchAll(/\{\*?([^}]+)\}/g)].map(([, name = '']) => name);
  if (names.length === 0) return undefined;
  return Type.Object(Object.fromEntries(names.map((name) => [name, paramOf(spec, name)])));
};

const paramOf = ({ key, under, ...spec }: AnyResourceSpec, name: string): TSchema => {
  if (name === under?.field) return { ...Uuid, description: 'What they stand below', 'x-kind': 'reference', 'x-of': under.of } as TSchema;
  if (name === keyOf(key === undefined ? {} : { key })) return key?.schema ?? Uuid;
  return spec.fields.properties[name] ?? spec.computed?.properties[name] ?? Type.String({ maxLength: 200 });
};

const isReply = (value: unknown): value is Reply =>
  typeof value === 'object' && value !== null && 'kind' in value && 'headers' in value && ['json', 'bytes', 'stream', 'follow', 'wait'].includes(String(value.kind));

const headersOf = (item: unknown): Record<string, string> =>
  typeof item === 'object' && item !== null && 'revision' in item && typeof item.revision === 'number' ? { etag: `"${item.revision}"` } : {};

const operationHandler = (served: Served, verb: Verb, { answer, isBlind = false }: OperationSpec, status: number) => {
  const { resource, handlers, isTable } = served;
  const { spec } = resource;
  const created = (made: unknown): Reply => {
    const key = typeof made === 'object' && made !== null ? Reflect.get(made, keyOf(spec)) : undefined;
    return reply(status, made, { ...(key === undefined || spec.path.includes('{') ? {} : { location: `${spec.path}/${encodeURIComponent(String(key))}` }), ...headersOf(made) });
  };
  const wrap = (made: unknown): Reply => (verb === 'create' ? created(made) : reply(status, made, isTable ? headersOf(made) : {}));
  const perform = handlers[verb];
  return async (req: Req): Promise<Reply> => {
    const call = callOf(served, req, wrap);
    await checkParent(served, call);
    if (verb === 'list') return listReply(served, call, answer !== undefined);
    if (verb === 'get') return wrap(await found(served, call));
    const body = isTable || !['create', 'update', 'replace'].includes(verb) ? call.body : bodyOf(spec, call.body, verb !== 'update');
    const given = { ...call, body, ...(isTable || verb === 'create' || isBlind ? {} : { item: await found(served, call) }) };
    const made = await perform?.(given);
    if (isReply(made)) return made;
    return verb === 'delete' && answer === undefined ? reply(status, { status: 'deleted', [`${snakeCase(spec.one)}_id`]: keyIn(made) ?? call.key }) : wrap(made);
  };
};

const keyIn = (made: unknown): unknown => (typeof made === 'object' && made !== null ? Reflect.get(made, 'id') : undefined);

/** A body under the first names of its fields. Throws where one is missing that has two. */
export const bodyOf = (spec: AnyResourceSpec, body: unknown, isWhole: boolean): Record<string, unknown> => {
  const given = withFirstNames(spec.alsoAs, body as Readonly<Record<string, unknown>>); // validated by the route's schema
  const missing = isWhole ? missingField(spec.fields, spec.alsoAs, given) : undefined;
  if (missing !== undefined) throw collectionErrors.needed(missing, spec.alsoAs?.[missing] ?? []);
  return given;
};

const callOf = ({ resource: { spec }, about }: Served, req: Req, wrap: (answer: unknown) => Reply): Call => {
  const params = (req.params ?? {}) as Readonly<Record<string, string>>; // validated by the route's schema
  return {
    actor: req.actor,
    key: params[keyOf(spec)] ?? '',
    params,
    query: req.query,
    body: req.body,
    item: undefined,
    req,
    receipt: (answer) => req.receipt(isReply(answer) ? answer : wrap(answer), about && typeof answer === 'object' && answer !== null ? about({ ...answer }) : undefined),
  };
};

const checkParent = async ({ resource: { spec }, handlers }: Served, { actor, params }: Call): Promise<void> => {
  const id = spec.under === undefined ? undefined : params[spec.under.field];
  if (id !== undefined) await handlers.parent?.(actor, id);
};

/** The item that a call is about. Throws where there is none that the caller may see. */
const found = async (served: Served, call: Call): Promise<unknown> => {
  const { handlers, resource } = served;
  const { spec } = resource;
  const item = handlers.get ? await handlers.get(call) : await amongAll(served, call);
  if (item === undefined) throw spec.missing?.(call.key) ?? collectionErrors.missing(spec.one, call.key);
  return item;
};

const amongAll = async ({ handlers, resource: { spec } }: Served, call: Call): Promise<unknown> => {
  const all = await handlers.list?.({ ...call, query: {} });
  return Array.isArray(all) ? all.find((one) => String(Reflect.get(one, keyOf(spec))) === call.key) : undefined;
};

const listReply = async ({ handlers, resource: { list, spec } }: Served, call: Call, isOwn: boolean): Promise<Reply> => {
  const answer = await handlers.list?.(call);
  if (isReply(answer)) return answer;
  if (isOwn) return reply(200, answer);
  const query = (call.query ?? {}) as Readonly<Record<string, unknown>>; // validated by the list's schema
  const page = Array.isArray(answer) ? pageOfRows(list, query, answer, spec.list?.search) : (answer as Found<never>);
  return list.reply(query, page as Found<never>);
};

const actionRoute = (served: Served, name: string, action: ActionSpec): RouteDecl => {
  const { spec } = served.resource;
  const { on = 'item', isBlind = false, answer, audit, auditCategory, body, bodyRule, cost, description, errors = [], examples, idempotent, permission, query, status = 200, summary } = action;
  const method = actionMethod(action);
  const path = actionPath(spec, name, action);
  const params = paramsOf(spec, path);
  const mark = audit ?? (method === 'GET' ? false : `${snakeCase(spec.one)}_${snakeCase(name.replaceAll(/([A-Z])/g, ' $1').toLowerCase())}`);
  const wrap = (made: unknown): Reply => reply(status, made);
  const optional = { description, examples, query, body, bodyRule, params, permission, cost, idempotent, auditCategory, audit: mark === false ? undefined : mark };
  return routeGroup({ area: spec.area })({
    id: actionId(spec, name, action),
    method,
    path,
    summary,
    ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)),
    errors: [...(on === 'item' || spec.under !== undefined ? [404] : []), ...errors],
    responses: { [status]: answer },
    handler: async (req: Req) => {
      const call = callOf(served, req, wrap);
      await checkParent(served, call);
      const given = on === 'list' || isBlind ? call : { ...call, item: await found(served, call) };
      const made = await served.actions[name]?.(given);
      return isReply(made) ? made : wrap(made);
    },
  } as Parameters<ReturnType<typeof routeGroup>>[0]);
};

/** Undefined where the caller does not ask; throws for what is no ETag of ours. */
export const revisionOf = ({ headers }: Pick<Req, 'headers'>): number | undefined => {
  const header = headers['if-match']?.trim();
  if (header === undefined || header === '*') return undefined;
  if (!REVISION_TAG.fits(header)) throw collectionErrors.bad_revision(header);
  return Number(header.slice(1, -1));
};
