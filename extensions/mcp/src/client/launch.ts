/** From a spec to a running program or an address, with the values from the vault. */
import type { Transport } from '@modelcontextprotocol/client';
import { type AgentReach, type ChildHandle, type ExtensionContext, isSvcError, type SecretRef } from '@svc/api';
import { mcpErrors } from '../errors.js';
import { addressOf, envSecret, type GivenValues, headerSecret, type ServerSpec } from '../server-spec.js';
import { createCompatTransport } from './compat-transport.js';
import { type Access, createHttpTransport } from './http-transport.js';
import type { TransportEvents } from './live-server.js';
import { createStdioTransport } from './stdio-transport.js';

type Ctx = Pick<ExtensionContext, 'spawn' | 'fetch' | 'egress' | 'secrets' | 'env' | 'log' | 'files'>;

export interface LaunchDeps {
  readonly ctx: Ctx;
  /** Values that config.toml itself has. */
  given(server: string): GivenValues | undefined;
  access(spec: ServerSpec): Access;
}

const envRef = (server: string, name: string): SecretRef => ({ secret: envSecret(server, name), env: name });

/** Names of variables and headers without a value. */
export const missingValues = async ({ ctx, given }: LaunchDeps, { name, env, headers }: ServerSpec): Promise<string[]> => {
  const own = given(name);
  const missing: string[] = [];
  for (const variable of env) if (own?.env[variable] === undefined && (await ctx.secrets.where(envRef(name, variable))) === undefined) missing.push(variable);
  for (const header of headers) if (own?.headers[header] === undefined && (await ctx.secrets.where({ secret: headerSecret(name, header) })) === undefined) missing.push(header);
  return missing;
};

export const launched = async (deps: LaunchDeps, spec: ServerSpec, events: TransportEvents): Promise<Transport> => {
  const { ctx } = deps;
  const { transport } = spec;
  if (transport.type === 'stdio') return createStdioTransport({ spawn: () => spawned(deps, spec, transport), stderr: events.stderr, log: ctx.log, ended: events.ended });
  return reaching(ctx, new URL(addressOf(transport) ?? '').origin, () => overHttp(deps, spec, transport, events));
};

/** The address can be reached until the transport is closed: a server that is connected again and again leaves nothing behind. */
const reaching = async ({ egress }: Pick<Ctx, 'egress'>, origin: string, open: () => Promise<Transport>): Promise<Transport> => {
  const allowed = egress.allow(origin, 'server');
  try {
    const transport = await open();
    const close = transport.close.bind(transport);
    // Its last words to the server are said first.
    transport.close = () => close().finally(() => allowed.dispose());
    return transport;
  } catch (error) {
    await allowed.dispose();
    throw error;
  }
};

const overHttp = async (
  { ctx, given, access: accessTo }: LaunchDeps,
  spec: ServerSpec,
  transport: Exclude<ServerSpec['transport'], { type: 'stdio' }>,
  events: TransportEvents,
): Promise<Transport> => {
  const own = given(spec.name)?.headers ?? {};
  const secretHeaders = Object.fromEntries(spec.headers.filter((header) => own[header] === undefined).map((header) => [header, { secret: headerSecret(spec.name, header) }]));
  if (transport.type === 'http_compat') {
    const values = given(spec.name)?.env ?? {};
    const named = (transport.headers ?? []).flatMap(({ name, value_env: variable }) => (variable === undefined ? [] : [{ name: name.toLowerCase(), variable }]));
    const inConfig = Object.fromEntries(named.flatMap(({ name, variable }) => (values[variable] === undefined ? [] : [[name, values[variable]]])));
    const inVault = Object.fromEntries(named.filter(({ variable }) => values[variable] === undefined).map(({ name, variable }) => [name, envRef(spec.name, variable)]));
    return createCompatTransport(spec.name, transport, { fetch: ctx.fetch, secretHeaders: { ...secretHeaders, ...inVault }, headers: { ...own, ...inConfig }, refused: () => undefined });
  }
  const access = spec.headers.includes('authorization') ? {} : { access: accessTo(spec) };
  return createHttpTransport(transport.type, transport.url, { fetch: ctx.fetch, secretHeaders, headers: own, ...access, refused: events.refused });
};

type Stdio = Extract<ServerSpec['transport'], { type: 'stdio' }>;

const HINTS: ReadonlyMap<string, string> = new Map<string, string>(
  Object.entries({
    npx: 'It comes with Node.js: install Node.js, and start svc from a shell that finds npx.',
    uvx: 'It comes with uv: https://docs.astral.sh/uv/getting-started/installation',
    docker: 'Install Docker, or choose another way to start this server.',
    python: 'Install Python, or give the path of the program.',
  }),
);

const spawned = async ({ ctx, given }: LaunchDeps, spec: ServerSpec, transport: Stdio): Promise<ChildHandle> => {
  const own = given(spec.name)?.env ?? {};
  const fromVault = spec.env.filter((name) => own[name] === undefined);
  const home = ctx.env('HOME') ?? '';
  const [command, args] = commandLine({ command: inHome(transport.command, home), args: (transport.args ?? []).map((arg) => inHome(arg, home)) }, spec.env);
  const folder = `servers/${spec.name}`;
  if (transport.cwd === undefined) await ctx.files.data.write(`${folder}/.svc`, 'The folder in which svc starts this MCP server.\n');
  try {
    return await ctx.spawn(command, args, {
      cwd: transport.cwd === undefined ? ctx.files.data.dir(folder).path : inHome(transport.cwd, home),
      env: own,
      secretEnv: Object.fromEntries(fromVault.map((name) => [name, envRef(spec.name, name)])),
      ownerKey: `mcp.${spec.name}`,
      ...(spec.sandbox ? { agent: reachOf(spec.sandbox, home) } : { isUnconfined: true }),
    });
  } catch (error) {
    if (!isSvcError(error) || error.code !== 'exec_not_found') throw error;
    const hint = HINTS.get(transport.command);
    throw mcpErrors.connect_failed(spec.name, `there is no program "${transport.command}" on the PATH of svc.${hint === undefined ? ' Install it, or give its full path.' : ` ${hint}`}`);
  }
};

const reachOf = ({ network = [], folders = [] }: NonNullable<ServerSpec['sandbox']>, home: string): AgentReach => ({
  hosts: network,
  mounts: folders.map((folder) => ({ path: inHome(folder.replace(/:rw$/, ''), home), isWritable: folder.endsWith(':rw') })),
});

/** `~/x`, `$HOME` and `${HOME}`: nobody else expands them. */
const inHome = (text: string, home: string): string => text.replace(/^~(?=\/|$)/, home).replace(/\$HOME\b|\$\{HOME\}/g, home);

/**
 * Arguments that name a variable of the server get its value when the program starts, so that the daemon need not know it: the shell puts it in.
 * All other words are quoted.
 */
export const commandLine = ({ command, args }: { readonly command: string; readonly args: readonly string[] }, env: readonly string[]): [string, string[]] => {
  const isNamed = (name: string): boolean => env.includes(name);
  if (!args.some((arg) => [...arg.matchAll(VARIABLE)].some(([, name = '']) => isNamed(name)))) return [command, [...args]];
  const quoted = args.map((arg) =>
    arg
      .split(/(\$\{[A-Za-z_][A-Za-z0-9_]*\})/)
      .filter((part) => part !== '')
      .map((part) => {
        const name = /^\$\{(.+)\}$/.exec(part)?.[1] ?? '';
        return isNamed(name) ? `"$${name}"` : `'${part.replaceAll("'", "'\\''")}'`;
      })
      .join(''),
  );
  return ['sh', ['-c', `exec "$0" ${quoted.join(' ')}`, command]];
};

const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;
