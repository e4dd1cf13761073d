/** On whose behalf something happens. Every contract and every store query takes one, so that nobody reads or changes what is somebody else's. */

import type { Plain } from './declare/plain.js';
import { OneOf, Type } from './schema/schema.js';

export const Role = OneOf(['owner', 'admin', 'user', 'viewer', 'system', 'public']);
export type Role = Plain<typeof Role>;

const ActorFacts = Type.Object({
  id: Type.String({ description: 'Who acts, for logs and audit: `owner`, `user:alice`, `system:runs`' }),
  role: Role,
  ownerId: Type.String({ description: 'Whose rows: the value of `owner_id` on what this actor creates' }),
});
type ActorFacts = Plain<typeof ActorFacts>;

/** For the compiler alone: no object has it. */
declare const made: unique symbol;
/** An object literal is none: actors come from the kernel, with a request, a call, or `ctx.actors`. */
export type Actor = ActorFacts & { readonly [made]: true };
export const Actor = Type.Unsafe<Actor>(ActorFacts);

/** For the kernel, for where a key becomes somebody, and for tests. Lint refuses it to areas, and a third party's own actors are refused when it calls. */
export const actorFrom = ({ id, role, ownerId }: ActorFacts): Actor => Object.freeze({ id, role, ownerId }) as Actor; // the brand is in the type alone

/** Arguments of the SQL condition `(? = 1 OR owner_id = ?)`: the one way a store filters rows by actor. */
export const ownerScope = (actor: Actor): readonly [all: 0 | 1, ownerId: string] => [seesAll(actor) ? 1 : 0, actor.ownerId];

export const seesAll = (actor: Actor): boolean => actor.role === 'owner' || actor.role === 'admin' || actor.role === 'system';

/** Actors of an area's own work, made by the kernel: `ctx.actors`. Only for areas that are shipped with the daemon. */
export interface Actors {
  /** The area itself, which sees all rows. `purpose` is a constant word or two; the id is `system:<area>:<purpose>`. What it makes belongs to `ownerId` where that is given. */
  system(purpose: string, ownerId?: string): Actor;
  /** Work for a person after their request has ended: it sees only what they can see. */
  of(ownerId: string): Actor;
  /** The extension itself, limited to the rows of one owner, even if that owner can see all rows: to end or erase their data. */
  only(purpose: string, ownerId: string): Actor;
}

/** The daemon itself, acting for nobody in particular: timers, recovery, purges. */
export const systemActor = (area: string): Actor => actorFrom({ id: `system:${area}`, role: 'system', ownerId: 'system' });

/** Work for a person after their request has ended: it sees only what they can see. */
export const actorOf = (ownerId: string): Actor => actorFrom(ownerId === 'owner' ? { id: 'owner', role: 'owner', ownerId } : { id: ownerId, role: 'user', ownerId });
