/** Routes and sockets stand below the paths that an extension may have. */
import { parseGrant } from '@svc/api';
import { pathFault } from '@svc/api/internal';
import type { AllContributions } from '../contributions.js';
import { installErrors } from '../errors.js';

/** The first that may not be there, and why. `grants`: those that it asks for, or those that were agreed to. */
export const foreignRoute = (
  id: string,
  { routes, sockets }: Pick<AllContributions, 'routes' | 'sockets'>,
  grants: readonly string[],
): { readonly route: string; readonly why: string } | undefined => {
  const parsed = grants.map(parseGrant).filter((one) => typeof one !== 'string');
  for (const { method = 'GET', path } of [...routes, ...sockets]) {
    const why = pathFault(String(path), id, parsed);
    if (why !== undefined) return { route: `${String(method)} ${String(path)}`, why };
  }
  return undefined;
};

/** Throws `install_route_refused`. */
export const validateOwnRoutes = (id: string, contributions: Pick<AllContributions, 'routes' | 'sockets'>, grants: readonly string[]): void => {
  const foreign = foreignRoute(id, contributions, grants);
  if (foreign) throw installErrors.route_refused(id, foreign.route, foreign.why);
};
