/** A resource at work: its functions, its actions, and the routes and slash commands that serve them. */
import { inEnglish } from '../declare/collection-view.js';
import type { ExtensionContext } from '../extension.js';
import type { RouteDecl } from '../http/http.js';
import type { SlashCommand } from '../slash-command.js';
import type { TObject } from '../schema/schema.js';
import type { ActionSpecs } from './actions.js';
import type { ActionsOf, Call, Handlers, ItemOf, SourceOf } from './calls.js';
import type { Collection } from './collection.js';
import { collectionErrors } from './errors.js';
import type { Item } from './fields.js';
import { collectionRows, type CollectionRows, type CollectionRules } from './open-collection.js';
import type { Resource } from './resource.js';
import { bodyOf, revisionOf, routesOf, type Served } from './resource-routes.js';
import { keyOf, operationOf, type ResourceSpec, type Verb } from './spec.js';

export interface OpenResource {
  /** Those that the declaration names. */
  readonly routes: readonly RouteDecl[];
  /** Of actions that have one. */
  readonly slashCommands: readonly SlashCommand[];
}

type ActionsNeeded<A, I> = [keyof A] extends [never] ? { readonly actions?: undefined } : { readonly actions: ActionsOf<A, I> };

type Actions<S extends ResourceSpec> = S['actions'] extends ActionSpecs ? ActionsNeeded<S['actions'], DetailOf<S>> : { readonly actions?: undefined };
type DetailOf<S extends ResourceSpec> = S extends { readonly operations: { readonly get: { readonly answer: { static: infer D } } } } ? D : ItemOf<S>;

/** With its functions. Add what it gives with `ctx.routes.add(...open.routes)`. */
export const openResource = <S extends ResourceSpec>(resource: Resource<S>, { actions, ...source }: SourceOf<S> & Actions<S>): OpenResource => {
  // The types of the declaration end here: each handler was checked against it.
  const handlers = source as Partial<Handlers>;
  for (const verb of ['list', 'create', 'update', 'replace', 'delete'] as const satisfies readonly Verb[])
    if (operationOf(resource.spec, verb) && !handlers[verb]) throw new Error(`${resource.spec.one} has the operation ${verb}, but no function for it`);
  return opened({ resource, handlers, actions: (actions ?? {}) as unknown as Served['actions'], isTable: false });
};

export type OpenCollection<F extends TObject> = CollectionRows<F> & OpenResource;

/** Its rows and routes with these rules. */
export const openCollection = <F extends TObject, C extends TObject, A extends ActionSpecs>(
  ctx: ExtensionContext,
  collection: Collection<F, C, A>,
  ...[given]: [keyof A] extends [never] ? [rules?: CollectionRules<F, C>] : [rules: CollectionRules<F, C> & ActionsNeeded<A, Collection<F, C, A>['item']['static']>]
): OpenCollection<F> => {
  const { actions, ...rules }: CollectionRules<F, C> & { readonly actions?: unknown } = given ?? {};
  const { spec, table } = collection;
  const rows = collectionRows(ctx, collection, rules);
  const shown = async (item: Item<F>, call: Call): Promise<Item<F>> => ((await rules.computed?.([item], call.actor)) ?? [item])[0] as Item<F>;
  const based = ({ req }: Call) => {
    const revision = revisionOf(req);
    return revision === undefined ? {} : { revision };
  };
  const about: NonNullable<Served['about']> = (item) => {
    const idIn = (column: string | undefined): string | undefined => (column !== undefined && typeof item[column] === 'string' ? item[column] : undefined);
    const [subject, session] = [idIn(table.agent), idIn(table.session)];
    return { ...(subject === undefined ? {} : { subject }), ...(session === undefined ? {} : { session }) };
  };
  const answered = async (verb: Verb, item: Item<F>, call: Call): Promise<unknown> => rules.answers?.[verb]?.(await shown(item, call), call) ?? shown(item, call);
  const body = (call: Call, isWhole: boolean) => bodyOf(spec, call.body, isWhole) as never; // validated against the schema that was made of the fields
  const within = ({ params }: Call): Record<string, string> =>
    spec.under === undefined || params[spec.under.field] === undefined ? {} : { [spec.under.field]: String(params[spec.under.field]).toLowerCase() };
  const one = async (call: Call): Promise<Item<F>> => {
    const item = await rows.get(call.actor, call.key);
    for (const [field, parent] of Object.entries(within(call))) if (Reflect.get(item, field) !== parent) throw spec.missing(call.key);
    return item;
  };
  const handlers: Partial<Handlers> = {
    list: async (call) => {
      const found = await rows.list(call.actor, { ...(call.query as object), ...within(call) });
      return rules.computed === undefined ? found : { ...found, rows: await rules.computed(found.rows, call.actor) };
    },
    get: async (call) => answered('get', await one(call), call),
    create: async (call) => {
      let answer: unknown;
      // The receipt holds what is answered, and is committed with the row.
      await rows.create(call.actor, { ...(body(call, true) as object), ...within(call) } as never, async (item) => {
        answer = await answered('create', item, call);
        return call.receipt(answer);
      });
      return answer;
    },
    update: async (call) => {
      const { id } = await one(call);
      return answered('update', await rows.update(call.actor, id, body(call, false), based(call)), call);
    },
    replace: async (call) => {
      const { id } = await one(call);
      return answered('replace', await rows.update(call.actor, id, { ...usualOf(spec.fields), ...(body(call, true) as object) } as never, based(call)), call);
    },
    delete: async (call) => {
      const { id } = await one(call);
      const gone = await rows.remove(call.actor, id, based(call));
      return rules.answers?.delete?.(gone, call) ?? gone;
    },
    ...(rules.parent ? { parent: rules.parent } : {}),
  };
  const open = opened({ resource: collection, handlers, actions: (actions ?? {}) as Served['actions'], isTable: true, about });
  return { ...rows, ...open };
};

/** What a field is when nobody says it. */
const usualOf = ({ properties }: TObject): Record<string, unknown> => Object.fromEntries(Object.entries(properties).map(([key, { default: usual = null }]) => [key, usual]));

const opened = (served: Served): OpenResource => ({ routes: routesOf(served), slashCommands: slashCommandsOf(served) });

const slashCommandsOf = ({ resource: { spec }, handlers, actions }: Served): SlashCommand[] =>
  Object.entries(spec.actions ?? {}).flatMap(([name, action]) => {
    const { slash, on = 'item', permission = `${spec.area}.write`, summary, done, isBlind } = action;
    if (slash === undefined) return [];
    const takes = on === 'item' ? ({ takes: 'text' } as const) : {};
    return [
      {
        name: slash.name,
        usage: on === 'item' ? `/${slash.name} ${keyOf(spec).toUpperCase()}` : `/${slash.name}`,
        summary: slash.summary ?? summary,
        permission,
        ...takes,
        run: async ({ actor, args, signal }) => {
          const call = { actor, key: args, params: { [keyOf(spec)]: args }, query: {}, body: {}, item: undefined, req: { actor, signal } as Call['req'], receipt: () => [] };
          const item = on === 'list' || isBlind ? undefined : await handlers.get?.(call);
          if (on === 'item' && !isBlind && item === undefined) throw spec.missing?.(args) ?? collectionErrors.missing(spec.one, args);
          const answer = await actions[name]?.({ ...call, item });
          return { message: filled(done === undefined ? `${summary}: done.` : inEnglish(done), { ...(item as object), ...(answer as object) }), data: { ...(answer as object) } };
        },
      },
    ];
  });

const filled = (text: string, values: Readonly<Record<string, unknown>>): string =>
  text.replaceAll(/\{([^{}]+)\}/g, (whole, name: string) => (values[name] === undefined ? whole : String(values[name])));
