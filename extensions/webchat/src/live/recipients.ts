/** Which changes somebody may hear of: what their role may read, asked of auth once for each caller and permission until roles change. */
import { type Actor, type HookHandle, type HttpAuthorize, seesAll } from '@svc/api';
import type { Change } from './changes.js';

export interface Recipients {
  /** Which of these permissions they have; undefined where nobody can tell now. */
  of(actor: Actor, permissions: ReadonlySet<string>): Promise<ReadonlySet<string> | undefined> | ReadonlySet<string>;
  /** Keys, people or roles are others now. */
  forget(): void;
}

export const createRecipients = (authorize: HookHandle<typeof HttpAuthorize>, routeId: string): Recipients => {
  // A connection keeps its actor until that is somebody else, so what is known goes with the connection.
  let known = new WeakMap<Actor, ReadonlyMap<string, boolean>>();
  const ask = async (actor: Actor, permissions: ReadonlySet<string>): Promise<ReadonlySet<string> | undefined> => {
    // Without auth no area answers, and this one says nothing.
    if (authorize.isEmpty()) return undefined;
    const into = known;
    const validated = new Map(into.get(actor));
    for (const permission of permissions) if (!validated.has(permission)) validated.set(permission, !(await authorize.call({ actor, method: 'GET', routeId, permission })));
    into.set(actor, validated);
    return allowedIn(validated);
  };
  return {
    of: (actor, permissions) => {
      const validated = known.get(actor);
      return validated && [...permissions].every((permission) => validated.has(permission)) ? allowedIn(validated) : ask(actor, permissions);
    },
    forget: () => {
      known = new WeakMap();
    },
  };
};

const allowedIn = (validated: ReadonlyMap<string, boolean>): ReadonlySet<string> => new Set([...validated].flatMap(([permission, isAllowed]) => (isAllowed ? [permission] : [])));

/** The rule of `ownerScope`, for one row. */
export const mayReceive = (actor: Actor, allowed: ReadonlySet<string>, { permission, ownerId }: Change): boolean =>
  allowed.has(permission) && (ownerId === undefined || seesAll(actor) || ownerId === actor.ownerId);
