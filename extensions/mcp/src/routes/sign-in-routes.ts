/** Signing in at an MCP server: begin, come back, see, end. */
import { bytes, reply, type Req, type RouteDecl, routeGroup, Type } from '@svc/api';
import type { LiveServer } from '../client/live-server.js';
import { mcpErrors } from '../errors.js';
import type { Servers } from '../servers.js';
import type { AuthShown, SignIns } from '../sign-in/sign-ins.js';
import { AuthState } from './shapes.js';

const route = routeGroup({ area: 'mcp' });
const COST = 20;
const HOST = /^[\w.:[\]-]{1,255}$/;
const TEXT = 'text/plain; charset=utf-8';
const NO_STORE = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' };

export interface SignInRouteDeps {
  readonly servers: Pick<Servers, 'find'>;
  readonly signIns: Pick<SignIns, 'start' | 'finish' | 'revoke'>;
  signIn(server: LiveServer): AuthShown;
}

const Params = Type.Object({ id: Type.String({ minLength: 1, maxLength: 200, description: 'Name of the server, or the id of its template', examples: ['company'] }) });
const text = (most: number, description: string) => Type.Optional(Type.String({ maxLength: most, description }));
const Back = Type.Object({
  code: text(8_192, 'What the authority gives for the sign-in, to be used once'),
  state: text(1_024, 'As the sign-in began with it'),
  iss: text(2_000, 'The issuer that answers'),
  error: text(200, 'Where the authority refuses'),
  error_description: text(2_000, 'Why it refuses'),
});

export const signInRoutes = (deps: SignInRouteDeps): RouteDecl[] => [status(deps), start(deps), callback(deps), revoke(deps)];

const serverOf = ({ servers }: SignInRouteDeps, id: string): LiveServer => {
  const found = servers.find(id);
  if (!found) throw mcpErrors.not_found(id);
  return found;
};

/** What the caller reached us by: the browser that signs in is at the same address. */
const originOf = ({ headers, isSecure }: Req): string => `${isSecure ? 'https' : 'http'}://${HOST.test(headers.host ?? '') ? headers.host : 'localhost'}`;

const status = (deps: SignInRouteDeps): RouteDecl =>
  route({
    id: 'getMcpServerAuth',
    method: 'GET',
    path: '/api/mcp/servers/{id}/auth/status',
    summary: 'Show the sign-in at an MCP server',
    description: '`pending_auth`: a person has to go to `auth_url`, which is shown where the sign-in began, for ten minutes. `needs_auth`: begin one. For owners and admins.',
    permission: 'mcp.admin',
    params: Params,
    errors: [403, 404],
    responses: { 200: Type.Object({ server: Type.String(), auth: AuthState }, { 'x-name': 'McpServerAuth' }) },
    handler: async ({ params }) => {
      const server = serverOf(deps, params.id);
      return reply(200, { server: server.spec.name, auth: deps.signIn(server) });
    },
  });

const start = (deps: SignInRouteDeps): RouteDecl =>
  route({
    id: 'startMcpServerAuth',
    method: 'POST',
    path: '/api/mcp/servers/{id}/auth/start',
    summary: 'Sign in at an MCP server',
    description:
      'Finds out where the server wants people to sign in, registers svc there if needed, and answers with the address for a browser. It comes back to `/api/mcp/servers/{id}/auth/callback` within ten minutes; then the server is connected. For owners and admins.',
    permission: 'mcp.admin',
    cost: COST,
    audit: 'mcp_sign_in_started',
    auditCategory: 'settings',
    params: Params,
    errors: [400, 403, 404, 502],
    responses: { 200: Type.Object({ auth_url: Type.String(), server: Type.String() }, { 'x-name': 'McpSignIn' }) },
    handler: async (req) => {
      const { spec, state } = serverOf(deps, req.params.id);
      return reply(200, { auth_url: await deps.signIns.start(spec, { origin: originOf(req), challenge: state().needsAuth ?? '' }), server: spec.name });
    },
  });

const callback = (deps: SignInRouteDeps): RouteDecl =>
  route({
    id: 'finishMcpServerAuth',
    method: 'GET',
    path: '/api/mcp/servers/{id}/auth/callback',
    summary: 'Finish a sign-in at an MCP server',
    description: 'The authority sends the browser here. `state` and `code` work once. The answer is a text for the person at the browser.',
    auth: 'public',
    cost: COST,
    audit: 'mcp_signed_in',
    auditCategory: 'settings',
    params: Params,
    query: Back,
    errors: [400],
    responses: { 200: { description: 'A text', contentType: TEXT } },
    handler: async ({ params, query, log }) => {
      const server = deps.servers.find(params.id);
      const problem = server ? await deps.signIns.finish(server.spec, query) : 'there is no such server';
      if (!server || problem !== undefined) {
        log.warn('a sign-in at an MCP server was not finished', { server: params.id, why: problem });
        // Whoever asks without the state learns nothing.
        throw mcpErrors.sign_in_over();
      }
      void server.connect();
      return bytes(200, TEXT, `You are signed in at ${server.spec.name}. You can close this page.\n`, NO_STORE);
    },
  });

const revoke = (deps: SignInRouteDeps): RouteDecl =>
  route({
    id: 'revokeMcpServerAuth',
    method: 'DELETE',
    path: '/api/mcp/servers/{id}/auth/revoke',
    summary: 'Sign out at an MCP server',
    description: 'Deletes the tokens and the registered client of the server, and asks the authority to take the tokens back. For owners and admins.',
    permission: 'mcp.admin',
    cost: COST,
    audit: 'mcp_signed_out',
    auditCategory: 'settings',
    params: Params,
    errors: [403, 404],
    responses: { 200: Type.Object({ server: Type.String(), status: Type.Literal('revoked') }) },
    handler: async ({ params }) => {
      const server = serverOf(deps, params.id);
      await deps.signIns.revoke(server.spec);
      if (server.spec.enabled && server.spec.transport.type !== 'stdio') void server.connect();
      return reply(200, { server: server.spec.name, status: 'revoked' as const });
    },
  });
