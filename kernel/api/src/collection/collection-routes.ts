/** The routes of a collection, and those that stand beside them. */
import type { TableDecl } from '../declare/table.js';
import type { ExtensionContext } from '../extension.js';
import { type Req, reply, type RouteDecl } from '../http/http.js';
import { type GroupedRoute, routeGroup } from '../http/route-group.js';
import type { Reply } from '../http/reply.js';
import { type TObject, type TSchema, Type, Uuid } from '../schema/schema.js';
import { REVISION_TAG } from '../schema/text-forms.js';
import type { RunSubject } from '../journal.js';
import type { AtOnce } from '../at-once.js';
import type { Collection } from './collection.js';
import { collectionErrors } from './errors.js';
import type { Change, Draft, Item } from './fields.js';
import { type AnyCollectionSpec, manyOf, operationId, operationOf, snakeCase, type Verb } from './spec.js';
import { collectionRows, type CollectionRows, type CollectionRules } from './open-collection.js';

const ItemPath = Type.Object({ id: Uuid });
const IfMatch = Type.Object({
  'If-Match': Type.Optional(Type.String({ ...REVISION_TAG.schema, description: 'The ETag that the change is based on: refused with 412 where the item was changed since' })),
});

type ItemRoute<Q extends TObject | undefined, B extends TSchema | undefined> = Omit<GroupedRoute<typeof ItemPath, Q, B>, 'params' | 'handler'>;

export interface OpenCollection<F extends TObject> extends CollectionRows<F> {
  /** Those that the declaration names. */
  readonly routes: readonly RouteDecl[];
  /** A route of one item. The handler gets the item if the caller may see it; `path` is appended to `/{id}`. */
  itemRoute<Q extends TObject | undefined = undefined, B extends TSchema | undefined = undefined>(
    spec: ItemRoute<Q, B>,
    handler: (item: Item<F>, req: Parameters<GroupedRoute<typeof ItemPath, Q, B>['handler']>[0]) => AtOnce<Reply>,
  ): RouteDecl;
}

/** Its rows and routes with these rules. Add the routes with `ctx.routes.add(...open.routes)`. */
export const openCollection = <F extends TObject>(ctx: ExtensionContext, collection: Collection<F>, rules: CollectionRules<F> = {}): OpenCollection<F> => {
  const rows = collectionRows(ctx, collection, rules);
  const route = routeGroup({ area: collection.spec.area });
  return {
    ...rows,
    routes: [listRoute(collection, rows), createRoute(collection, rows), getRoute(collection, rows), updateRoute(collection, rows), removeRoute(collection, rows)].flat(),
    itemRoute: (spec, handler) =>
      route({
        ...spec,
        path: `${collection.spec.path}/{id}${spec.path}`,
        params: ItemPath,
        errors: [404, ...(spec.errors ?? [])],
        handler: async (req) => handler(await rows.get(req.actor, req.params.id), req),
      }),
  };
};

const ABOUT: Readonly<Record<Verb, string>> = {
  list: 'Paged by `limit` and `offset`, or by `after` with `next` of the previous page, which neither repeats nor skips an item while others are added or deleted. Owners and admins see all items, everyone else their own.',
  create: 'With an `Idempotency-Key` the same request creates one item.',
  get: 'Answers with an `ETag`. Send it as `If-Match` with a change, to be refused when somebody else was quicker.',
  update: 'Changes the fields that the body names and leaves the others. With the `ETag` of GET in `If-Match` the change is refused with 412 when somebody else was quicker.',
  remove: 'Deletes it for good. With the `ETag` of GET in `If-Match` it is refused with 412 when somebody else changed it since.',
};

/** What a route says by itself, unless the declaration says otherwise; none where the declaration leaves it out. */
const served = (spec: AnyCollectionSpec, verb: Verb, summary: string, make: (head: { id: string; summary: string; errors: number[] }) => RouteDecl): RouteDecl[] => {
  const operation = operationOf(spec, verb);
  if (operation === undefined) return [];
  const { errors = [], ...said } = operation;
  const usual = verb === 'list' ? [] : verb === 'create' ? [409] : [404];
  return [{ description: ABOUT[verb], ...make({ id: operationId(spec, verb), summary, errors: [...usual, ...errors] }), ...said }];
};

const etag = ({ revision }: { readonly revision: number }) => ({ etag: `"${revision}"` });

/** Undefined where the caller does not ask; throws for what is no ETag of ours. */
const revisionOf = ({ headers }: Pick<Req, 'headers'>): number | undefined => {
  const header = headers['if-match']?.trim();
  if (header === undefined || header === '*') return undefined;
  if (!REVISION_TAG.fits(header)) throw collectionErrors.bad_revision(header);
  return Number(header.slice(1, -1));
};

const listRoute = <F extends TObject>({ spec, list }: Collection<F>, rows: CollectionRows<F>): RouteDecl[] =>
  served(spec, 'list', `List ${manyOf(spec)}`, (head) =>
    routeGroup({ area: spec.area })({
      ...head,
      method: 'GET',
      path: spec.path,
      query: list.query,
      responses: { 200: list.answer },
      handler: async ({ actor, query }) => list.reply(query, await rows.list(actor, query)),
    }),
  );

/** The agent and the conversation that an item belongs to, as its table declares them. */
const aboutOf = ({ agent, session }: TableDecl, item: Readonly<Record<string, unknown>>): RunSubject => {
  const idIn = (column: string | undefined): string | undefined => (column !== undefined && typeof item[column] === 'string' ? item[column] : undefined);
  const [subject, conversation] = [idIn(agent), idIn(session)];
  return { ...(subject === undefined ? {} : { subject }), ...(conversation === undefined ? {} : { session: conversation }) };
};

const createRoute = <F extends TObject>({ spec, draft, item, table }: Collection<F>, rows: CollectionRows<F>): RouteDecl[] => {
  const status = spec.createdStatus ?? 201;
  const answer = (made: Item<F>): Reply => reply(status, made, { location: `${spec.path}/${encodeURIComponent(made.id)}`, ...etag(made) });
  return served(spec, 'create', `Create a ${spec.one}`, (head) =>
    routeGroup({ area: spec.area })({
      ...head,
      method: 'POST',
      path: spec.path,
      idempotent: true,
      audit: `${snakeCase(spec.one)}_created`,
      body: draft,
      responses: { [status]: item },
      // The body was checked against the schema that was made of the fields.
      handler: async (req) => answer(await rows.create(req.actor, req.body as Draft<F>, (made) => req.receipt(answer(made), aboutOf(table, made)))),
    }),
  );
};

const getRoute = <F extends TObject>({ spec, item: shown }: Pick<Collection<F>, 'spec'> & { readonly item: TSchema }, rows: CollectionRows<F>): RouteDecl[] =>
  served(spec, 'get', `Get a ${spec.one}`, (head) =>
    routeGroup({ area: spec.area })({
      ...head,
      method: 'GET',
      path: `${spec.path}/{id}`,
      params: ItemPath,
      responses: { 200: shown },
      handler: async ({ actor, params }) => {
        const found = await rows.get(actor, params.id);
        return reply(200, found, etag(found));
      },
    }),
  );

const updateRoute = <F extends TObject>({ spec, change, item: shown }: Pick<Collection<F>, 'spec' | 'change'> & { readonly item: TSchema }, rows: CollectionRows<F>): RouteDecl[] =>
  served(spec, 'update', `Update a ${spec.one}`, (head) =>
    routeGroup({ area: spec.area })({
      ...head,
      method: spec.updateBy ?? 'PUT',
      path: `${spec.path}/{id}`,
      params: ItemPath,
      headers: IfMatch,
      audit: `${snakeCase(spec.one)}_updated`,
      body: change,
      errors: [...head.errors, 409, 412],
      responses: { 200: shown },
      handler: async (req) => {
        const revision = revisionOf(req);
        const made = await rows.update(req.actor, req.params.id, req.body as Change<F>, revision === undefined ? {} : { revision });
        return reply(200, made, etag(made));
      },
    }),
  );

const removeRoute = <F extends TObject>({ spec, deleted }: Collection<F>, rows: CollectionRows<F>): RouteDecl[] =>
  served(spec, 'remove', `Delete a ${spec.one}`, (head) =>
    routeGroup({ area: spec.area })({
      ...head,
      method: 'DELETE',
      path: `${spec.path}/{id}`,
      params: ItemPath,
      headers: IfMatch,
      audit: `${snakeCase(spec.one)}_deleted`,
      errors: [...head.errors, 412],
      responses: { 200: deleted },
      handler: async (req) => {
        const revision = revisionOf(req);
        const { id } = await rows.remove(req.actor, req.params.id, revision === undefined ? {} : { revision });
        return reply(200, { status: 'deleted', [`${snakeCase(spec.one)}_id`]: id });
      },
    }),
  );
