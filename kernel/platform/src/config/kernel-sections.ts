/** The settings of the platform itself. Areas claim their own in extension.json. */
import { OneOf, type TSchema, Type } from '@svc/api';

export interface SectionClaim {
  /** JSON Schema with its defaults. `x-security: true` closes the doors when the section is bad and was never good. */
  readonly schema: unknown;
  readonly owner: string;
}
/** By section name, or `/key` for a key of the top level. */
export type SectionClaims = Readonly<Record<string, SectionClaim>>;

const closed = { additionalProperties: false };
const strings = (values: readonly string[] = []) => Type.Array(Type.String({ minLength: 1, maxLength: 1_000 }), { default: [...values], maxItems: 1_000 });
const seconds = (value: number, maximum = 86_400) => Type.Integer({ default: value, minimum: 1, maximum });
const bytes = (value: number) => Type.Integer({ default: value, minimum: 1, maximum: 1_073_741_824 });
const SAFE_BINS = 'sleep true false cat sort uniq cut tr head tail wc date echo printf basename dirname pwd env'.split(' ');

const Api = Type.Object(
  {
    listen_addr: Type.String({ default: '127.0.0.1:4545', pattern: '^(\\[[0-9a-fA-F:.]+\\]|[^:\\s]+):\\d{1,5}$', description: 'Address and port', 'x-restart': true }),
    cors_origins: strings(),
    // 500 tokens a minute, the burst being a minute's worth.
    rate_limit_per_second: Type.Number({ default: 8.34, minimum: 0.01, maximum: 100_000 }),
  },
  closed,
);

const Extensions = Type.Object({ preset: OneOf(['minimal', 'standard', 'full'], { default: 'standard' }), enable: strings(), disable: strings() }, closed);

const Security = Type.Object({ required: strings() }, { ...closed, 'x-security': true });

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error'] as const;

const searchEngine = Type.Optional(Type.Record(Type.String(), Type.Unknown()));
const Web = Type.Object(
  {
    search_provider: OneOf(['auto', 'brave', 'tavily', 'perplexity', 'jina', 'searxng', 'duckduckgo'], { default: 'auto' }),
    cache_ttl_minutes: Type.Integer({ default: 15, minimum: 0, maximum: 10_080 }),
    timeout_secs: seconds(15),
    brave: searchEngine,
    tavily: searchEngine,
    jina: searchEngine,
    perplexity: searchEngine,
    searxng: searchEngine,
    fetch: Type.Object(
      {
        ssrf_allowed_hosts: strings(),
        max_response_bytes: bytes(10_485_760),
        max_file_bytes: bytes(52_428_800),
        max_chars: Type.Integer({ default: 50_000, minimum: 1 }),
        timeout_secs: seconds(30, 3_600),
        readability: Type.Boolean({ default: true }),
      },
      closed,
    ),
  },
  closed,
);

const ExecPolicy = Type.Object(
  {
    mode: OneOf(['deny', 'allowlist', 'full'], { default: 'allowlist' }),
    safe_bins: strings(SAFE_BINS),
    safe_bins_skip_approval: Type.Boolean({ default: false }),
    full_mode_skips_approval: Type.Boolean({ default: true }),
    allowed_commands: strings(),
    allowed_env_vars: strings(),
    timeout_secs: seconds(30),
    max_output_bytes: bytes(102_400),
  },
  { ...closed, 'x-security': true },
);

const mine = (schema: TSchema): SectionClaim => ({ schema, owner: 'kernel' });

export const kernelSections: SectionClaims = {
  api: mine(Api),
  extensions: mine(Extensions),
  log: mine(Type.Object({ level: OneOf(LEVELS, { default: 'info' }) }, closed)),
  security: mine(Security),
  web: mine(Web),
  exec_policy: mine(ExecPolicy),
  '/data_dir': mine(Type.String({ minLength: 1, 'x-restart': true })),
  '/trusted_proxies': mine(strings()),
  '/trust_forwarded_for': mine(Type.Boolean({ default: false })),
};

/** Older spellings that mean the same setting. */
export const kernelAliases: Readonly<Record<string, readonly string[]>> = {
  api_listen: ['api', 'listen_addr'],
  cors_origin: ['api', 'cors_origins'],
  log_level: ['log', 'level'],
};
