/**
 * What an MCP server is: how it is reached, what it is given, and what it may do.
 *
 * E1  No value of `env` and `headers` is part of a spec: it has their names, and the values are in the vault.
 * E2  A shell is no command of a server, and no address leads to cloud metadata: both are refused when a server is added.
 */
import { parsedUrl, type Plain, Type } from '@svc/api';
import { CompatTransport, faultOfCompat } from './compat-spec.js';
import { mcpErrors } from './errors.js';

const closed = { additionalProperties: false };

export const SERVER_NAME = '^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$';
const ENV_NAME = '^[A-Za-z_][A-Za-z0-9_]{0,127}$';
const ENTRY = '^[A-Za-z_][A-Za-z0-9_]{0,127}(=[\\s\\S]*)?$';
const HEADER = "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}(:[^\\r\\n]*)?$";
const MAX_ARGS = 100;
export const DEFAULT_TIMEOUT_SECS = 30;

const Args = Type.Array(Type.String({ maxLength: 4_000 }), { maxItems: MAX_ARGS });
const Url = Type.String({ minLength: 1, maxLength: 2_000, pattern: '^https?://', description: 'http or https; private networks too' });
const Command = Type.String({ minLength: 1, maxLength: 1_000, description: 'A program, such as `npx`, `uvx` or a path' });

export const Transport = Type.Union(
  [
    Type.Object(
      {
        type: Type.Literal('stdio'),
        command: Command,
        args: Type.Optional(Args),
        cwd: Type.Optional(Type.String({ maxLength: 1_000, pattern: '^(/|~)', description: 'The folder that it starts in; by default one of its own' })),
      },
      closed,
    ),
    Type.Object({ type: Type.Literal('http'), url: Url }, closed),
    Type.Object({ type: Type.Literal('sse'), url: Url }, closed),
    CompatTransport,
  ],
  {
    description:
      'How it is reached: a program that svc starts (`stdio`, with `command` and `args`), or an address (`http`, or the older `sse`, with `url`), or an HTTP service that knows no MCP (`http_compat`, with `base_url` and `tools`)',
  },
);
export type Transport = Plain<typeof Transport>;

const Sandbox = Type.Object(
  {
    network: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 300 }), { maxItems: 100, description: 'Hosts that it may reach; none by default' })),
    folders: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 1_000, pattern: '^(/|~)' }), { maxItems: 50, description: 'Folders that it sees, for reading; with `:rw` behind it for writing' }),
    ),
  },
  { ...closed, description: 'Runs the server in the sandbox of commands of agents (stdio only). Without it, it can do what the user who runs svc can' },
);

const OAuth = Type.Object(
  {
    auth_url: Type.Optional(Type.String({ maxLength: 2_000, pattern: '^https?://', description: 'Where people sign in; otherwise the server says it' })),
    token_url: Type.Optional(Type.String({ maxLength: 2_000, pattern: '^https?://', description: 'Where tokens come from' })),
    client_id: Type.Optional(Type.String({ minLength: 1, maxLength: 500, description: 'A client that you registered; otherwise svc registers itself' })),
    client_secret_env: Type.Optional(Type.String({ pattern: ENV_NAME, description: 'The variable that holds the secret of that client' })),
    scopes: Type.Optional(Type.Array(Type.String({ pattern: '^[!-~]{1,300}$' }), { maxItems: 100, description: 'What to ask for; otherwise what the server names' })),
  },
  { ...closed, description: 'How people sign in at a server with an address (OAuth). Needed only where the server does not say it' },
);

const Common = {
  template_id: Type.Optional(Type.String({ maxLength: 64, description: 'The template that it came from' })),
  timeout_secs: Type.Optional(Type.Integer({ minimum: 1, maximum: 3_600, default: DEFAULT_TIMEOUT_SECS, description: 'Of one call; a progress notification starts it anew, ten times at most' })),
  env: Type.Optional(
    Type.Array(Type.String({ pattern: ENTRY, maxLength: 40_000 }), {
      maxItems: 100,
      description: '`NAME` passes on a stored value or a variable of the daemon; `NAME=value` stores the value in the vault',
    }),
  ),
  headers: Type.Optional(Type.Array(Type.String({ pattern: HEADER, maxLength: 10_000 }), { maxItems: 50, description: '`Name: value`, stored in the vault; `Name` alone keeps the stored value' })),
  enabled: Type.Optional(Type.Boolean({ default: true, description: 'False: not started, and none of its tools is offered' })),
  sandbox: Type.Optional(Sandbox),
  oauth: Type.Optional(OAuth),
  taint_scanning: Type.Optional(Type.Literal(true, { description: 'Always on' })),
};

/** As config.toml and a whole entry of the API have it. */
export const ServerEntry = Type.Object({ name: Type.String({ pattern: SERVER_NAME, description: 'Unique; part of the names of its tools' }), transport: Transport, ...Common }, closed);
export type ServerEntry = Plain<typeof ServerEntry>;

/** What may be sent to add a server, or to replace one. */
export const ServerBody = Type.Object(
  {
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'Letters, digits, `.`, `_`, `-`; with a template, the id of the template by default' })),
    transport: Type.Optional(
      Type.Union([Transport, Type.String({ maxLength: 20 })], { description: 'With `type`; or the earlier form: `stdio`, `http` or `sse`, beside `command` and `args` or `url`' }),
    ),
    command: Type.Optional(Command),
    args: Type.Optional(Args),
    url: Type.Optional(Url),
    credentials: Type.Optional(Type.Record(Type.String({ pattern: ENV_NAME }), Type.String({ maxLength: 32_000 }), { description: 'Values of variables, stored in the vault' })),
    ...Common,
  },
  { ...closed, 'x-name': 'McpServerEntry' },
);
export type ServerBody = Plain<typeof ServerBody>;

/** A server as svc stores it. */
export interface ServerSpec {
  readonly name: string;
  readonly template_id?: string;
  readonly transport: Transport;
  readonly timeout_secs: number;
  /** Names. */
  readonly env: readonly string[];
  readonly headers: readonly string[];
  readonly enabled: boolean;
  readonly sandbox?: Plain<typeof Sandbox>;
  readonly oauth?: Plain<typeof OAuth>;
}

/** Values that came with an entry, by name. */
export interface GivenValues {
  readonly env: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
}

const SHELLS = new Set(['sh', 'bash', 'zsh', 'dash', 'ash', 'ksh', 'mksh', 'csh', 'tcsh', 'fish', 'pwsh', 'powershell', 'powershell.exe', 'cmd', 'cmd.exe', 'busybox']);
const METADATA = /^(169\.254\.\d+\.\d+|100\.100\.100\.200|metadata\.google\.internal|metadata\.aws\.internal|instance-data|\[?fd00:ec2::254\]?)$/i;

/** Splits names from values. Throws `mcp_bad_spec`. */
export const readEntry = (written: ServerEntry): { readonly spec: ServerSpec; readonly given: GivenValues } => {
  const entry = withoutHeaderValues(written);
  const { name, transport, timeout_secs = DEFAULT_TIMEOUT_SECS, env = [], headers = [], enabled = true, template_id, sandbox, oauth } = entry;
  if (!new RegExp(SERVER_NAME).test(name)) throw mcpErrors.bad_spec(`the name ${JSON.stringify(name.slice(0, 100))} has other characters than letters, digits, ".", "_" and "-"`);
  checkTransport(transport);
  if (sandbox && transport.type !== 'stdio') throw mcpErrors.bad_spec('only a server that svc starts can have a sandbox');
  checkOAuth(transport, oauth);
  const secretEnv = oauth?.client_secret_env;
  const variables = [...env, ...(secretEnv === undefined ? [] : [secretEnv])].map((text) => split(text, '='));
  const lines = headers.map((text) => split(text, ':'));
  return {
    spec: {
      name,
      ...(template_id === undefined ? {} : { template_id }),
      transport,
      timeout_secs,
      env: [...new Set(variables.map(([key]) => key))],
      headers: [...new Set(lines.map(([key]) => key.toLowerCase()))],
      enabled,
      ...(sandbox ? { sandbox } : {}),
      ...(oauth ? { oauth } : {}),
    },
    given: { env: withValue(variables), headers: withValue(lines.map(([key, value]) => [key.toLowerCase(), value?.trim()])) },
  };
};

/** The values of an HTTP service's own headers go the way of all headers. */
const withoutHeaderValues = (entry: ServerEntry): ServerEntry => {
  const { transport, headers = [], env = [] } = entry;
  if (transport.type !== 'http_compat') return entry;
  const fault = faultOfCompat(transport);
  if (fault !== undefined) throw mcpErrors.bad_spec(fault);
  const { headers: own = [], ...rest } = transport;
  return {
    ...entry,
    transport: { ...rest, headers: own.map(({ name, value_env }) => ({ name, ...(value_env === undefined ? {} : { value_env }) })) },
    headers: [...headers, ...own.flatMap(({ name, value, value_env }) => (value_env === undefined ? [value === undefined ? name : `${name}:${value}`] : []))],
    env: [...env, ...own.flatMap(({ value_env }) => (value_env === undefined ? [] : [value_env]))],
  };
};

/** Undefined for a program. */
export const addressOf = (transport: Transport): string | undefined => {
  if (transport.type === 'stdio') return undefined;
  return transport.type === 'http_compat' ? transport.base_url : transport.url;
};

const split = (text: string, at: string): [string, string | undefined] => {
  const index = text.indexOf(at);
  return index < 0 ? [text, undefined] : [text.slice(0, index), text.slice(index + 1)];
};

const withValue = (pairs: ReadonlyArray<readonly [string, string | undefined]>): Record<string, string> =>
  Object.fromEntries(pairs.filter((pair): pair is readonly [string, string] => pair[1] !== undefined && pair[1] !== ''));

const checkTransport = (transport: Transport): void => {
  if (transport.type === 'stdio') {
    const program = transport.command.split(/[/\\]/).at(-1)?.toLowerCase() ?? '';
    if (SHELLS.has(program)) throw mcpErrors.bad_spec(`${program} is a shell, which would run anything; name the program itself, with its arguments in "args"`);
    if (/\s/.test(transport.command) && !ABSOLUTE_LIKE.test(transport.command)) throw mcpErrors.bad_spec(`"command" is one program; put its arguments into "args"`);
    return;
  }
  const key = transport.type === 'http_compat' ? '"base_url"' : '"url"';
  const url = parsedUrl(addressOf(transport) ?? '');
  if (!url || url.hostname === '') throw mcpErrors.bad_spec(`${key} is not an address`);
  if (url.username !== '' || url.password !== '') throw mcpErrors.bad_spec(`${key} contains a user name or password; send an Authorization header in "headers"`);
  if (METADATA.test(url.hostname)) throw mcpErrors.bad_spec(`${url.hostname} serves credentials of cloud machines, and no server there is ever connected`);
};

const checkOAuth = (transport: Transport, oauth: ServerEntry['oauth']): void => {
  if (!oauth) return;
  if (transport.type === 'stdio') throw mcpErrors.bad_spec('"oauth" is for servers with an address; a program signs in by itself');
  if (transport.type === 'http_compat') throw mcpErrors.bad_spec('"oauth" is for servers that speak MCP; send an Authorization header in "headers"');
  if ((oauth.auth_url === undefined) !== (oauth.token_url === undefined)) throw mcpErrors.bad_spec('"oauth" needs "auth_url" and "token_url" together');
  if (oauth.client_secret_env !== undefined && oauth.client_id === undefined) throw mcpErrors.bad_spec('"client_secret_env" needs "client_id"');
  for (const text of [oauth.auth_url, oauth.token_url]) {
    const url = text === undefined ? undefined : parsedUrl(text);
    if (text !== undefined && (!url || url.hostname === '' || METADATA.test(url.hostname))) throw mcpErrors.bad_spec(`"oauth" contains ${text.slice(0, 200)}, which is no address to sign in at`);
  }
};

/** A path may contain spaces. */
const ABSOLUTE_LIKE = /^(?:~|[A-Za-z]:\\|\/)/;

/** The forms of a body, as one entry; `base` is that of a template. Throws `mcp_bad_spec`. */
export const entryOf = (body: ServerBody, name: string | undefined, base: Partial<ServerEntry> = {}): ServerEntry => {
  const { transport, command: _command, args: _args, url: _url, credentials = {}, name: own, ...common } = body;
  const named = name ?? own ?? base.name;
  if (named === undefined) throw mcpErrors.bad_spec('it has no name');
  const reached = typeof transport === 'object' ? transport : (flatTransport(transport, body) ?? base.transport);
  if (!reached) throw mcpErrors.bad_spec('"transport" says neither how it is started nor where it is');
  const known = (base.env ?? []).map((text) => split(text, '=')[0]);
  const env = [...(common.env ?? []), ...Object.entries(credentials).map(([key, value]) => `${key}=${value}`)];
  const given = new Set(env.map((text) => split(text, '=')[0]));
  return { ...base, ...common, name: named, transport: reached, env: [...env, ...known.filter((key) => !given.has(key))] };
};

const flatTransport = (type: string | undefined, { command, args, url }: Pick<ServerBody, 'command' | 'args' | 'url'>): Transport | undefined => {
  if (type === undefined && command === undefined && url === undefined) return undefined;
  const kind = type ?? (command === undefined ? 'http' : 'stdio');
  if (kind === 'stdio') {
    if (command === undefined) throw mcpErrors.bad_spec('a server of the transport stdio needs "command"');
    return { type: 'stdio', command, ...(args ? { args: [...args] } : {}) };
  }
  if (kind === 'http_compat') throw mcpErrors.bad_spec('a server of the transport http_compat needs {"transport": {"type": "http_compat", "base_url": "…", "tools": []}}');
  if (kind !== 'http' && kind !== 'sse') throw mcpErrors.bad_spec(`the transport "${kind}" is none of stdio, http, sse and http_compat`);
  if (url === undefined) throw mcpErrors.bad_spec(`a server of the transport ${kind} needs "url"`);
  return { type: kind, url };
};

/** Where a value is stored. Only names of servers have dots here, so each name is of one server. */
export const envSecret = (server: string, name: string): string => `mcp.${server}.env.${name}`;
export const headerSecret = (server: string, name: string): string => `mcp.${server}.header.${name.replaceAll('.', '/')}`;
export const secretsOf = (server: string): string => `mcp.${server}.`;
/** After the name of the server. */
export const VALUE_SECRET = /^(?:env|header)\.[^.]+$/;
