/** How servers look over HTTP: names of what is secret, never a value. */
import { Nullable, OneOf, type Plain, Type } from '@svc/api';
import type { LiveServer } from '../client/live-server.js';
import type { AuthShown } from '../sign-in/sign-ins.js';
import { CompatTool } from '../compat-spec.js';
import { addressOf } from '../server-spec.js';
import type { ToolOffer } from '../tools.js';

const StatusWord = OneOf(['connecting', 'connected', 'setup', 'error', 'disabled'], { description: '`setup`: values are missing. `connecting`: a first start may download the server' });

const ShownTool = Type.Object({
  name: Type.String({ description: 'As the server calls it' }),
  description: Type.String(),
  tool: Type.String({ description: 'Its name among the tools of svc: `GET /api/tools/{name}`' }),
});

export const AuthState = Type.Object({
  state: OneOf(['not_required', 'authorized', 'needs_auth', 'pending_auth', 'expired', 'error', 'unknown']),
  expires_at: Type.Optional(Type.String({ description: 'When the token ends; it is refreshed before' })),
  auth_url: Type.Optional(Type.String({ description: 'Where a sign-in goes on; shown by `GET /api/mcp/servers/{id}/auth/status` alone' })),
  message: Type.Optional(Type.String()),
});

const Common = {
  name: Type.String(),
  template_id: Type.Optional(Type.String()),
  status: StatusWord,
  connected: Type.Boolean(),
  error: Type.Optional(Type.String({ description: 'Why it is not connected, with what it wrote last' })),
  tools: Type.Array(ShownTool, { description: 'Of the last connection, if it is not connected now' }),
  tools_count: Type.Integer(),
  warnings: Type.Array(Type.String(), { description: 'Tools that were left out, and why' }),
  timeout_secs: Type.Integer(),
  env: Type.Array(Type.String(), { description: 'Names of variables; values are never shown' }),
  headers: Type.Array(Type.String(), { description: 'Names' }),
  enabled: Type.Boolean(),
  sandboxed: Type.Boolean(),
  source: OneOf(['api', 'config'], { description: '`config`: from config.toml; it cannot be changed over the API' }),
  auth_state: AuthState,
  taint_scanning: Type.Literal(true),
  protocol_version: Nullable(Type.String()),
};

export const ListedServer = Type.Object(
  {
    ...Common,
    transport: Type.String({ description: '`stdio`, `http`, `sse` or `http_compat`' }),
    command: Type.Optional(Type.String()),
    args: Type.Optional(Type.Array(Type.String())),
    url: Type.Optional(Type.String()),
  },
  { 'x-name': 'McpServer' },
);
export type ListedServer = Plain<typeof ListedServer>;

export const OneServer = Type.Object(
  {
    ...Common,
    transport: Type.Object({
      type: Type.String(),
      command: Type.Optional(Type.String()),
      args: Type.Optional(Type.Array(Type.String())),
      cwd: Type.Optional(Type.String()),
      url: Type.Optional(Type.String()),
      base_url: Type.Optional(Type.String()),
      headers: Type.Optional(Type.Array(Type.Object({ name: Type.String(), value_env: Type.Optional(Type.String()) }), { description: 'Names' })),
      tools: Type.Optional(Type.Array(CompatTool)),
    }),
    sandbox: Type.Optional(Type.Object({ network: Type.Optional(Type.Array(Type.String())), folders: Type.Optional(Type.Array(Type.String())) })),
    instructions: Nullable(Type.String({ description: 'What the server says of itself; data of somebody else' })),
    stderr: Type.Array(Type.String(), { description: 'The last 200 lines that it wrote to its standard error' }),
    calls: Type.Object({ starts: Type.Array(Type.String()), calls: Type.Array(Type.Integer()), errors: Type.Array(Type.Integer()) }, { description: 'Of the last hour on this daemon, by minute' }),
    suspicious: Type.Array(Type.String(), { description: 'Tools whose descriptions try to give orders to the model' }),
  },
  { 'x-name': 'McpServerDetail' },
);
export type OneServer = Plain<typeof OneServer>;

export interface Showing {
  readonly offer: Pick<ToolOffer, 'of'>;
  isInConfig(name: string): boolean;
  signIn(server: LiveServer): AuthShown;
  /** The names of rules that the text breaks. */
  suspicions(text: string): readonly string[];
}

/** An address with the state of a sign-in is for those who may sign in. */
const authState = ({ signIn }: Showing, server: LiveServer): AuthShown => {
  const { auth_url: _url, ...shown } = signIn(server);
  return shown;
};

const common = (showing: Showing, server: LiveServer) => {
  const { offer, isInConfig } = showing;
  const { spec, state } = server;
  const { status, error, tools, warnings, protocol } = state();
  const names = new Map(offer.of(spec.name).map(({ tool, name }) => [tool.name, name]));
  return {
    name: spec.name,
    ...(spec.template_id === undefined ? {} : { template_id: spec.template_id }),
    status,
    connected: status === 'connected',
    ...(error === null ? {} : { error }),
    tools: tools.map(({ name, description }) => ({ name, description, tool: names.get(name) ?? '' })),
    tools_count: tools.length,
    warnings: [...warnings],
    timeout_secs: spec.timeout_secs,
    env: [...spec.env],
    headers: [...spec.headers],
    enabled: spec.enabled,
    sandboxed: spec.sandbox !== undefined,
    source: isInConfig(spec.name) ? ('config' as const) : ('api' as const),
    auth_state: authState(showing, server),
    taint_scanning: true as const,
    protocol_version: protocol,
  };
};

export const listed = (showing: Showing, server: LiveServer): ListedServer => {
  const { transport } = server.spec;
  const url = addressOf(transport);
  const reach = transport.type === 'stdio' ? { command: transport.command, ...(transport.args ? { args: [...transport.args] } : {}) } : url === undefined ? {} : { url };
  return { ...common(showing, server), transport: transport.type, ...reach };
};

export const detailed = (showing: Showing, server: LiveServer): OneServer => {
  const { spec, state, stderr, counts } = server;
  const { tools, instructions } = state();
  return {
    ...common(showing, server),
    transport: spec.transport,
    ...(spec.sandbox ? { sandbox: spec.sandbox } : {}),
    instructions,
    stderr: [...stderr()],
    calls: counts.shown(),
    suspicious: tools.flatMap(({ name, description }) => {
      const rules = showing.suspicions(description);
      return rules.length === 0 ? [] : [`${name}: ${rules.join(', ')}`];
    }),
  };
};
