/** Which changes somebody may hear of: what their role may read, asked of auth once for each caller until roles change. */
import { type Actor, type HookHandle, type HttpAuthorize, seesAll } from '@svc/api';
import { type Change, PERMISSIONS, type What } from './changes.js';

export interface Hearing {
  /** Undefined where nobody can tell now. */
  of(actor: Actor): Promise<ReadonlySet<What> | undefined> | ReadonlySet<What>;
  /** Keys, people or roles are others now. */
  forget(): void;
}

export const createHearing = (authorize: HookHandle<typeof HttpAuthorize>, routeId: string): Hearing => {
  // A connection keeps its actor until that is somebody else, so what is known goes with the connection.
  let known = new WeakMap<Actor, ReadonlySet<What>>();
  const ask = async (actor: Actor): Promise<ReadonlySet<What> | undefined> => {
    // Without auth no area answers, and this one says nothing.
    if (authorize.isEmpty()) return undefined;
    const into = known;
    const allowed = new Set<What>();
    for (const [what, permission] of Object.entries(PERMISSIONS) as Array<[What, string]> /* the keys of that very object */) {
      if (!(await authorize.call({ actor, method: 'GET', routeId, permission }))) allowed.add(what);
    }
    into.set(actor, allowed);
    return allowed;
  };
  return {
    of: (actor) => known.get(actor) ?? ask(actor),
    forget: () => {
      known = new WeakMap();
    },
  };
};

/** The rule of `ownerScope`, for one row. */
export const mayHear = (actor: Actor, allowed: ReadonlySet<What>, { shown, ownerId }: Change): boolean =>
  allowed.has(shown.what) && (ownerId === undefined || seesAll(actor) || ownerId === actor.ownerId);
