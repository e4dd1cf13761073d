/**
 * On whose behalf a third party may act: for actors that the kernel handed to it (with a request, a socket, a call of a
 * tool, a hook or a service), and for nobody whom it made up. Actors are known by identity, so a copy is made up, too.
 */
import { type Actor, SvcError, type TSchema, actorFrom } from '@svc/api';
import type { Contributor } from '../owner.js';

export interface ActorRegistry {
  /** The actor, as one that was handed over. */
  hand(actor: Actor): Actor;
  /** The same for each actor that the schema knows of in a plain copy. */
  handAll(schema: TSchema, copy: unknown): unknown;
  /** Whether it is the very object that was handed over. */
  isHanded(actor: object): boolean;
  /** Throws `actor_made_up` unless it is the very object that was handed over, or nobody (`public`). */
  assertHanded(owner: Contributor, actor: Actor, where: string): void;
  /** Throws `actor_made_up` for the first that was not handed over. */
  check(owner: Contributor, schema: TSchema, value: unknown, where: string): void;
}

export const createActorRegistry = (): ActorRegistry => {
  const handed = new WeakSet<object>();
  /** Of actors that cannot change: each comes with every request of its key. */
  const known = new WeakMap<object, Actor>();
  const hand = (actor: Actor): Actor => {
    if (handed.has(actor)) return actor;
    const before = known.get(actor);
    if (before) return before;
    const own = actorFrom(actor);
    handed.add(own);
    if (Object.isFrozen(actor)) known.set(actor, own);
    return own;
  };
  const assertHanded: ActorRegistry['assertHanded'] = (owner, actor, where) => {
    if (!handed.has(actor) && !isNobody(actor)) throw madeUp(owner, where);
  };
  return {
    hand,
    assertHanded,
    handAll: (schema, copy) => mapActors(schema, copy, hand),
    isHanded: (actor) => handed.has(actor),
    check: (owner, schema, value, where) =>
      void mapActors(schema, value, (actor) => {
        assertHanded(owner, actor, where);
        return actor;
      }),
  };
};

type Schemas = Readonly<Record<string, TSchema>>;

/** Objects of a value that are looked into, at most: a schema of a third party may name actors everywhere. */
const MAX_LOOKS = 500_000;

interface Walk {
  readonly fn: (actor: Actor) => Actor;
  looks: number;
}

/** Calls `fn` with each actor, and puts its answer in the actor's place where it is another. Throws `contract_mismatch` for what has no end. */
const mapActors = (schema: TSchema, value: unknown, fn: (actor: Actor) => Actor): unknown => mapPart(schema, value, { fn, looks: 0 });

const mapPart = (schema: TSchema, value: unknown, walk: Walk): unknown => {
  if (typeof value !== 'object' || value === null || !namesActors(schema)) return value;
  if (isActorSchema(schema)) return isActor(value) ? walk.fn(value) : value;
  walk.looks += 1;
  if (walk.looks > MAX_LOOKS)
    throw new SvcError('contract_mismatch', `A value has more than ${MAX_LOOKS} places where its declaration names actors.`, { status: 500, hint: 'Pass less data per call.' });
  for (const [name, inner] of propertiesOf(schema)) if (Object.hasOwn(value, name)) replace(value, name, inner, walk);
  if (Array.isArray(value) && schema.items !== undefined) for (const index of value.keys()) replace(value, index, schema.items as TSchema, walk);
  for (const inner of [...variants(schema.anyOf), ...variants(schema.allOf)]) mapPart(inner, value, walk);
  return value;
};

/** Of schemas that were looked at: most name no actor, and what they describe need not be walked. */
const naming = new WeakMap<TSchema, boolean>();

const namesActors = (schema: TSchema): boolean => {
  const before = naming.get(schema);
  if (before !== undefined) return before;
  const inner = [...propertiesOf(schema).map(([, one]) => one), ...variants(schema.anyOf), ...variants(schema.allOf), ...variants([schema.items])];
  const names = isActorSchema(schema) || inner.some((one) => typeof one === 'object' && one !== null && namesActors(one));
  naming.set(schema, names);
  return names;
};

/** Those that may hold an actor. */
const propertiesOf = ({ properties }: TSchema): Array<[string, TSchema]> =>
  Object.entries<TSchema>((properties as Schemas | undefined) ?? {}).filter(([, inner]) => typeof inner === 'object' && inner !== null);

const replace = (holder: object, name: string | number, schema: TSchema, walk: Walk): void => {
  const before: unknown = Reflect.get(holder, name);
  const after = mapPart(schema, before, walk);
  if (after !== before) Reflect.set(holder, name, after);
};

const variants = (list: unknown): readonly TSchema[] => (Array.isArray(list) ? list : []);

/** By its shape: each build has its own object of the schema. */
const isActorSchema = ({ properties }: TSchema): boolean => typeof properties === 'object' && properties !== null && Object.keys(properties).sort().join() === 'id,ownerId,role';

const isActor = (value: object): value is Actor => 'id' in value && 'role' in value && 'ownerId' in value;

/** Who calls where everybody may: nothing is theirs. */
const isNobody = ({ role, ownerId }: Actor): boolean => role === 'public' && ownerId === 'public';

const madeUp = (owner: Contributor, where: string): SvcError =>
  new SvcError('actor_made_up', `${owner.id} may not use the actor that it passed to ${where}: it did not receive this actor.`, {
    status: 403,
    hint: 'Pass on the actor of the request, the tool call or your caller; or request the grant "actors" in extension.json.',
  });
