/**
 * Every key of agent.toml and what becomes of it. This table is the schema that a manifest
 * is validated by, and schemas/agent.schema.json is written from it.
 *
 * acts     something here does what it says
 * shown    describes the agent; kept and shown
 * waits    belongs to an area that is not here, so there is nothing yet that it could narrow; kept, shown, and its writer is told
 * refused  narrows, redirects or caps something that is here, and nothing keeps it: the manifest is refused unless the value changes nothing
 */
import { OneOf, type TSchema, Type } from '@svc/api';
import { AgentSchedule, AgentTrigger, ORPHANS } from './autonomy-keys.js';
import { PROFILE_NAMES } from './profiles.js';

export type Effect = 'acts' | 'shown' | 'waits' | 'refused';

export interface KeyNotes {
  readonly 'x-effect': Effect;
  /** Of a refused key: the values that change nothing. */
  readonly 'x-allowed'?: readonly unknown[];
  /** Of a waiting key: for what. Of a refused one: what its writer would have relied on, and what to do instead. */
  readonly 'x-why'?: string;
}

type Table = Readonly<Record<string, TSchema>>;

const noted = (schema: TSchema, notes: KeyNotes): TSchema => Type.Optional({ ...schema, ...notes });
const acts = (schema: TSchema): TSchema => noted(schema, { 'x-effect': 'acts' });
const shown = (schema: TSchema): TSchema => noted(schema, { 'x-effect': 'shown' });
const waits = (why: string, schema: TSchema = Type.Unknown()): TSchema => noted(schema, { 'x-effect': 'waits', 'x-why': why });
const refused = (why: string, allowed: readonly unknown[] = [], schema: TSchema = Type.Unknown()): TSchema => noted(schema, { 'x-effect': 'refused', 'x-allowed': allowed, 'x-why': why });

const flag = (description: string, value = false): TSchema => Type.Boolean({ default: value, description });
const text = (max: number, options: object = {}): TSchema => Type.String({ maxLength: max, ...options });
const count = (minimum: number, maximum: number, description: string, options: object = {}): TSchema => Type.Integer({ minimum, maximum, description, ...options });
const usd = (period: string): TSchema => Type.Number({ minimum: 0, maximum: 1_000_000_000, default: 0, description: `US dollars that the agent's model calls may cost per ${period}; 0 for no limit` });
const texts = (description: string): TSchema => Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: 1_000 })], { description });
const Free = Type.Object({}, { additionalProperties: true });

const AUTONOMY = 'autonomous work';
const SKILLS = 'skills that agents change';
const WASM = 'WASM modules';

const TokensPerHour = count(0, Number.MAX_SAFE_INTEGER, 'Model tokens that the agent may use within 60 minutes; 0 for no limit');

export const MODEL_KEYS: Table = {
  provider: acts(text(256, { default: 'default', description: "`default` takes the daemon's default" })),
  model: acts(text(256, { default: 'default', description: 'A model id or alias' })),
  name: acts(text(256, { description: 'Another word for model' })),
  max_tokens: acts(count(1, 10_000_000, 'Of one answer', { default: 4_096 })),
  temperature: acts(Type.Number({ minimum: 0, maximum: 2, default: 0.7, description: 'Randomness: 0 is nearly deterministic' })),
  system_prompt: acts(text(65_536, { description: 'The system prompt' })),
  request_timeout_secs: acts(count(1, 86_400, 'Of one model call')),
  context_window: acts(count(1_000, 100_000_000, 'Tokens of the conversation that the model is sent at most')),
  max_output_tokens: acts(count(1, 10_000_000, 'Maximum answer length; takes precedence over max_tokens')),
  api_key_env: refused(
    'the key stored for the provider is used. Set it with `svc providers set-key PROVIDER`. With provider `default`, or with the usual variable of a provider, it is accepted with a warning',
    [''],
    text(256),
  ),
  base_url: refused("prompts go to the provider's stored address. PUT /api/providers/{name}/url changes it", [''], text(2_048)),
};

const FALLBACK_KEYS: Table = { provider: MODEL_KEYS.provider as TSchema, model: MODEL_KEYS.model as TSchema, api_key_env: MODEL_KEYS.api_key_env as TSchema, base_url: MODEL_KEYS.base_url as TSchema };

export const CAPABILITY_KEYS: Table = {
  tools: acts(texts('Names or patterns of tools; empty for every tool that needs no grant')),
  network: acts(texts('Hosts that the agent may reach: names, *.example.org, addresses, blocks such as 10.0.0.0/8, each optionally with :port or :*; * for the public web; empty for none')),
  memory_read: acts(texts('Patterns of memory keys')),
  memory_write: acts(texts('Patterns of memory keys')),
  shell: acts(texts('Commands that the agent may run, as patterns such as `git *`; `*` for an unrestricted shell; empty for none')),
  agent_spawn: acts(flag('May create agents below itself')),
  agent_message: acts(texts('Names or ids of agents it may write to; empty for none')),
  file_system: acts(flag('May use the files of its workspace', true)),
  mounts: acts(
    Type.Array(Type.String({ pattern: '^/', maxLength: 4_096 }), {
      maxItems: 32,
      description: 'Folders that its commands can read in their sandbox, in addition to the workspace; append `:rw` to allow writing',
    }),
  ),
  max_llm_tokens_per_hour: acts(TokensPerHour),
  // The extension ofp declares these two; here they are for editors.
  ofp_discover: acts(flag('May see agents of other daemons')),
  ofp_connect: acts(texts('Names or ids of other daemons, to whose agents it may write; empty for none')),
};

export const RESOURCE_KEYS: Table = {
  max_llm_tokens_per_hour: acts(TokensPerHour),
  burst_ratio: acts(Type.Number({ minimum: 0, maximum: 1, description: 'The share of max_llm_tokens_per_hour that one minute can use; 0 means no limit' })),
  max_cost_per_hour_usd: acts(usd('hour')),
  max_cost_per_day_usd: acts(usd('day (UTC)')),
  max_cost_per_month_usd: acts(usd('month (UTC)')),
  max_concurrent_tools: acts(count(0, 1_000, 'Tool calls of one run at the same time; 0 for no limit')),
  max_tool_calls_per_minute: acts(count(0, 1_000_000, 'Tool calls in any 60 s; 0 for no limit')),
  max_network_bytes_per_hour: refused('bytes fetched by tools are not counted. [web.fetch] max_response_bytes limits each response', [0], count(0, Number.MAX_SAFE_INTEGER, '')),
  max_memory_bytes: waits(WASM),
  max_cpu_time_ms: waits(WASM),
};

export const AUTONOMOUS_KEYS: Table = {
  max_iterations: acts(count(1, 10_000, 'Rounds of model and tools in one run', { default: 50 })),
  unwatched: acts(OneOf(['finish', 'cancel'], { description: 'What happens to a run 2 s after its last watcher disconnects. By default, the channel and [runs] on_disconnect decide' })),
  max_restarts: waits(AUTONOMY),
  heartbeat_interval_secs: waits(AUTONOMY),
  heartbeat_timeout_secs: waits(AUTONOMY),
  heartbeat_keep_recent: waits(AUTONOMY),
  heartbeat_channel: waits(AUTONOMY),
  quiet_hours: waits(AUTONOMY),
  block_stall_degrade_after: waits(AUTONOMY),
};

export const THINKING_KEYS: Table = {
  budget_tokens: acts(count(1_024, 1_000_000, 'Tokens that the model may think before it answers', { default: 10_000 })),
  stream_thinking: acts(Type.Boolean({ default: true, description: "Whether to stream and store the model's reasoning, if the model exposes it" })),
};

const pattern = (description: string): TSchema => Type.Optional(Type.String({ minLength: 1, maxLength: 200, description }));

/** The same words as `[approval]` in config.toml, without those that would loosen it. */
export const APPROVAL_KEYS: Table = {
  require_approval: acts(
    Type.Union([Type.Boolean(), Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { maxItems: 200 })], {
      default: false,
      description: 'Tools whose calls wait for a person, in addition to those in config.toml: names, in which `*` stands for any text. `true` stands for the same tools as there',
    }),
  ),
  rules: acts(
    Type.Array(
      Type.Object(
        {
          action: OneOf(['ask', 'deny'], { description: 'A manifest can only tighten: there is no `allow`' }),
          tool: pattern('Name of a tool; `*` stands for any text'),
          risk: Type.Optional(OneOf(['low', 'medium', 'high', 'critical'], { description: 'Calls of this risk, or of a higher one' })),
          command: pattern('A command such as `git push *`'),
          argument: Type.Optional(Type.Record(Type.String(), Type.String({ maxLength: 1_000 }), { description: 'By argument: its text, in which `*` stands for any text' })),
          reason: Type.Optional(Type.String({ maxLength: 500, description: 'What the agent and whoever decides are told' })),
        },
        { additionalProperties: false },
      ),
      { maxItems: 50, description: 'Calls that are asked about or refused, in addition to those in config.toml' },
    ),
  ),
};

/** For editors; exec-policy.ts validates it, in words of its own. */
const EXEC_POLICY = {
  description: 'Narrows what [capabilities] shell grants; never adds to it',
  oneOf: [
    { type: 'string', enum: ['deny', 'none', 'disabled', 'allowlist', 'restricted', 'full', 'allow', 'all', 'unrestricted'] },
    {
      type: 'object',
      properties: {
        mode: { type: 'string', description: 'deny: no process; allowlist: single programs, never a shell; full: what shell grants' },
        allowed_commands: texts('Programs, of which a command has to begin with one'),
        safe_bins: texts('More of allowed_commands'),
        allowed_env_vars: texts('Of the variables the daemon lets through, only these'),
        timeout_secs: { type: 'integer', minimum: 1, maximum: 86_400 },
        no_output_timeout_secs: { type: 'integer', minimum: 1, maximum: 86_400 },
        max_output_bytes: { type: 'integer', minimum: 1, maximum: 1_073_741_824 },
        safe_bins_skip_approval: { type: 'boolean', description: 'Changes nothing; its use is reported' },
        full_mode_skips_approval: { type: 'boolean', description: 'Changes nothing; its use is reported' },
      },
    },
  ],
};

export const TOP_KEYS: Table = {
  name: acts(text(256, { default: 'unnamed', description: 'Unique per owner; must not begin with _operator:' })),
  version: shown(text(64, { default: '0.1.0' })),
  description: shown(text(4_096, { default: '' })),
  author: shown(text(256, { default: '' })),
  tags: shown(Type.Unknown({ description: 'Labels for search: a list of strings' })),
  is_hand: shown(Type.Boolean()),
  metadata: shown(Free),
  i18n: shown(Free),
  enabled: acts(flag('false: the agent is suspended from the start, until it is resumed', true)),
  profile: acts(OneOf([...PROFILE_NAMES, 'custom'], { description: 'A set of tools, used if capabilities.tools is empty. Case does not matter. It grants nothing else' })),
  max_history_messages: acts(count(1, 100_000, 'Messages of the session that the model is sent at most, taken as 4 to 500')),
  tool_allowlist: acts(texts('Narrows the tools after capabilities.tools')),
  tool_blocklist: acts(texts('Takes tools away; wins over every other list')),
  tools_disabled: acts(flag('No tools at all')),
  lazy_tools: acts(
    Type.Boolean({
      description:
        'true: the model is sent a few tools, and finds the others with tool_search and tool_load; false: all of them. By default, true if there are more than `lazy_tools_above` of config.toml',
    }),
  ),
  model: acts(tableOf(MODEL_KEYS, 'Which model answers, and how it is asked')),
  pinned_model: acts(text(512, { pattern: '^([^/]+/.+)?$', description: '`PROVIDER/MODEL` used in the mode Stable. By default, Stable pins the current model' })),
  fallback_models: acts(Type.Array(tableOf(FALLBACK_KEYS, 'One more model'), { maxItems: 20, description: 'Fallback models, tried in this order' })),
  capabilities: acts(tableOf(CAPABILITY_KEYS, "The agent's permissions")),
  exec_policy: acts(Type.Unsafe(EXEC_POLICY)),
  approval: acts(tableOf(APPROVAL_KEYS, 'Which calls wait for a person, in addition to `[approval]` in config.toml. Agents that it spawns have the same')),
  resources: acts(tableOf(RESOURCE_KEYS, 'Limits')),
  autonomous: acts(tableOf(AUTONOMOUS_KEYS, 'Maximum duration of a run')),
  thinking: acts(tableOf(THINKING_KEYS, 'Whether the model thinks before it answers, if it supports thinking')),
  module: refused('an agent is a chat with a model; other modules cannot run. Any other `builtin:` module is accepted with a warning, and runs as a chat', ['', 'builtin:chat'], text(1_024)),
  workspace: refused("an agent's files are always in its own folder", [''], text(4_096)),
  response_format: refused('answer formats are not enforced', ['text', { type: 'text' }]),
  tool_exec_backend: refused('commands run on this machine', ['', 'local'], text(64)),
  routing: refused('every question goes to the model of [model]'),
  tools: refused("tools have no settings per agent; list the agent's tools under [capabilities]"),
  schedule: acts(AgentSchedule),
  session_mode: acts(OneOf(['persistent', 'new'], { description: 'Whether its triggers share one conversation, or each fire has its own. A trigger may say it for itself', default: 'persistent' })),
  priority: waits('an order among runs', Type.String()),
  max_concurrent_invocations: acts(count(1, 64, 'Fires of triggers that it works on at the same time', { default: 1 })),
  triggers: acts(Type.Array(AgentTrigger, { maxItems: 50, description: 'Triggers that it always has: made, changed and deleted with this list' })),
  reconcile_orphans: acts(OneOf([...ORPHANS], { default: 'keep', description: 'What happens to its triggers that this manifest does not list, when it changes: kept, named in the log, or deleted' })),
  assignee_wake: acts(flag('Whether tasks that are assigned to it on the task board wake it', true)),
  async_tasks: waits('background tasks'),
  generate_identity_files: waits('identity files that are written at the spawn'),
  cache_context: waits('context.md'),
  context_engine: waits('context engines'),
  allowed_plugins: waits('context engines'),
  context_injection: waits('texts added to the context'),
  compaction: waits('settings of the compaction, which is the same for every session'),
  skills: acts(Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: 500, description: 'Names of the skills that the agent has; empty for all that are on' })),
  skills_disabled: acts(flag('No skills, whatever skills says')),
  skill_workshop: waits(SKILLS),
  auto_evolve: waits(SKILLS),
  mcp_servers: acts(
    Type.Array(Type.String({ minLength: 1, maxLength: 256 }), {
      maxItems: 50,
      description: 'Servers whose tools the agent has, whatever `[capabilities] tools` says: their names, or `*` for all; empty for none. Left out, `[capabilities] tools` decides',
    }),
  ),
  mcp_disabled: acts(flag('No tools of MCP servers, whatever mcp_servers says')),
  channels: acts(Type.Array(text(64), { maxItems: 50, description: 'Channels that the agent takes messages from, by name; none are named: all' })),
  channel_overrides: waits('overrides of channels by agent'),
  show_progress: waits('progress in channels'),
  inherit_parent_context: acts(flag('Whether its steps in workflows are given what steps before them gave and their prompts do not hold. `inherit_context` of a step says otherwise', true)),
  web_search_augmentation: waits('web search'),
  auto_dream_enabled: acts(flag('true: the agent tidies its memory by itself, where `[auto_dream] enabled` is true')),
  auto_dream_min_hours: acts(Type.Number({ minimum: 1, maximum: 8_760, description: 'Hours between two dreams of this agent, instead of `[auto_dream] min_hours`' })),
  auto_dream_min_sessions: acts(count(0, 10_000, 'Conversations since the last dream that it needs, instead of `[auto_dream] min_sessions`')),
  proactive_memory: acts(
    Type.Object(
      {
        enabled: Type.Optional(Type.Boolean({ description: 'false: nothing is remembered of its conversations, and nothing recalled into them' })),
        auto_memorize: Type.Optional(Type.Boolean({ description: 'false: nothing is remembered of its conversations' })),
        auto_retrieve: Type.Optional(Type.Boolean({ description: 'false: nothing is recalled into them' })),
        extraction_model: Type.Optional(text(256, { description: 'PROVIDER/MODEL that takes facts from its conversations, instead of rules' })),
      },
      { additionalProperties: false, description: 'What the agent remembers of conversations by itself. It switches off what [proactive_memory] in config.toml switches on, and nothing on' },
    ),
  ),
  workspaces: waits('folders shared among agents'),
  rl_export: waits('exports for training'),
};

function tableOf(keys: Table, description: string): TSchema {
  return Type.Object({ ...keys }, { description });
}

/** Sections whose keys are validated one by one. */
export const SECTIONS: Readonly<Record<string, Table>> = {
  model: MODEL_KEYS,
  capabilities: CAPABILITY_KEYS,
  resources: RESOURCE_KEYS,
  autonomous: AUTONOMOUS_KEYS,
  thinking: THINKING_KEYS,
  approval: APPROVAL_KEYS,
};

/** As published for editors in schemas/agent.schema.json. */
export const manifestSchema = Type.Object(
  { ...TOP_KEYS },
  { $schema: 'https://json-schema.org/draft/2020-12/schema', title: 'agent.toml', description: "An agent's identity and permissions. Generated from extensions/agents/src/manifest/manifest-keys.ts." },
);
