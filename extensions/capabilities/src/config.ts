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

const Programs = (what: string) =>
  Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
      maxItems: 500,
      'x-by-hand': 'it defines which programs agents may start, so no program may change it',
      description: `${what}. With one of the two set, agents start only programs that are in them and in [capabilities] shell of their manifest, and never a shell. By default, the manifests decide`,
    }),
  );

export const AllowedCommands = defineConfig('exec_policy.allowed_commands', Programs('Names of programs that agents may start'));
export const SafeBins = defineConfig('exec_policy.safe_bins', Programs('More names of programs that agents may start'));
export const NoOutputTimeout = defineConfig(
  'exec_policy.no_output_timeout_secs',
  Type.Optional(
    Type.Integer({ minimum: 1, maximum: 86_400, description: 'A command of an agent that writes nothing for this long is stopped; a manifest may set less. By default, the manifests decide' }),
  ),
);
