/**
 * On whose behalf a stranger may act: for actors that the kernel handed to it (with a request, a socket, a call of a
 * tool, a hook or a service), and for nobody whom it made up. Actors are known by identity, so a copy is made up, too.
 */
import { type Actor, SvcError, type TSchema } from '@svc/api';
import type { Owner } from '../owner.js';

export interface ActorBook {
  /** The actor, as one that was handed over. */
  hand(actor: Actor): Actor;
  /** The same for each actor that the schema knows of in a plain copy. */
  handAll(schema: TSchema, copy: unknown): unknown;
  /** Whether it is the very object that was handed over. */
  isHanded(actor: object): boolean;
  /** Throws `actor_made_up` for the first that was not handed over. */
  check(owner: Owner, schema: TSchema, value: unknown, where: string): void;
}

export const createActorBook = (): ActorBook => {
  const handed = new WeakSet<object>();
  /** Of actors that cannot change: each comes with every request of its key. */
  const known = new WeakMap<object, Actor>();
  const hand = (actor: Actor): Actor => {
    if (handed.has(actor)) return actor;
    const before = known.get(actor);
    if (before) return before;
    const own = Object.freeze({ id: actor.id, role: actor.role, ownerId: actor.ownerId });
    handed.add(own);
    if (Object.isFrozen(actor)) known.set(actor, own);
    return own;
  };
  return {
    hand,
    handAll: (schema, copy) => mapActors(schema, copy, hand),
    isHanded: (actor) => handed.has(actor),
    check: (owner, schema, value, where) =>
      void mapActors(schema, value, (actor) => {
        if (!handed.has(actor) && !isNobody(actor)) throw madeUp(owner, where);
        return actor;
      }),
  };
};

type Schemas = Readonly<Record<string, TSchema>>;

/** Calls `fn` with each actor, and puts its answer in the actor's place where it is another. */
const mapActors = (schema: TSchema, value: unknown, fn: (actor: Actor) => Actor): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  if (isActorSchema(schema)) return isActor(value) ? fn(value) : value;
  for (const [name, inner] of Object.entries<TSchema>((schema.properties as Schemas | undefined) ?? {})) replace(value, name, inner, fn);
  if (Array.isArray(value) && schema.items !== undefined) for (const index of value.keys()) replace(value, index, schema.items as TSchema, fn);
  for (const inner of [...variants(schema.anyOf), ...variants(schema.allOf)]) mapActors(inner, value, fn);
  return value;
};

const replace = (holder: object, name: string | number, schema: TSchema, fn: (actor: Actor) => Actor): void => {
  const before: unknown = Reflect.get(holder, name);
  const after = mapActors(schema, before, fn);
  if (after !== before) Reflect.set(holder, name, after);
};

const variants = (list: unknown): readonly TSchema[] => (Array.isArray(list) ? list : []);

/** By its shape: each build has its own object of the schema. */
const isActorSchema = ({ properties }: TSchema): boolean => typeof properties === 'object' && properties !== null && Object.keys(properties).sort().join() === 'id,ownerId,role';

const isActor = (value: object): value is Actor => 'id' in value && 'role' in value && 'ownerId' in value;

/** Who calls where everybody may: nothing is theirs. */
const isNobody = ({ role, ownerId }: Actor): boolean => role === 'public' && ownerId === 'public';

const madeUp = (owner: Owner, where: string): SvcError =>
  new SvcError('actor_made_up', `${owner.id} may not act for whom it named in ${where}: nobody handed it this actor.`, {
    status: 403,
    hint: 'Hand on the very actor of the request, the call of a tool, or whoever called you; or ask for the grant "actors" in extension.json.',
  });
