import { OneOf, Type, defineConfig } from '@svc/api';
import { GRANTS } from './grants.js';

const roleGrants = (grants: readonly string[], who: string) => Type.Array(OneOf(GRANTS), { default: [...grants], maxItems: 20, description: `What ${who} may grant to agents` });

/** Owners may grant everything. Nobody's agent has more than its owner may grant, whoever made it and whenever. */
export const CapabilitiesSection = defineConfig(
  'capabilities',
  Type.Object(
    {
      admin: roleGrants(GRANTS, 'admins'),
      user: roleGrants(['agent_message', 'agent_spawn', 'file_system', 'network'], 'people of the role user'),
      viewer: roleGrants([], 'people of the role viewer'),
    },
    { additionalProperties: false, default: {}, 'x-security': true },
  ),
);
