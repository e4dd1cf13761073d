import { routeGroup, Type } from '@svc/api';
import { PLUGIN_NAME } from '../config.js';
import type { Plugins } from '../service.js';

export interface RouteDeps {
  readonly plugins: Plugins;
}

export const route = routeGroup({ area: 'plugins' });
export const Params = Type.Object({ name: Type.String({ pattern: PLUGIN_NAME, description: 'Name of the plugin', examples: ['user-profile'] }) });
/** It starts programs. */
export const COST = 20;
