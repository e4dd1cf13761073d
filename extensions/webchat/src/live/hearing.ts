/** Which changes somebody may hear of: what their role may read, asked of auth once for each caller and permission until roles change. */
import { type Actor, type HookHandle, type HttpAuthorize, seesAll } from '@svc/api';
import type { Change } from './changes.js';

export interface Hearing {
  /** Which of these permissions they have; undefined where nobody can tell now. */
  of(actor: Actor, permissions: ReadonlySet<string>): Promise<ReadonlySet<string> | undefined> | ReadonlySet<string>;
  /** Keys, people or roles are others now. */
  forget(): void;
}

export const createHearing = (authorize: HookHandle<typeof HttpAuthorize>, routeId: string): Hearing => {
  // A connection keeps its actor until that is somebody else, so what is known goes with the connection.
  let known = new WeakMap<Actor, ReadonlyMap<string, boolean>>();
  const ask = async (actor: Actor, permissions: ReadonlySet<string>): Promise<ReadonlySet<string> | undefined> => {
    // Without auth no area answers, and this one says nothing.
    if (authorize.isEmpty()) return undefined;
    const into = known;
    const judged = new Map(into.get(actor));
    for (const permission of permissions) if (!judged.has(permission)) judged.set(permission, !(await authorize.call({ actor, method: 'GET', routeId, permission })));
    into.set(actor, judged);
    return allowedIn(judged);
  };
  return {
    of: (actor, permissions) => {
      const judged = known.get(actor);
      return judged && [...permissions].every((permission) => judged.has(permission)) ? allowedIn(judged) : ask(actor, permissions);
    },
    forget: () => {
      known = new WeakMap();
    },
  };
};

const allowedIn = (judged: ReadonlyMap<string, boolean>): ReadonlySet<string> => new Set([...judged].flatMap(([permission, isAllowed]) => (isAllowed ? [permission] : [])));

/** The rule of `ownerScope`, for one row. */
export const mayHear = (actor: Actor, allowed: ReadonlySet<string>, { permission, ownerId }: Change): boolean =>
  allowed.has(permission) && (ownerId === undefined || seesAll(actor) || ownerId === actor.ownerId);
