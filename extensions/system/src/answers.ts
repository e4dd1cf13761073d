/** The fields of what the daemon says of itself. */
import { Nullable, OneOf, Type, Uuid } from '@svc/api';

const Check = Type.Object({ name: Type.String(), status: Type.String({ description: '`ok`, `warn` or `error`' }) });
const CheckWithCause = Type.Object({ name: Type.String(), status: Type.String({ description: '`ok`, `warn` or `error`' }), detail: Type.Optional(Type.String()) });
const Overall = OneOf(['ok', 'degraded']);
const Finding = Type.Object(
  { check: Type.String(), result: OneOf(['pass', 'warn', 'fail']), message: Type.String(), fix: Type.Optional(Type.String({ description: 'A command or change that fixes it' })) },
  { 'x-name': 'Finding' },
);
const Problems = Type.Array(Finding, { description: 'What fails; while there is one, the daemon is degraded. The same in /api/health/detail, /api/status and `svc doctor`' });

export const Health = Type.Object({ status: Overall, version: Type.String(), uptime_seconds: Type.Integer(), checks: Type.Array(Check) }, { 'x-name': 'Health' });

export const Ready = Type.Object({ status: OneOf(['ready', 'not_ready']), checks: Type.Array(Check) }, { 'x-name': 'Readiness' });

const ApiVersions = { current: Type.String(), supported: Type.Array(Type.String()), deprecated: Type.Array(Type.String()) };

export const Version = Type.Object(
  {
    name: Type.String(),
    version: Type.String(),
    build_date: Type.String(),
    git_sha: Type.String(),
    runtime_version: Type.String({ description: 'Of Node.js' }),
    platform: Type.String(),
    arch: Type.String(),
    api: Type.Object(ApiVersions),
  },
  { 'x-name': 'Version' },
);

export const Versions = Type.Object(
  {
    ...ApiVersions,
    details: Type.Array(Type.Object({ version: Type.String(), status: Type.String(), url_prefix: Type.String() })),
    negotiation: Type.Object({ header: Type.String(), media_type_pattern: Type.String(), example: Type.String() }, { description: 'How a request names a version without a prefix in its path' }),
  },
  { 'x-name': 'ApiVersions' },
);

/** The parts of it that no version of OpenAPI leaves out; what stands below `paths` is as deep as the interface. */
export const OpenApiDocument = Type.Object(
  {
    openapi: Type.String(),
    info: Type.Object({ title: Type.String(), version: Type.String() }),
    paths: Type.Record(Type.String(), Type.Unknown(), { description: 'Operations by path' }),
    components: Type.Record(Type.String(), Type.Unknown(), { description: 'Shared schemas and how callers are known' }),
  },
  { description: 'An OpenAPI document', 'x-name': 'OpenApiDocument' },
);

/** What health/detail and status have in common. */
const numbers = {
  version: Type.String(),
  uptime_seconds: Type.Integer(),
  agent_count: Type.Integer({ description: 'List agents' }),
  active_agent_count: Type.Integer({ description: 'Of these, agents with an active run' }),
  session_count: Nullable(Type.Integer(), { description: 'Sessions with at least one message; null while sessions is off' }),
  memory_used_mb: Type.Integer({ description: 'Resident memory of the daemon, in MiB' }),
};

const MemoryHealth = Type.Object({
  embedding_available: Type.Boolean(),
  embedding_provider: Nullable(Type.String(), { description: '`builtin`, or the name of a provider; null while nobody makes vectors' }),
  embedding_model: Nullable(Type.String()),
  proactive_memory_enabled: Type.Boolean(),
  extraction_model: Nullable(Type.String(), { description: 'Null while rules take facts from conversations' }),
});

const Spend = { spend: Type.Number(), limit: Type.Number({ description: '0: no limit' }), percent: Nullable(Type.Number(), { description: 'Of the limit; null without one' }) };
const BudgetHealth = Type.Object({
  hourly_spend_usd: Spend.spend,
  hourly_limit_usd: Spend.limit,
  hourly_spend_percent: Spend.percent,
  daily_spend_usd: Spend.spend,
  daily_limit_usd: Spend.limit,
  daily_spend_percent: Spend.percent,
  monthly_spend_usd: Spend.spend,
  monthly_limit_usd: Spend.limit,
  monthly_spend_percent: Spend.percent,
  alert_threshold: Type.Number({ description: 'The share of a limit from which its status is `warning`' }),
});

const LlmHealth = Type.Object({
  total_calls: Type.Integer(),
  avg_latency_ms: Type.Integer({ description: 'Of calls that a model answered' }),
  max_latency_ms: Type.Integer(),
  model_count: Type.Integer({ description: 'Models of the catalog' }),
});

export const HealthDetail = Type.Object(
  {
    status: Overall,
    ...numbers,
    panic_count: Type.Integer({ description: 'Times an extension failed since the start' }),
    restart_count: Type.Integer(),
    database: OneOf(['connected', 'error']),
    config_warnings: Type.Array(Type.String()),
    config_notices: Type.Array(Type.String(), { description: 'Of settings that wait for their area' }),
    memory: Nullable(MemoryHealth, { description: 'Null while memory is off' }),
    event_bus: Type.Object({ dropped_events: Type.Integer({ description: 'Events that listeners which fell behind have lost since the start' }) }),
    budget: Nullable(BudgetHealth, { description: 'What all agents spent; null while llm is off, and for whoever is no owner or admin' }),
    llm: Nullable(LlmHealth, { description: 'Model calls since the start; null while llm is off' }),
    checks: Type.Array(CheckWithCause),
    extensions: Type.Array(Type.Object({ id: Type.String(), state: Type.String(), reason: Nullable(Type.String()) }), { description: 'Extensions that are neither active nor switched off' }),
    problems: Problems,
    doctor: Type.Array(Finding, { description: 'All checks' }),
  },
  { 'x-name': 'HealthDetail' },
);

const StatusAgent = Type.Object({
  id: Uuid,
  name: Type.String(),
  state: Type.String(),
  mode: Type.String(),
  created_at: Type.String(),
  model_provider: Type.String({ description: 'The current default provider, if the manifest says `default`' }),
  model_name: Type.String(),
  profile: Nullable(Type.String()),
});

export const Status = Type.Object(
  {
    status: OneOf(['running']),
    ...numbers,
    preset: Type.String(),
    default_provider: Nullable(Type.String(), { description: 'The default provider; null if unknown' }),
    default_model: Nullable(Type.String()),
    default_model_why: Nullable(Type.String()),
    default_model_stand_in: Type.Boolean({ description: 'True while the built-in mock provider answers' }),
    default_model_chosen_by: Nullable(OneOf(['config', 'person', 'key', 'start'])),
    default_model_chosen_at: Nullable(Type.String(), { description: 'When it was chosen' }),
    default_model_problem: Nullable(Type.String(), { description: 'Why it cannot answer at the moment' }),
    home_dir: Type.String(),
    data_dir: Type.String(),
    database: Type.String({ description: 'The file, or host and name of the server' }),
    log_dir: Type.String(),
    config_file: Type.String(),
    config_exists: Type.Boolean({ description: 'Whether the file was there when it was last read' }),
    log_level: OneOf(['trace', 'debug', 'info', 'warn', 'error']),
    hostname: Type.String(),
    api_listen: Type.String({ description: 'Address and port' }),
    runtime_version: Type.String(),
    platform: Type.String(),
    arch: Type.String(),
    pid: Type.Integer(),
    rss_bytes: Type.Integer(),
    network_enabled: Type.Boolean({ description: 'Whether this daemon meets others: network_enabled is true, and the area for it is there' }),
    terminal_enabled: Type.Boolean({ description: 'Whether a terminal is offered: the area for it is there' }),
    config_problems: Type.Array(Type.Object({ file: Type.String(), line: Nullable(Type.Integer()), key: Type.String(), message: Type.String(), severity: Type.String() })),
    health_problems: Type.Array(Type.String(), { description: 'Problems other than those of config.toml, one sentence each, with the fix' }),
    problems: Problems,
    agents: Type.Array(StatusAgent),
  },
  { description: 'Also counters of the daemon, named `svc_…`', 'x-name': 'Status' },
);

export const ShuttingDown = Type.Object({ status: OneOf(['shutting_down']) }, { 'x-name': 'ShuttingDown' });
