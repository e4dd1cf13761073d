/** The settings of the platform itself. Areas claim their own in extension.json. */
import { type JsonSchema, OneOf, type Plain, type TSchema, Type } from '@svc/api';
import { ToolsSection } from './tools-section.js';

export interface SectionClaim {
  /** With its defaults. `x-security: true` closes access when the section is bad and was never good. */
  readonly schema: JsonSchema;
  readonly owner: string;
  /** Set where a part of it is of somebody else than svc: its patterns are matched in linear time. */
  readonly isForeign?: boolean;
}
/** By section name, or `/key` for a key of the top level. */
export type SectionClaims = Readonly<Record<string, SectionClaim>>;

/** Without a login: no file holds a password. */
const PROXY_ADDRESS = '^((https?|socks5h?)://[^\\s@/?#]+/?)?$';
const closed = { additionalProperties: false };
const strings = (values: readonly string[] = [], more: object = {}) => Type.Array(Type.String({ minLength: 1, maxLength: 1_000 }), { default: [...values], maxItems: 1_000, ...more });
const seconds = (value: number, maximum: number, description: string) => Type.Integer({ default: value, minimum: 1, maximum, description });
/** Also a part of a second. */
const deadline = (value: number, maximum: number, description: string) => Type.Number({ default: value, minimum: 0.1, maximum, description });
const bytes = (value: number, description: string) => Type.Integer({ default: value, minimum: 1, maximum: 1_073_741_824, description });

const Api = Type.Object(
  {
    listen_addr: Type.String({ default: '127.0.0.1:4545', pattern: '^(\\[[0-9a-fA-F:.]+\\]|[^:\\s]+):\\d{1,5}$', description: 'Address and port', 'x-restart': true, 'x-alias': ['api_listen'] }),
    cors_origins: strings([], {
      'x-alias': ['cors_origin'],
      description:
        'Origins whose pages may call this daemon from a browser, such as https://chat.example or tauri://localhost; without an api_key, such a page has the rights of the owner. * allows all origins and needs an api_key',
    }),
    max_connections: Type.Integer({ default: 10_000, minimum: 1, maximum: 1_000_000, description: 'Maximum number of open connections; above it, only this machine can still call the health routes' }),
    max_connections_per_ip: Type.Integer({
      default: 512,
      minimum: 1,
      maximum: 1_000_000,
      description: 'Maximum number of open connections per address (IPv6: per /64); does not apply to this machine and trusted proxies',
    }),
    headers_timeout_secs: Type.Integer({ default: 15, minimum: 1, maximum: 300, description: 'Time limit for sending the headers of a request', 'x-restart': true }),
    keep_alive_secs: Type.Integer({ default: 70, minimum: 1, maximum: 3_600, description: 'How long an idle connection stays open for the next request', 'x-restart': true }),
    min_body_bytes_per_second: Type.Integer({ default: 1_024, minimum: 1, maximum: 1_073_741_824, description: 'Minimum transfer rate of a body after its first ten seconds' }),
  },
  closed,
);

const SWITCHED = '`svc ext enable` and `svc ext disable` switch areas, and say first what goes with them';

const TRUSTED = 'it says whose code runs here, and how far it is kept apart';

const Extensions = Type.Object(
  {
    preset: OneOf(['minimal', 'standard', 'full'], { default: 'standard', 'x-restart': true, description: 'The extensions that are on by default' }),
    enable: strings([], { 'x-by-hand': SWITCHED, description: 'Extensions that are on in addition to the preset' }),
    disable: strings([], { 'x-by-hand': SWITCHED, description: 'Extensions of the preset that are off' }),
    third_party: OneOf(['signed', 'any', 'none'], {
      default: 'signed',
      'x-by-hand': TRUSTED,
      description: 'Which third-party extensions may be installed and run: those signed with a trusted key, any, or none',
    }),
    isolation: OneOf(['auto', 'isolated', 'walled'], {
      default: 'auto',
      'x-by-hand': TRUSTED,
      description:
        'How third-party extensions are isolated. isolated: by Node.js alone, which does not stop them from opening network connections. walled: by the operating system too (bubblewrap), without a network. auto: walled if bubblewrap works, otherwise isolated',
    }),
    memory_mb: Type.Integer({ default: 256, minimum: 64, maximum: 65_536, description: "Memory limit of an extension's process; it is stopped above the limit" }),
    rest_secs: Type.Integer({ default: 300, minimum: 1, maximum: 86_400, description: "An extension's process stops after this idle time and starts again at the next call" }),
    statement_seconds: deadline(2, 60, 'Deadline of a read or a commit of a third-party extension, in seconds'),
    migration_seconds: deadline(10, 3_600, 'Deadline of a migration of a third-party extension, in seconds; a longer one is rolled back'),
    quota_files_mb: Type.Integer({ default: 100, minimum: 1, maximum: 1_048_576, description: "Limit of each third-party extension's data and cache folders" }),
    quota_rows_mb: Type.Integer({ default: 100, minimum: 1, maximum: 1_048_576, description: "Limit of each third-party extension's tables" }),
    quotas: Type.Record(
      Type.String(),
      Type.Object(
        {
          files_mb: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_048_576, description: 'In place of quota_files_mb, for this extension' })),
          rows_mb: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_048_576, description: 'In place of quota_rows_mb, for this extension' })),
        },
        closed,
      ),
      { default: {}, description: 'Limits per extension, by id' },
    ),
    registry: Type.Optional(Type.String({ pattern: '^https?://', maxLength: 1_000, 'x-by-hand': TRUSTED, description: "The npm registry to install extensions from; by default npm's" })),
    index: Type.Optional(
      Type.String({ pattern: '^https?://', maxLength: 1_000, 'x-by-hand': TRUSTED, description: 'URL of an index to look up extension names without a source: a JSON document of sources by id' }),
    ),
  },
  closed,
);

const Security = Type.Object(
  { required: strings([], { description: 'Extensions that must be active before the daemon serves requests, instead of those that the preset names' }) },
  { ...closed, 'x-security': true, 'x-by-hand': 'it says without which areas nobody may be served' },
);

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error'] as const;

const Web = Type.Object(
  {
    fetch: Type.Object(
      {
        ssrf_allowed_hosts: strings([], {
          'x-by-hand': 'it says which hosts of this machine and its networks all agents may reach',
          description: 'Allowed hosts and address blocks on private networks; addresses that serve cloud credentials stay blocked',
        }),
        max_response_bytes: bytes(10_485_760, 'Maximum size of a response that a tool reads'),
        timeout_secs: seconds(30, 3_600, "Time limit of a tool's request"),
      },
      closed,
    ),
  },
  closed,
);

const ExecPolicy = Type.Object(
  {
    mode: OneOf(['deny', 'allowlist'], { default: 'allowlist', description: "allowlist: the agent's [capabilities] shell list decides; deny: no agent can start a process" }),
    allowed_env_vars: strings([], {
      'x-by-hand': 'it says which variables of the daemon, secrets among them, commands of agents may read',
      description: "Environment variables that an agent's process can read, in addition to the basic ones; `X_*` allows all with this prefix that do not look like secrets",
    }),
    timeout_secs: Type.Optional(Type.Integer({ minimum: 1, maximum: 86_400, description: 'Maximum run time of a process; by default, each caller sets its own limit (30 s if it sets none)' })),
    max_output_bytes: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1_073_741_824, description: 'Maximum output that is kept; by default, each caller sets its own limit (100 KiB if it sets none)' }),
    ),
  },
  { ...closed, 'x-security': true },
);

const Journal = Type.Object(
  {
    keep_days: Type.Integer({
      default: 30,
      minimum: 1,
      maximum: 3_650,
      description: 'Records of ended runs are deleted after this many days; messages stay in the sessions. Runs of a deleted conversation, agent or person are deleted with it',
    }),
    save_patience_secs: Type.Integer({
      default: 60,
      minimum: 1,
      maximum: 3_600,
      description:
        'How long a run tries to save a step while the database cannot be written (full disk, locked file, server away); after that its client gets an error, and the run continues when the database is back',
    }),
  },
  closed,
);

/** Without a value that is known to be good nobody may guess another database: the section closes access, and the start is refused. */
const Storage = Type.Object(
  {
    url: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 2_000,
        'x-secret': true,
        // What stands in for it where it may not be kept is no address, so that a start without the file's own text is refused.
        'x-hash-serves': true,
        'x-restart': true,
        description: 'A PostgreSQL database, as postgres://user:password@host:5432/name; by default, the file svc.db in the data folder',
      }),
    ),
    statement_seconds: seconds(60, 3_600, 'Deadline of a read or a commit of the daemon and its built-in extensions'),
    migration_seconds: seconds(3_600, 86_400, 'Deadline of a migration of the daemon and its built-in extensions; a longer one is rolled back'),
  },
  { ...closed, 'x-security': true },
);

/** For daemons that share a PostgreSQL. */
const Cluster = Type.Object(
  {
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 100, description: 'What this daemon is called in the list of replicas; by default, the name of its host' })),
    address: Type.Optional(Type.String({ minLength: 1, maxLength: 1_000, description: 'Where this daemon is reached, for the list of replicas; by default, the address it listens on' })),
    lease_secs: Type.Integer({
      default: 10,
      minimum: 5,
      maximum: 600,
      'x-restart': true,
      description:
        'Seconds after which the runs of a daemon that is gone continue at another one on the same PostgreSQL. Each daemon renews its leases three times in this time; one that stands still for longer loses its runs to another',
    }),
    bus: Type.Optional(
      Type.String({
        pattern: '^(nats|tls)://[^@\\s]+$',
        maxLength: 2_000,
        'x-restart': true,
        description:
          'A NATS server over which the daemons on one PostgreSQL hear each other, as nats://host:4222 or tls://host:4222?sslrootcert=/etc/ca.pem, several separated by commas; by default, they use LISTEN and NOTIFY of the database',
      }),
    ),
    bus_credentials_env: Type.String({
      default: 'SVC_NATS_CREDENTIALS',
      pattern: '^[A-Za-z_][A-Za-z0-9_]*$',
      'x-restart': true,
      description: 'The environment variable with the credentials for NATS: user:password, a token, the seed of an NKey, or the text of a .creds file',
    }),
  },
  { ...closed, 'x-by-hand': 'it names one daemon, and settings changed over the API hold at all' },
);

const proxyAddress = (description: string) => Type.Optional(Type.String({ pattern: PROXY_ADDRESS, maxLength: 2_000, description }));

const ProxySection = Type.Object(
  {
    http_proxy: proxyAddress('The proxy for http addresses, as http://host:port, https://host:port or socks5://host:port; empty for none; by default, HTTP_PROXY of the environment'),
    https_proxy: proxyAddress('The proxy for https addresses; empty for none; by default, HTTPS_PROXY of the environment. A user name and password are read from the environment alone'),
    no_proxy: Type.Optional(
      Type.String({
        maxLength: 10_000,
        description:
          'What is reached directly: names with all names below them, addresses, ranges (10.0.0.0/8), each also with a port, or *; separated by commas; by default, NO_PROXY of the environment',
      }),
    ),
  },
  { ...closed, 'x-by-hand': 'it says through whom all requests go' },
);

const mine = (schema: TSchema): SectionClaim => ({ schema, owner: 'kernel' });

const sections = {
  api: Api,
  extensions: Extensions,
  log: Type.Object({ level: OneOf(LEVELS, { default: 'info', 'x-alias': ['log_level'], description: 'Minimum level of log lines' }) }, closed),
  security: Security,
  web: Web,
  exec_policy: ExecPolicy,
  tools: ToolsSection,
  journal: Journal,
  storage: Storage,
  cluster: Cluster,
  proxy: ProxySection,
};
type Sections = typeof sections;

/** A section of the platform itself, which was validated by its schema when it was read. */
export const settingsOf = <N extends keyof Sections>(config: { get(section: string): unknown }, name: N): Plain<Sections[N]> => config.get(name) as Plain<Sections[N]>;

export const kernelSections: SectionClaims = {
  ...Object.fromEntries(Object.entries(sections).map(([name, schema]) => [name, mine(schema)])),
  '/trusted_proxies': mine(
    Type.Array(Type.String({ format: 'ip-range' }), {
      default: [],
      maxItems: 1_000,
      description: 'Addresses and ranges (10.0.0.0/8) of proxies whose X-Forwarded-For and X-Forwarded-Proto are trusted',
      'x-by-hand': 'it says whose word about callers is believed',
    }),
  ),
};
