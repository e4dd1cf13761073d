/** MCP servers over HTTP: list, add, change, remove, connect. */
import { type Clock, ErrorBody, OneOf, reply, type RouteDecl, routeGroup, Type } from '@svc/api';
import type { Catalog, Template } from '../catalog/catalog.js';
import type { LiveServer } from '../client/live-server.js';
import { mcpErrors } from '../errors.js';
import { entryOf, type ServerBody, ServerBody as Body, type ServerEntry } from '../server-spec.js';
import type { Servers } from '../servers.js';
import { detailed, listed, ListedServer, OneServer, type Showing } from './shapes.js';

const route = routeGroup({ area: 'mcp' });
/** A server may start a program that downloads itself. */
const COST = 20;
/** How long an answer waits for a first connection. */
const WAIT_MS = 10_000;

export interface ServerRouteDeps {
  readonly servers: Servers;
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly showing: Showing;
  near(id: string, ids: readonly string[]): string;
}

const Params = Type.Object({ id: Type.String({ minLength: 1, maxLength: 200, description: 'Name of the server, or the id of its template', examples: ['filesystem'] }) });
const Reload = OneOf(['applied', 'applied_partial', 'saved_reload_failed'], { description: '`applied_partial`: saved, but the server is not connected; `error` says why' });

export const serverRoutes = (deps: ServerRouteDeps): RouteDecl[] => [list(deps), get(deps), add(deps), replace(deps), remove(deps), reconnect(deps), reload(deps), health(deps)];

const serverOf = ({ servers }: ServerRouteDeps, id: string): LiveServer => {
  const found = servers.find(id);
  if (!found) throw mcpErrors.not_found(id);
  return found;
};

/** Connecting goes on when this has had enough. */
const settled = async ({ clock }: ServerRouteDeps, server: LiveServer): Promise<void> => {
  const over = new AbortController();
  await Promise.race([server.connect(), clock.sleep(WAIT_MS, over.signal).catch(() => undefined)]);
  over.abort();
};

const outcome = (server: LiveServer): 'applied' | 'applied_partial' => (['connected', 'disabled'].includes(server.state().status) ? 'applied' : 'applied_partial');

const list = ({ servers, showing }: ServerRouteDeps): RouteDecl =>
  route({
    id: 'listMcpServers',
    method: 'GET',
    path: '/api/mcp/servers',
    summary: 'List MCP servers',
    description: 'The servers with their state and their tools. Values of variables and headers are never shown.',
    responses: { 200: Type.Object({ servers: Type.Array(ListedServer), total: Type.Integer() }) },
    handler: async () => {
      const all = servers.list().map((one) => listed(showing, one));
      return reply(200, { servers: all, total: all.length });
    },
  });

const get = (deps: ServerRouteDeps): RouteDecl =>
  route({
    id: 'getMcpServer',
    method: 'GET',
    path: '/api/mcp/servers/{id}',
    summary: 'Get an MCP server',
    description: 'With the last lines of its standard error, and its calls of the last hour.',
    params: Params,
    errors: [404],
    responses: { 200: OneServer },
    handler: async ({ params }) => reply(200, detailed(deps.showing, serverOf(deps, params.id))),
  });

const add = (deps: ServerRouteDeps): RouteDecl =>
  route({
    id: 'addMcpServer',
    method: 'POST',
    path: '/api/mcp/servers',
    summary: 'Add an MCP server',
    description:
      'From a template of the catalog (`template_id`, with `credentials`), or described by `transport`. The answer waits at most 10 s for the connection, which goes on for up to two minutes: `status` says how far it is. Agents have its tools at once, unless their manifests say otherwise. For owners and admins, because a server without `sandbox` can do what the user who runs svc can.',
    permission: 'mcp.admin',
    cost: COST,
    audit: 'mcp_server_added',
    auditCategory: 'settings',
    body: Body,
    examples: {
      'from the catalog': { template_id: 'github', credentials: { GITHUB_PERSONAL_ACCESS_TOKEN: 'ghp_…' } },
      'a program': { name: 'notes', transport: { type: 'stdio', command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', '~/notes'] }, sandbox: { folders: ['~/notes:rw'] } },
      'an HTTP service without MCP': {
        name: 'weather',
        transport: {
          type: 'http_compat',
          base_url: 'https://api.example.com/v1',
          headers: [{ name: 'X-Api-Key', value_env: 'WEATHER_KEY' }],
          tools: [
            {
              name: 'today',
              description: 'The weather of a city',
              path: '/cities/{city}/today',
              response_mode: 'json',
              input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
            },
          ],
        },
        credentials: { WEATHER_KEY: '…' },
      },
      'an address': { name: 'company', transport: { type: 'http', url: 'https://mcp.example.com/mcp' }, headers: ['Authorization: Bearer …'] },
    },
    errors: [403, 404, 409],
    responses: { 201: Type.Object({ ...ListedServer.properties, status: Type.Literal('added'), state: ListedServer.properties.status, reload: Reload }, { 'x-name': 'McpServerAdded' }) },
    handler: async ({ body }) => {
      const server = await deps.servers.add(await addedEntry(deps, body));
      await settled(deps, server);
      const shown = listed(deps.showing, server);
      return reply(201, { ...shown, status: 'added' as const, state: shown.status, reload: outcome(server) });
    },
  });

const addedEntry = async ({ catalog, near }: ServerRouteDeps, body: ServerBody): Promise<ServerEntry> => {
  if (body.template_id === undefined || body.transport !== undefined || body.command !== undefined || body.url !== undefined) return entryOf(body, undefined);
  const template = await catalog.find(body.template_id);
  if (!template)
    throw mcpErrors.template_not_found(
      body.template_id,
      near(
        body.template_id,
        (await catalog.list()).templates.map(({ id }) => id),
      ),
    );
  return entryOf(body, undefined, baseOf(template));
};

const baseOf = ({ id, transport, required_env = [], oauth }: Template): Partial<ServerEntry> => ({
  ...{ name: id, template_id: id, transport, env: required_env.map(({ name }) => name) },
  ...(oauth && transport.type !== 'stdio' ? { oauth: oauthOf(oauth) } : {}),
});

const oauthOf = ({ auth_url, token_url, scopes }: NonNullable<Template['oauth']>): NonNullable<ServerEntry['oauth']> => ({
  ...(auth_url === undefined || token_url === undefined ? {} : { auth_url, token_url }),
  ...(scopes === undefined ? {} : { scopes: [...scopes] }),
});

const replace = (deps: ServerRouteDeps): RouteDecl =>
  route({
    id: 'replaceMcpServer',
    method: 'PUT',
    path: '/api/mcp/servers/{id}',
    summary: 'Replace an MCP server',
    description: 'The whole entry; its name stays. A variable or header given by its name alone keeps its stored value; one that is not named is deleted. For owners and admins.',
    permission: 'mcp.admin',
    cost: COST,
    audit: 'mcp_server_changed',
    auditCategory: 'settings',
    params: Params,
    body: Body,
    examples: {
      'more time for each call': { transport: { type: 'stdio', command: 'uvx', args: ['mcp-server-time'] }, timeout_secs: 60 },
      'the stored key, and another address': { transport: { type: 'http', url: 'https://mcp.example.com/v2' }, headers: ['Authorization'] },
      'switched off': { transport: { type: 'stdio', command: 'uvx', args: ['mcp-server-time'] }, enabled: false },
    },
    errors: [403, 404, 409],
    responses: { 200: Type.Object({ status: Type.Literal('updated'), name: Type.String(), reload: Reload, error: Type.Optional(Type.String()) }) },
    handler: async ({ params, body }) => {
      const before = serverOf(deps, params.id);
      const { template_id } = before.spec;
      const server = await deps.servers.replace(before, entryOf(body, before.spec.name, template_id === undefined ? {} : { template_id }));
      await settled(deps, server);
      const { error } = server.state();
      return reply(200, { status: 'updated' as const, name: server.spec.name, reload: outcome(server), ...(error === null ? {} : { error }) });
    },
  });

const remove = (deps: ServerRouteDeps): RouteDecl =>
  route({
    id: 'removeMcpServer',
    method: 'DELETE',
    path: '/api/mcp/servers/{id}',
    summary: 'Remove an MCP server',
    description: 'Stops it, and deletes its entry, its tools and its stored values. For owners and admins.',
    permission: 'mcp.admin',
    audit: 'mcp_server_removed',
    auditCategory: 'settings',
    params: Params,
    errors: [403, 404, 409],
    responses: { 200: Type.Object({ status: Type.Literal('removed'), name: Type.String(), reload: Reload }) },
    handler: async ({ params }) => {
      const server = serverOf(deps, params.id);
      await deps.servers.remove(server);
      return reply(200, { status: 'removed' as const, name: server.spec.name, reload: 'applied' as const });
    },
  });

const NotConnected = Type.Object({ ...ErrorBody.properties, id: Type.String(), status: Type.Literal('error') }, { 'x-name': 'McpServerNotConnected' });

const reconnect = (deps: ServerRouteDeps): RouteDecl =>
  route({
    id: 'reconnectMcpServer',
    method: 'POST',
    path: '/api/mcp/servers/{id}/reconnect',
    summary: 'Reconnect an MCP server',
    description: 'Stops it, starts it anew and waits until it is connected. For owners and admins.',
    permission: 'mcp.admin',
    cost: COST,
    audit: 'mcp_server_reconnected',
    auditCategory: 'settings',
    params: Params,
    errors: [403, 404],
    responses: {
      200: Type.Object({ id: Type.String(), status: Type.Literal('connected'), tool_count: Type.Integer() }),
      500: Type.Union([NotConnected, ErrorBody]),
    },
    handler: async ({ params, id: requestId }) => {
      const server = serverOf(deps, params.id);
      await server.connect();
      const { status, error, tools } = server.state();
      const { name } = server.spec;
      if (status === 'connected') return reply(200, { id: name, status: 'connected' as const, tool_count: tools.length });
      const failure = mcpErrors.connect_failed(name, error ?? (status === 'disabled' ? 'it is switched off.' : 'it did not answer.'));
      return reply(500, { error: failure.message, id: name, status: 'error' as const, code: failure.code, ...(failure.hint === undefined ? {} : { hint: failure.hint }), request_id: requestId });
    },
  });

const reload = (deps: ServerRouteDeps): RouteDecl =>
  route({
    id: 'reloadMcp',
    method: 'POST',
    path: '/api/mcp/reload',
    summary: 'Reload MCP templates and servers',
    description: 'Reads the catalog anew, and connects servers that are new, have changed, or are not connected. For owners and admins.',
    permission: 'mcp.admin',
    cost: COST,
    audit: 'mcp_reloaded',
    auditCategory: 'settings',
    errors: [403],
    responses: {
      200: Type.Object({ status: Type.Literal('reloaded'), new_connections: Type.Integer(), faults: Type.Array(Type.String(), { description: 'Templates and entries that cannot be used' }) }),
    },
    handler: async () => {
      deps.catalog.reload();
      const before = new Set(deps.servers.list().filter((one) => one.state().status === 'connected'));
      await deps.servers.sync();
      const lost = deps.servers.list().filter((one) => one.state().status !== 'connected' && one.spec.enabled);
      await Promise.all(lost.map((one) => settled(deps, one)));
      const now = deps.servers.list().filter((one) => one.state().status === 'connected' && !before.has(one));
      return reply(200, { status: 'reloaded' as const, new_connections: now.length, faults: [...deps.servers.faults(), ...(await deps.catalog.list()).faults] });
    },
  });

const Health = Type.Object(
  {
    id: Type.String(),
    status: ListedServer.properties.status,
    tool_count: Type.Integer(),
    last_ok: Type.Union([Type.String(), Type.Null()]),
    last_error: Type.Union([Type.String(), Type.Null()]),
    consecutive_failures: Type.Integer(),
    reconnecting: Type.Boolean(),
    reconnect_attempts: Type.Integer(),
    connected_since: Type.Union([Type.String(), Type.Null()]),
  },
  { 'x-name': 'McpServerHealth' },
);

const health = ({ servers }: ServerRouteDeps): RouteDecl =>
  route({
    id: 'getMcpHealth',
    method: 'GET',
    path: '/api/mcp/health',
    summary: 'Show the health of MCP servers',
    description: 'When each last answered, and how often it failed since.',
    responses: { 200: Type.Object({ health: Type.Array(Health), count: Type.Integer() }) },
    handler: async () => {
      const all = servers.list().map(({ spec, state }) => {
        const { status, tools, lastOk, lastError, failures, attempts, nextAttemptAt, connectedSince } = state();
        return {
          id: spec.name,
          status,
          tool_count: tools.length,
          last_ok: lastOk,
          last_error: lastError,
          consecutive_failures: failures,
          reconnecting: status === 'connecting' || nextAttemptAt !== null,
          reconnect_attempts: attempts,
          connected_since: connectedSince,
        };
      });
      return reply(200, { health: all, count: all.length });
    },
  });
