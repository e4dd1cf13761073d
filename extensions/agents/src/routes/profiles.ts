import { reply, type RouteDecl, routeGroup, Type } from '@svc/api';
import { agentErrors } from '../errors.js';
import { type Profile as NamedSet, profileNamed, PROFILES } from '../manifest/profiles.js';

const route = routeGroup({ area: 'agents' });

const Profile = Type.Object({ name: Type.String(), description: Type.String(), tools: Type.Array(Type.String(), { description: '`*` is every tool' }) }, { 'x-name': 'AgentProfile' });

const WHAT =
  'A manifest names one as `profile`. It selects the tools if `[capabilities] tools` is empty, and grants nothing else: hosts, commands and agents are granted under `[capabilities]`. Tools that are not installed are left out.';

const shown = ({ name, description, tools }: NamedSet) => ({ name, description, tools: [...tools] });

export const profileRoutes = (): RouteDecl[] => [
  route({
    id: 'listProfiles',
    method: 'GET',
    path: '/api/profiles',
    summary: 'List tool profiles',
    description: WHAT,
    responses: { 200: Type.Object({ profiles: Type.Array(Profile), total: Type.Integer() }) },
    handler: async () => reply(200, { profiles: PROFILES.map(shown), total: PROFILES.length }),
  }),
  route({
    id: 'getProfile',
    method: 'GET',
    path: '/api/profiles/{name}',
    summary: 'Get a tool profile',
    description: WHAT,
    params: Type.Object({ name: Type.String({ maxLength: 200, description: 'One of `GET /api/profiles`', examples: ['coding'] }) }),
    errors: [404],
    responses: { 200: Profile },
    handler: async ({ params }) => {
      const profile = profileNamed(params.name);
      if (!profile) throw agentErrors.agents_profile_not_found(params.name);
      return reply(200, shown(profile));
    },
  }),
];
