import { Nullable, OneOf, reply, routeGroup, type RouteDecl, Type, UuidText } from '@svc/api';
import type { Logins } from './logins.js';

const route = routeGroup({ area: 'codeassist' });
/** Of whoever may change providers. */
const byAdmins = { permission: 'codeassist.admin' } as const;
const PRIVATE = { 'cache-control': 'no-store' } as const;

const Started = Type.Object(
  {
    device_code: Type.String({ description: 'For clients that poll the provider themselves; svc keeps it until the login ends' }),
    user_code: Type.String({ description: 'What you type on the page of the provider', examples: ['WDJB-MJHT'] }),
    verification_uri: Type.String({ description: 'The page of the provider', examples: ['https://github.com/login/device'] }),
    poll_id: Type.String({ description: 'For GET /api/providers/codeassist/oauth/poll/{poll_id}' }),
    expires_in: Type.Integer({ description: 'Seconds until the code expires' }),
    interval: Type.Integer({ description: 'Seconds between two questions to the provider' }),
  },
  { 'x-name': 'DeviceLogin' },
);

const Standing = Type.Object(
  {
    status: OneOf(['pending', 'authorized', 'expired'], { description: '`expired`: it ended without a token; `error` says why' }),
    interval: Type.Optional(Type.Integer({ description: 'Seconds between two questions to the provider, while it is pending' })),
    error: Nullable(Type.String(), { description: '`expired_token`: nobody typed the code in time. `access_denied`: a person refused. Otherwise the code that the provider gave' }),
  },
  { 'x-name': 'DeviceLoginStatus' },
);

export const loginRoutes = (logins: Logins): RouteDecl[] => [
  route({
    ...byAdmins,
    id: 'startCodeassistLogin',
    method: 'POST',
    path: '/api/providers/codeassist/oauth/start',
    summary: 'Log in at GitHub Copilot by a code',
    description:
      'Answers with a code. Open `verification_uri` in any browser, type `user_code` there and agree; then poll with `poll_id`. Of five unfinished logins of a person, the oldest is forgotten when a new one starts.',
    cost: 20,
    audit: 'device_login_started',
    auditCategory: 'secrets',
    errors: [409, 502, 503],
    responses: { 200: Started },
    handler: async ({ actor }) => reply(200, await logins.start(actor), PRIVATE),
  }),
  route({
    ...byAdmins,
    id: 'pollCodeassistLogin',
    method: 'GET',
    path: '/api/providers/codeassist/oauth/poll/{poll_id}',
    summary: 'See how a login goes',
    description:
      'Poll as often as you like: the provider is asked once an interval. When you have agreed there, the token is stored in the vault as the key of `github-copilot`. Name its models as the provider does, such as `github-copilot/gpt-4.1`.',
    params: Type.Object({ poll_id: UuidText('As the start answered it') }),
    errors: [404, 502, 503],
    responses: { 200: Standing },
    handler: async ({ actor, params }) => reply(200, { error: null, ...(await logins.poll(actor, params.poll_id)) }, PRIVATE),
  }),
];
