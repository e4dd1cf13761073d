import { CAPABILITY_NAME, OneOf, Type, defineConfig } from '@svc/api';
import { GRANTS } from './grants.js';

/** Which capabilities are declared is known when all is installed, and not here: role-names.ts tells of one that nobody declares. */
const Grantable = Type.Union([OneOf(GRANTS), Type.String({ pattern: CAPABILITY_NAME, description: 'A capability that an extension declares' })]);

const roleGrants = (grants: readonly string[], who: string) => Type.Array(Grantable, { default: [...grants], maxItems: 200, description: `Permissions that ${who} may grant to agents` });

/** Owners may grant everything. Nobody's agent has more than its owner may grant, whoever made it and whenever. */
export const CapabilitiesSection = defineConfig(
  'capabilities',
  Type.Object(
    {
      admin: roleGrants(GRANTS, 'admins'),
      user: roleGrants(['agent_message', 'agent_spawn', 'file_system', 'network'], 'people of the role user'),
      viewer: roleGrants([], 'people of the role viewer'),
    },
    { additionalProperties: false, default: {}, 'x-security': true, 'x-by-hand': 'it defines what admins and others may grant, so none of them may change it' },
  ),
);
