/** Routes of one area have most things in common; here those are said once. */
import { type Responses, type RouteDecl, type RouteSpec, defineRoute } from './http.js';
import { ErrorBody, type TObject, type TSchema } from '../schema/schema.js';

/** What routes of a group need not say: each may say otherwise. */
export interface RouteDefaults {
  /** The permission is `<area>.read` for GET, else `<area>.write`. */
  readonly area: string;
  /** Statuses that any of them may answer, with the body of an error. */
  readonly errors?: readonly number[];
}

type Filled = 'auth' | 'permission' | 'cost';

export interface GroupedRoute<P extends TObject | undefined, Q extends TObject | undefined, B extends TSchema | undefined, R extends Responses = Responses>
  extends Omit<RouteSpec<P, Q, B, R>, Filled>,
    Partial<Pick<RouteSpec<P, Q, B, R>, Filled>> {
  /** Beside those of the group. */
  readonly errors?: readonly number[];
}

/** Rate-limit tokens of a call that only looks, and of one that changes something. */
const READ_COST = 1;
const WRITE_COST = 5;

/** Gives a `defineRoute` with the defaults in place: a bearer, the area's permission, the usual cost, its errors. */
export const routeGroup =
  ({ area, errors: common = [] }: RouteDefaults) =>
  <P extends TObject | undefined = undefined, Q extends TObject | undefined = undefined, B extends TSchema | undefined = undefined, R extends Responses = Responses>({
    errors = [],
    ...spec
  }: GroupedRoute<P, Q, B, R>): RouteDecl => {
    const isRead = spec.method === 'GET';
    const failures = Object.fromEntries([...common, ...errors, ...(spec.params || spec.query || spec.body ? [400] : []), ...(spec.idempotent ? [409] : [])].map((status) => [status, ErrorBody]));
    const whole = { auth: 'bearer', permission: `${area}.${isRead ? 'read' : 'write'}`, cost: isRead ? READ_COST : WRITE_COST, ...spec, responses: { ...failures, ...spec.responses } };
    // The handler was checked against the responses that it declares itself, which are among these.
    return defineRoute(whole as RouteSpec<P, Q, B, Responses>);
  };
