import type { RouteDecl } from '@svc/api';
import { keyRoutes } from './key-routes.js';
import { listRoutes } from './list-routes.js';
import type { RoutesDeps } from './provider-shown.js';
import { testRoutes } from './test-routes.js';
import { urlRoutes } from './url-routes.js';

export const providerRoutes = (deps: RoutesDeps): RouteDecl[] => [...listRoutes(deps), ...testRoutes(deps), ...keyRoutes(deps), ...urlRoutes(deps)];
